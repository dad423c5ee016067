package cmd

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/watch"
	"github.com/kgdiag/kgdiag/internal/eventtext"
	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/internal/render"
	"github.com/kgdiag/kgdiag/internal/term"
)

// watchSchema is the schema of watch's JSON lines; fields are only added.
const watchSchema = "kgdiag.watch/v1"

// watchJSON writes one object a line.
type watchJSON struct{ o *watchCmd }

// watchStart is the first line: the envelope, and how things are known.
type watchStart struct {
	envelope
	Type       string          `json:"type"` // start
	Time       inspect.Time    `json:"time"`
	Groups     []string        `json:"groups"`
	Waiting    []string        `json:"waiting"`          // groups that do not exist yet
	Generation string          `json:"generation_basis"` // record | lower_bound
	Why        string          `json:"why,omitempty"`    // why the log is not read
	Needs      string          `json:"needs,omitempty"`
	PollEvery  *inspect.Millis `json:"poll_every_ms"`
	For        *inspect.Millis `json:"for_ms"` // null without --for
}

// watchLine is an event.
type watchLine struct {
	Schema string `json:"schema"`
	watch.Event
}

// watchEnd is the last line.
type watchEnd struct {
	Schema  string         `json:"schema"`
	Type    string         `json:"type"` // end
	Time    inspect.Time   `json:"time"`
	Reason  endReason      `json:"reason"` // for | stable | interrupted | terminated
	Lasted  inspect.Millis `json:"lasted_ms"`
	Tripped bool           `json:"tripped"`
	Groups  []watchTally   `json:"groups"`
}

// watchTally is one group in the last line.
type watchTally struct {
	Group      string `json:"group"`
	Rebalances int    `json:"rebalances"`
	Evictions  int    `json:"evictions"`
	Unjudged   int    `json:"departures_not_judged"` // members that left, without a cause that was told
	State      string `json:"state"`                 // "" unknown
	Members    *int   `json:"members"`               // null unknown
	NeverCame  bool   `json:"never_came,omitempty"`
}

func (w *watchJSON) write(v any) error {
	b, err := render.JSON(v, "")
	if err != nil {
		return err
	}
	return w.o.write(b)
}

func (w *watchJSON) start(info *watch.Info) error {
	s := watchStart{envelope: w.o.envelopeOf(watchSchema, caseOf(info)), Type: "start", Time: info.At, Groups: []string{},
		Waiting: append([]string{}, info.Waiting...), Generation: "record", Why: info.LogWhy, Needs: info.LogNeeds, PollEvery: inspect.Ms(info.Every)}
	for i := range caseOf(info).Groups {
		s.Groups = append(s.Groups, info.Case.Groups[i].ID)
	}
	if !info.Log {
		s.Generation = "lower_bound"
	}
	if w.o.limit > 0 {
		s.For = inspect.Ms(w.o.limit)
	}
	return w.write(s)
}

func (w *watchJSON) event(e *watch.Event) error { return w.write(watchLine{watchSchema, *e}) }

func (w *watchJSON) end(r *watch.Result, reason endReason, lasted time.Duration) error {
	e := watchEnd{Schema: watchSchema, Type: "end", Time: inspect.At(w.o.now()), Reason: reason, Lasted: inspect.Millis(lasted),
		Tripped: w.o.tripped, Groups: []watchTally{}}
	for _, id := range slices.Sorted(maps.Keys(r.Tallies)) {
		t := r.Tallies[id]
		j := watchTally{Group: id, Rebalances: t.Rebalances, Evictions: w.o.evictions.Of(id), Unjudged: w.o.evictions.Unjudged(id), State: t.State, NeverCame: slices.Contains(r.NeverCame, id)}
		if t.Members >= 0 {
			j.Members = &t.Members
		}
		e.Groups = append(e.Groups, j)
	}
	return w.write(e)
}

// watchLines writes text: time, group, what, details.
type watchLines struct {
	o     *watchCmd
	p     *term.Painter
	width int // of the group column
	// causes are the lines of causes that were written, by group and record.
	causes map[string]string
	teller eventtext.Teller
	last   time.Time
}

// The widths of the columns: a group column as wide as the named groups, within
// bounds, and the word.
const (
	minGroupWidth, maxGroupWidth = 6, 40
	wordWidth                    = 9
	incidentColumn               = 88
)

func newWatchLines(o *watchCmd, info *watch.Info) *watchLines {
	w := &watchLines{o: o, p: o.painter(), width: minGroupWidth, causes: map[string]string{}, teller: eventtext.Teller{Clock: o.live, Verbose: o.flags.verbose}}
	for i := range caseOf(info).Groups {
		w.width = max(w.width, len([]rune(render.Clean(info.Case.Groups[i].ID))))
	}
	for _, id := range info.Waiting {
		w.width = max(w.width, len([]rune(render.Clean(id))))
	}
	w.width = min(w.width, maxGroupWidth)
	return w
}

