package page

import (
	"fmt"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/advise/diagnose"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/prose"
)

// Options are what a report says of the run that made it.
type Options struct {
	Program string // "kgdiag v0.1.0"
	diagnose.Given
	Sources string // the flags that name files, for commands to copy; "" or with a blank in front
	Zone    *time.Location
	Now     time.Time
}

// Report is a document about some groups, in the words of a reader. "" is left out.
type Report struct {
	Title     string
	Cluster   string
	Window    string // "21 Nov 2026 12:00:00 to 13:00:00 UTC (1h)"
	Written   string // by which program, and when
	Complete  string // since when the log is whole
	Overview  []Row  // of several groups
	Shared    []string
	Groups    []Group
	Gaps      []Gap       // that concern all groups
	Unchecked []Unchecked // of all groups, where it is not with each
	Cut       []string
	Again     []Command
}

// Row is one group among several.
type Row struct {
	Group, Anchor, Verdict, Tone, NotConsumed, Cause, Coordinator string
	Rebalances, Evictions                                         string // "-" unknown
}

// Group is all that is said of one group.
type Group struct {
	ID, Anchor, Verdict, Tone string
	Epochs                    bool   // it has epochs, and members that converge (KIP-848)
	Lead                      string // what happened, and the state now
	Waiting                   string
	Calm                      string // where nothing is to be explained
	Why                       []string
	Sure                      string
	Courses                   diagnose.Courses
	CoursesCut                int
	Evidence                  []string // of the cause
	Doubts                    []string // what else it could be, what it is not, how to decide
	Cost                      string
	Read                      *Command // reads the record that stops everybody
	Fixes                     []Fix
	Remedy                    string // where no finding says what to change
	Replay                    []string
	Chart                     *Chart
	Rebalances                []Rebalance
	RebalancesCut             int
	Unrelated                 []Fix
	UnrelatedCut              int
	Config                    Config
	Checks                    string
	Unchecked                 []Unchecked
	Gaps                      []Gap
	Next                      []Command
}

// Gap is something that was not read, or not for certain: Label says which.
type Gap struct{ Label, What, Why, Needs string }

// Unchecked are rules that were not checked, for one reason; ID holds all of them.
type Unchecked struct{ ID, Subject, Reason string }

// Shell is a command line, which is never shortened.
type Shell string

// Command is a command to copy.
type Command struct {
	Text Shell
	Why  string
}

// writer makes a Report.
type writer struct {
	c *inspect.Case
	o Options
	l limits
}

// reportOf writes down a triage of groups of a case, within limits.
func reportOf(c *inspect.Case, t diagnose.Triage, o Options, l limits) Report {
	w := writer{c, o, l}
	r := Report{Cluster: w.cluster(), Window: w.window(), Gaps: gapsOf(inspect.GapsOf(c.Gaps, "")),
		Written: fmt.Sprintf("%s, %s", o.Program, o.Now.In(o.Zone).Format("2 Jan 2006 15:04:05 MST"))}
	switch {
	case len(t.Groups) == 1 && c.LogIsWhole(t.Groups[0].Group):
		r.Complete = "complete from its beginning"
	case len(t.Groups) == 1 && !t.Groups[0].Complete.IsZero():
		r.Complete = "complete since " + w.day(t.Groups[0].Complete)
	}
	if len(t.Groups) > 1 {
		w.overview(&r, t)
	}
	shown := t.Groups
	if len(shown) > l.groups {
		shown = shown[:l.groups]
		r.Cut = append(r.Cut, fmt.Sprintf("the details of %s: the first %d are shown; name others to see them", prose.Plural(len(t.Groups)-l.groups, "group"), l.groups))
	}
	cut := cuts{}
	for i := range shown {
		r.Groups = append(r.Groups, w.group(&shown[i], fmt.Sprintf("g%d", i+1), &cut))
	}
	all := make([]advise.Unchecked, len(t.Unchecked))
	for i, u := range t.Unchecked {
		all[i] = advise.Unchecked{ID: u.ID, Subject: prose.Plural(u.Groups, "group"), Reason: u.Reason}
	}
	r.Unchecked = w.unchecked(all, &cut)
	r.Cut = append(r.Cut, cut.lines()...)
	r.Title, r.Again = titleOf(t), w.again(t)
	return r
}

// titleOf heads the page: the group with its verdict, or how many groups there are.
func titleOf(t diagnose.Triage) string {
	switch len(t.Groups) {
	case 0:
		return "no group"
	case 1:
		return fmt.Sprintf("%s %s", t.Groups[0].Group, t.Groups[0].Verdict)
	}
	return t.Counts()
}

