package cmd

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/advise/diagnose"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/watch"
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
	State      string `json:"state"`   // "" unknown
	Members    *int   `json:"members"` // null unknown
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
		j := watchTally{Group: id, Rebalances: t.Rebalances, Evictions: w.o.evictions.Of(id), State: t.State, NeverCame: slices.Contains(r.NeverCame, id)}
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
	w := &watchLines{o: o, p: o.painter(), width: minGroupWidth, causes: map[string]string{}}
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
	word, style, text := w.words(e)
	if e.SaysAgain() && !w.o.flags.verbose {
		return nil // the line of the join has said it
	}
	if e.Type == watch.CauseFound {
		key := e.Group + "\x00" + e.Record
		if w.causes[key] == text {
			return nil // refined in what only -o json shows
		}
		w.causes[key] = text
	}
	l := append(w.line(e, style, word), render.P("%s", text))
	if e.Incident > 0 && e.Type != watch.CauseFound {
		n := len([]rune(render.Clean(l.Plain())))
		l = append(l, render.S(term.Dim, "%s#%d", strings.Repeat(" ", max(2, incidentColumn-n)), e.Incident))
	}
	return w.write(l)
}

// words are the word and the text of an event.
func (w *watchLines) words(e *watch.Event) (word string, style term.Style, text string) {
	switch e.Type {
	case watch.RebalanceDone:
		return w.rebalanceWords(e)
	case watch.RebalanceStarted:
		return "begins", term.Warn, joinParts(memberParts(e), e.State, within(e))
	case watch.MemberJoined, watch.MemberLeft, watch.MemberReplaced:
		return strings.TrimPrefix(string(e.Type), "member_"), term.Warn, joinParts(memberParts(e), changeParts(e, w.o.flags.verbose), membersPart(e), e.Why, within(e))
	case watch.SettingsChanged:
		return "changed", term.Warn, joinParts(memberParts(e), changeParts(e, true))
	case watch.StateChanged:
		return e.State, term.Plain, joinParts(e.Why, within(e))
	case watch.Converged:
		last := ""
		if e.Last != "" {
			last = "last " + e.Last
		}
		return "converged", term.Good, joinParts(spanOf(e.Converged), last, "no member paused")
	case watch.CoordinatorMoved:
		return "moved", term.Warn, fmt.Sprintf("coordinator %s -> %s%s", idText(e.PreviousCoordinator), idText(e.Coordinator), groupList(e))
	case watch.SourceLost:
		return "LOST", term.Bad, joinParts(e.Why) + groupList(e)
	case watch.SourceBack:
		return "back", term.Good, fmt.Sprintf("coordinator %s answers again after %s%s", idText(e.Coordinator), spanOf(e.Silent), groupList(e))
	case watch.GroupWaiting:
		near := ""
		if len(e.Nearest) > 0 {
			near = "; nearest: " + strings.Join(e.Nearest, ", ")
		}
		return "waiting", term.Warn, "no such group yet" + near
	case watch.GroupAppeared:
		return "appeared", term.Good, joinParts(e.State)
	case watch.GroupDeleted:
		return "deleted", term.Warn, within(e)
	}
	return w.riskWords(e)
}

// riskWords are the words about silent members and causes.
func (w *watchLines) riskWords(e *watch.Event) (word string, style term.Style, text string) {
	switch e.Type {
	case watch.MemberSilent:
		return "silent", term.Warn, fmt.Sprintf("%s, %s without a commit while its lag grows", e.Member, spanOf(e.Silent))
	case watch.MemberAtRisk:
		if !e.OutAt.After(e.Time.Time) {
			return "OVERDUE", term.Bad, fmt.Sprintf("%s silent %s of %s: overdue since %s", e.Member, spanOf(e.Silent), spanOf(e.Limit), w.o.clock(e.OutAt))
		}
		return "AT RISK", term.Bad, fmt.Sprintf("%s silent %s of %s: leaves the group at about %s", e.Member, spanOf(e.Silent), spanOf(e.Limit), w.o.clock(e.OutAt))
	case watch.MemberSpoke:
		return "commits", term.Good, fmt.Sprintf("%s commits again after %s", e.Member, spanOf(e.Silent))
	case watch.CauseFound:
		style = term.Bad
		if !e.Cause.Eviction() {
			style = term.Bold
		}
		return "CAUSE", style, causeFoundText(e)
	}
	return string(e.Type), term.Plain, e.Why
}

// causeFoundText is a cause: how sure, and the figures behind it.
func causeFoundText(e *watch.Event) string {
	sure := string(e.Confidence)
	if e.Basis == inspect.Stated {
		sure = string(e.Basis)
	}
	text := fmt.Sprintf("%s, %s", e.Cause, sure)
	if !e.Past {
		text = fmt.Sprintf("#%d %s", e.Incident, text)
	}
	why := e.Reason()
	if e.Member != "" {
		why = joinParts(e.Member, why)
	}
	if why != "" {
		text += ": " + why
	}
	if others := e.Instead(); len(others) > 0 {
		text += "; or " + prose.Joined(others)
	}
	return text
}