func (w *watchLines) write(l render.Line) error { return w.o.write([]byte(l.Text(w.p) + "\n")) }

func (w *watchLines) start(info *watch.Info) error {
	if err := w.write(w.o.clusterLine(caseOf(info).Cluster, "")); err != nil {
		return err
	}
	every := prose.Span(info.Every)
	zone := info.At.In(w.o.zone()).Format("MST")
	if info.Log {
		return w.write(render.L("generation and timeouts from __consumer_offsets, states every %s; %s", every, zone))
	}
	if err := w.write(render.Line{render.S(term.Warn, "generation: a lower bound, from the members' subscriptions; states every %s; %s", every, zone)}); err != nil {
		return err
	}
	text := info.LogWhy
	if info.Offsets {
		text += "; commits are read by polling the committed offsets"
	}
	if info.LogNeeds != "" {
		text += "; needs " + info.LogNeeds
	}
	return w.write(render.Line{render.S(term.Warn, "not read"), render.P("  __consumer_offsets: %s", text)})
}

// line begins with time, group and word; a date is put in when the day changes.
func (w *watchLines) line(e *watch.Event, style term.Style, word string) render.Line {
	t := e.Time.In(w.o.zone())
	stamp := t.Format("15:04:05")
	if !w.last.IsZero() && w.last.YearDay() != t.YearDay() {
		stamp = t.Format("2006-01-02 15:04:05")
	}
	w.last = t
	group := render.Clean(e.Group)
	switch {
	case e.Group == "" && len(e.Groups) > 0:
		group = prose.Plural(len(e.Groups), "group")
	case e.Group == "":
		group = "-"
	}
	pad := strings.Repeat(" ", max(0, w.width-len([]rune(group))))
	return render.Line{render.P("%s  %s%s  ", stamp, group, pad), render.S(style, "%-*s", wordWidth, word), render.P(" ")}
}

// event writes one event, and what it refers to at the end of the line.
func (w *watchLines) event(e *watch.Event) error {
	word, style, text := w.teller.Event(e)
	if e.SaysAgain() && !w.o.flags.verbose {
		return nil // the line of the join has said it
	}
	if e.Type == watch.CauseFound {
		key := e.Group + "\x00" + e.Record
		told := text
		if w.causes[key] == told {
			return nil // refined in what only -o json shows
		}
		if len(w.causes) >= 5000 { // of groups that never rest; at worst a line is told again
			clear(w.causes)
		}
		if w.causes[key] != "" {
			text = strings.Replace(text, fmt.Sprintf("incident %d:", e.Incident), fmt.Sprintf("incident %d, more is known:", e.Incident), 1)
		}
		w.causes[key] = told
	}
	l := append(w.line(e, style, word), render.P("%s", text))
	if e.Incident > 0 && e.Type != watch.CauseFound && e.Type != watch.CauseSoFar {
		n := len([]rune(render.Clean(l.Plain())))
		l = append(l, render.S(term.Dim, "%sincident %d", strings.Repeat(" ", max(2, incidentColumn-n)), e.Incident))
	}
	return w.write(l)
}

// fewTallies is up to how many groups each is named at the end, also without a rebalance.
const fewTallies = 4

// end sums up: "9m: orders 2 rebalances, 1 eviction; payments 1".
func (w *watchLines) end(r *watch.Result, reason endReason, lasted time.Duration) error {
	mark := map[endReason]string{endFor: "end", endStable: "stable", endInterrupted: "^C", endTerminated: "terminated"}[reason]
	var parts []string
	quiet, troubled := 0, ""
	for _, id := range slices.Sorted(maps.Keys(r.Tallies)) {
		t := r.Tallies[id]
		if t.Rebalances == 0 && len(r.Tallies) > fewTallies && !slices.Contains(r.NeverCame, id) {
			quiet++
			continue
		}
		s := render.Clean(id) + " " + prose.Plural(t.Rebalances, "rebalance")
		if n := w.o.evictions.Of(id); n > 0 {
			s += ", " + prose.Plural(n, "eviction")
			troubled += " " + prose.ShellWord(id)
		}
		if n := w.o.evictions.Unjudged(id); n > 0 {
			s += ", " + prose.Plural(n, "departure") + " not judged"
		}
		if slices.Contains(r.NeverCame, id) {
			s = render.Clean(id) + " never came"
		}
		parts = append(parts, s)
	}
	if quiet > 0 {
		parts = append(parts, prose.Plural(quiet, "other group")+" without a rebalance")
	}
	if len(parts) == 0 {
		parts = []string{"no groups"}
	}
	if reason == endTerminated && w.o.limit > 0 {
		mark = "terminated before " + prose.Span(w.o.limit) + " was over, at"
	}
	if err := w.write(render.L("%s %s: %s", mark, prose.Span(lasted.Truncate(time.Second)), strings.Join(parts, "; "))); err != nil || troubled == "" {
		return err
	}
	return w.write(w.o.page().Label("next", "kgdiag why"+troubled+w.o.connectWords()))
}