// overview has a line for each of several groups that rebalanced.
func (w *writer) overview(r *Report, t diagnose.Triage) {
	rebalanced, _ := t.Rebalanced()
	started, _ := t.Started()
	rebalanced += started
	for i := range t.Groups {
		d := &t.Groups[i]
		if len(d.Rebalances) == 0 && d.Waiting == nil && len(t.Groups) > w.l.groups {
			continue
		}
		if len(r.Overview) == w.l.overview {
			r.Cut = append(r.Cut, fmt.Sprintf("%s of the table of groups", prose.Plural(rebalanced-len(r.Overview), "row")))
			break
		}
		row := Row{Group: d.Group, Verdict: string(d.Verdict), Tone: tone(d.Verdict), NotConsumed: d.Cost.NotConsumed(), Cause: d.Worst(),
			Coordinator: "-", Rebalances: d.Summary.Count(len(d.Rebalances)), Evictions: d.Summary.Count(d.Summary.Evictions)}
		if i < w.l.groups {
			row.Anchor = fmt.Sprintf("g%d", i+1)
		}
		if d.Coordinator != nil {
			row.Coordinator = fmt.Sprint(d.Coordinator.ID)
		}
		r.Overview = append(r.Overview, row)
	}
	for i := range t.Shared {
		if i == w.l.overview {
			break
		}
		s := &t.Shared[i]
		r.Shared = append(r.Shared, fmt.Sprintf("shared cause: within %s at %s %s", prose.Span(s.To.Sub(s.From.Time).Round(100*time.Millisecond)), w.clock(s.From), s.Means()))
	}
	if t.Unrelated() {
		r.Shared = []string{"no shared cause found in their hosts, coordinators and times"}
	}
}

// tones of verdicts; the word is always there as well.
func tone(v diagnose.Verdict) string {
	switch v {
	case diagnose.Healthy, diagnose.OK:
		return "good"
	case diagnose.Unstable, diagnose.Stuck:
		return "bad"
	}
	return "warn"
}

// clock is a time of day, with its date where the window is longer than a day.
func (w *writer) clock(t inspect.Time) string {
	if t.IsZero() {
		return "-"
	}
	day := func(t inspect.Time) string { return t.In(w.o.Zone).Format("2 Jan ") }
	if last := day(w.c.Window.To); day(w.c.Window.From) != last || day(t) != last {
		return day(t) + t.In(w.o.Zone).Format("15:04:05")
	}
	return t.In(w.o.Zone).Format("15:04:05")
}

// day is a time with its date.
func (w *writer) day(t inspect.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.In(w.o.Zone).Format("2 Jan 2006 15:04:05 MST")
}

func (w *writer) cluster() string {
	c := w.c.Cluster
	name := c.Context
	if name == "" {
		name = c.Bootstrap
	}
	var parts []string
	if c.ID != "" {
		parts = append(parts, "id "+c.ID)
	}
	if c.Brokers > 0 {
		parts = append(parts, prose.Plural(c.Brokers, "broker"))
	}
	if c.Platform != "" {
		parts = append(parts, c.Platform)
	}
	if len(parts) == 0 {
		return name
	}
	return fmt.Sprintf("%s (%s)", name, strings.Join(parts, ", "))
}

func (w *writer) window() string {
	from, to := w.c.Window.From, w.c.Window.To
	return fmt.Sprintf("%s to %s (%s)", w.day(from), w.day(to), prose.Span(w.c.Window.Length().Round(time.Second)))
}

// again are the commands that make this report once more.
func (w *writer) again(t diagnose.Triage) []Command {
	words := ""
	if len(t.Groups) <= mostNamed {
		for i := range t.Groups {
			words += " " + prose.ShellWord(t.Groups[i].Group)
		}
	}
	words += w.o.Connect + w.o.Sources
	window := fmt.Sprintf(" --since %s --until %s", w.c.Window.From.UTC().Format(time.RFC3339), w.c.Window.To.UTC().Format(time.RFC3339))
	out := []Command{{Shell("kgdiag why" + words + window + " -o html > incident.html"), "this report, of the same window"},
		{Shell("kgdiag history" + words + window), "every rebalance, one a line"}}
	if len(t.Groups) > mostNamed {
		out = out[:1]
	}
	if len(t.Groups) == 1 && !w.o.Kept {
		out = append(out, Command{Shell("kgdiag record" + words + window + " --to " + diagnose.CaseFile(t.Groups[0].Group)), "keeps what was read, before the log is compacted"})
	}
	return out
}

// mostNamed is how many groups a command names; more are chosen as before.
const mostNamed = 5

func gapsOf(list []inspect.Gap) []Gap {
	var out []Gap
	for _, g := range inspect.GapsByReason(list) {
		out = append(out, Gap{g.Label, prose.Few(g.What, 10), g.Why, g.Needs})
	}
	return out
}

// unchecked are the rules that were not checked, those of one subject and reason in one
// row.
func (w *writer) unchecked(list []advise.Unchecked, cut *cuts) []Unchecked {
	var out []Unchecked
	at := map[[2]string]int{}
	seen := map[Unchecked]bool{}
	for _, u := range list {
		x, key := Unchecked{u.ID, u.Subject, u.Reason}, [2]string{u.Subject, u.Reason}
		i, joined := at[key]
		switch {
		case seen[x]:
		case joined:
			out[i].ID += ", " + u.ID
		case len(out) == w.l.unchecked:
			cut.unchecked++
		default:
			at[key] = len(out)
			out = append(out, x)
		}
		seen[x] = true
	}
	return out
}