// rebalanceWords are the word and the text of a generation or epoch.
func (w *watchLines) rebalanceWords(e *watch.Event) (word string, style term.Style, text string) {
	word = "gen ?"
	switch {
	case e.Generation == nil:
	case e.GenerationBasis == "epoch":
		word = fmt.Sprintf("epoch%d", *e.Generation)
	case e.GenerationBasis == "lower_bound":
		word = fmt.Sprintf("gen >=%d", *e.Generation)
	default:
		word = fmt.Sprintf("gen %d", *e.Generation)
	}
	step, skipped, lasted, paused := "", "", "", ""
	if e.Cooperative {
		step = "second step of a cooperative rebalance"
	}
	if e.Skipped > 0 {
		skipped = prose.Plural(int(e.Skipped), "join round") + " before it ended without a sync"
	}
	if text := diagnose.Paused(e.Stopped, e.StoppedAtMost); text != "-" && text != "none" {
		paused = "paused " + text
	}
	if e.Rebalancing != nil {
		lasted = "rebalancing " + spanOf(e.Rebalancing)
	}
	moved := ""
	if e.Moved > 0 && (w.o.flags.verbose || e.GenerationBasis != "epoch") {
		moved = fmt.Sprintf("%d of %s moved", e.Moved, prose.Plural(e.Assigned, "partition"))
	}
	changes := changeParts(e, w.o.flags.verbose || len(e.Joined)+len(e.Left)+len(e.Replaced) == 0)
	cause := ""
	if e.Past && e.Cause != "" {
		cause = causeFoundText(e)
	}
	return word, term.Bold, joinParts(memberParts(e), changes, membersPart(e), step, skipped, moved, lasted, paused, e.Why, pollNote(e), cause)
}

// pollNote says of a rebalance that polls alone have seen how exact they are.
func pollNote(e *watch.Event) string {
	if e.Source == watch.FromPoll {
		return within(e)
	}
	return ""
}

// within says how exact the time of a polled event is.
func within(e *watch.Event) string {
	if e.PollEvery == nil {
		return ""
	}
	return "polled every " + spanOf(e.PollEvery)
}

// joinParts joins what is not empty by commas.
func joinParts(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

// memberParts are +joined, -left and ~replaced.
func memberParts(e *watch.Event) string {
	var parts []string
	for _, m := range e.Left {
		parts = append(parts, "-"+m.Label)
	}
	for _, m := range e.Joined {
		s := "+" + m.Label
		switch {
		case m.BackAfter != nil:
			s += " (away " + spanOf(m.BackAfter) + ")"
		case m.Ambiguous:
			s += " (one of several like it is back)"
		}
		parts = append(parts, s)
	}
	for _, m := range e.Replaced {
		s := "~" + m.Label + " (new member id"
		if m.NewHost != "" {
			s += ", now on " + m.NewHost
		}
		if m.Ambiguous {
			s += ", ambiguous: they share a client.id"
		}
		parts = append(parts, s+")")
	}
	return strings.Join(prose.First(parts, 6), " ")
}

// membersPart is the number of members.
func membersPart(e *watch.Event) string {
	if e.Members == nil {
		return ""
	}
	return prose.Plural(*e.Members, "member")
}

// changeParts are the settings that changed. A new leader is worth a word only where
// nothing else explains the line.
func changeParts(e *watch.Event, leader bool) string {
	var parts []string
	for _, c := range e.Changes {
		if c.What != "leader" || leader {
			parts = append(parts, c.String())
		}
	}
	const most = 4
	if len(parts) > most {
		parts = append(parts[:most], fmt.Sprintf("and %d more changes", len(parts)-most))
	}
	return strings.Join(parts, ", ")
}

// groupList names the groups of an event about several.
func groupList(e *watch.Event) string {
	if len(e.Groups) == 0 {
		return ""
	}
	return ": " + prose.Few(e.Groups, 5)
}

// idText is a broker id; "-" unknown.
func idText(id *int32) string {
	if id == nil {
		return "-"
	}
	return fmt.Sprint(*id)
}

// end sums up: "9m: orders 2 rebalances, 1 eviction; payments 1".
func (w *watchLines) end(r *watch.Result, reason endReason, lasted time.Duration) error {
	mark := map[endReason]string{endFor: "end", endStable: "stable", endInterrupted: "^C", endTerminated: "terminated"}[reason]
	var parts []string
	quiet := 0
	for _, id := range slices.Sorted(maps.Keys(r.Tallies)) {
		t := r.Tallies[id]
		if t.Rebalances == 0 && len(r.Tallies) > watch.NamedAtMost {
			quiet++
			continue
		}
		s := render.Clean(id) + " " + prose.Plural(t.Rebalances, "rebalance")
		if n := w.o.evictions.Of(id); n > 0 {
			s += ", " + prose.Plural(n, "eviction")
		}
		if slices.Contains(r.NeverCame, id) {
			s = render.Clean(id) + " never came"
		}
		parts = append(parts, s)
	}
	if quiet > 0 {
		parts = append(parts, prose.Plural(quiet, "group")+" without")
	}
	if len(parts) == 0 {
		parts = []string{"no groups"}
	}
	return w.write(render.L("%s %s: %s", mark, prose.Span(lasted.Truncate(time.Second)), strings.Join(parts, "; ")))
}
