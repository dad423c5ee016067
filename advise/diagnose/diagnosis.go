package diagnose

import (
	"cmp"
	"slices"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/inspect"
)

// Verdict is the word that heads a group's diagnosis.
type Verdict string

// The verdicts.
const (
	Healthy  Verdict = "HEALTHY"  // nothing happened
	OK       Verdict = "OK"       // it rebalanced, for reasons that are none to act on
	Unstable Verdict = "UNSTABLE" // members were evicted, or left for unknown reasons
	Stuck    Verdict = "STUCK"    // a rebalance is under way, and has not come to an end
	Empty    Verdict = "EMPTY"    // no members
	Unknown  Verdict = "UNKNOWN"  // too little could be read
	Gone     Verdict = "GONE"     // there is a past, but no group
)

// Diagnosis is what can be said of one group.
type Diagnosis struct {
	Group      string             `json:"group"`
	Type       inspect.GroupType  `json:"type"`
	Verdict    Verdict            `json:"verdict"`
	State      string             `json:"state"` // "" unknown
	Generation *int32             `json:"generation"`
	Members    *int               `json:"members"`
	Lag        *int64             `json:"lag"`
	Waiting    *Waiting           `json:"waiting_for"` // null unless a rebalance is under way
	Cause      inspect.Cause      `json:"cause"`       // "" where nothing is to be explained
	Confidence inspect.Confidence `json:"confidence,omitempty"`
	Basis      inspect.Basis      `json:"basis,omitempty"`
	Member     string             `json:"member,omitempty"` // who, where it is one
	Host       string             `json:"host,omitempty"`
	Times      int                `json:"times"` // how often the cause was seen
	Rivals     []inspect.Rival    `json:"rivals"`
	Evidence   []string           `json:"evidence"`
	Stuck      []string           `json:"stuck_records"`
	Cost       Cost               `json:"cost"`
	Summary    inspect.Summary    `json:"summary"`
	// Complete is since when the log is whole; null unknown.
	Complete  inspect.Time       `json:"complete_since"`
	Last      *inspect.Rebalance `json:"last_before"`
	Findings  []advise.Finding   `json:"findings"` // tied to the cause
	Others    int                `json:"other_findings"`
	Checked   int                `json:"checked"`
	Rules     int                `json:"rules"`
	Unchecked []advise.Unchecked `json:"unchecked"` // null in a triage, which counts them for all
	WhatIf    *inspect.Replay    `json:"what_if,omitempty"`

	Unrelated   []advise.Finding     `json:"-"` // those that Others counts
	Rebalances  []inspect.Rebalance  `json:"-"` // of the window
	Occurrences []Occurrence         `json:"-"` // of the cause, oldest first
	Coordinator *inspect.BrokerRef   `json:"-"` // nil unknown
	Live        *inspect.Group       `json:"-"` // as it was described; nil where there is none
	Records     []advise.StuckRecord `json:"-"` // behind Stuck, the one with most departures first
	AtRecord    bool                 `json:"-"` // they explain most of what happened
	NoHistory   string               `json:"-"` // why the log was not read; "" where it was

	files  []inspect.FileKind // that were read beside the cluster
	looked bool               // polls saw the group before the answer
	churns bool               // rules say that it rebalances too often, whatever the causes
	weight float64            // how bad it is, to rank groups by
}

// Occurrence is one time that the cause was seen.
type Occurrence struct {
	Rebalance *inspect.Rebalance
	Departure *inspect.Departure // nil where it is the whole group's
}

// Options say what of a case's window to diagnose.
type Options struct {
	Causes []inspect.Cause    // only rebalances of these causes; nil for all
	WhatIf *inspect.Overrides // settings to replay the window with; nil for none
}

// Groups diagnoses groups of a case in the case's window, in their order. A group of
// which the case knows nothing is Gone. The case is not changed.
func Groups(c *inspect.Case, ids []string, o Options) []Diagnosis {
	return groupsOf(c, ids, o, evaluate(c, o))
}

func evaluate(c *inspect.Case, o Options) advise.Report {
	return advise.Evaluate(c.InWindow(o.Causes...), advise.Options{})
}

// groupsOf is Groups, with what the rules said of them.
func groupsOf(c *inspect.Case, ids []string, o Options, report advise.Report) []Diagnosis {
	known, of := indexed(c), byGroup(report)
	out := make([]Diagnosis, 0, len(ids))
	for _, id := range ids {
		d := Diagnosis{Group: id, Rivals: []inspect.Rival{}, Evidence: []string{}, Stuck: []string{}, Findings: []advise.Finding{},
			Cost: Cost{Partitions: []string{}}, Rules: report.Rules}
		d.now(known)
		d.past(c, known.Timeline(id), o)
		d.Waiting = waitingOf(c, &d)
		d.explain()
		d.advice(of(id))
		d.Verdict = d.verdict()
		d.weight = d.badness()
		out = append(out, d)
	}
	return out
}

// Group diagnoses one group.
func Group(c *inspect.Case, id string, o Options) Diagnosis {
	return Groups(c, []string{id}, o)[0]
}

// now takes what the describe request returned.
func (d *Diagnosis) now(x known) {
	d.NoHistory = cmp.Or(x.noHistory[d.Group], x.noHistory[""])
	d.files, d.looked = x.files, x.looked[d.Group]
	g := x.Group(d.Group)
	if g == nil {
		return
	}
	d.Live, d.Type, d.State, d.Lag, d.Coordinator = g, g.Type, g.State, g.Lag, g.Coordinator
	d.Generation = g.Generation
	if g.Epoch != nil {
		d.Generation = g.Epoch
	}
	if g.State != "" {
		n := len(g.Members)
		d.Members = &n
	}
}

// known is what a case knows, by group.
type known struct {
	inspect.Index
	noHistory map[string]string // why the log was not read; of "" for all
	looked    map[string]bool   // polls saw it
	files     []inspect.FileKind
}

func indexed(c *inspect.Case) known {
	x := known{c.Index(), map[string]string{}, map[string]bool{}, c.Files}
	for _, g := range c.Gaps {
		if g.Fact == inspect.FactHistory {
			x.noHistory[g.Group] = g.Why
		}
	}
	for i := range c.Observations {
		x.looked[c.Observations[i].Group] = true
	}
	return x
}

// byGroup gives what a report says of a group or of all, in its order.
func byGroup(r advise.Report) func(group string) advise.Report {
	findings, unchecked := map[string][]int{}, map[string][]int{}
	for i := range r.Findings {
		findings[r.Findings[i].Group] = append(findings[r.Findings[i].Group], i)
	}
	for i := range r.Unchecked {
		unchecked[r.Unchecked[i].Group] = append(unchecked[r.Unchecked[i].Group], i)
	}
	var room []int
	places := func(of map[string][]int, group string) []int {
		room = append(room[:0], of[""]...)
		if group != "" {
			room = append(room, of[group]...)
		}
		slices.Sort(room)
		return room
	}
	return func(group string) advise.Report {
		out := r
		out.Findings = picked(r.Findings, places(findings, group))
		out.Unchecked = picked(r.Unchecked, places(unchecked, group))
		return out
	}
}

// picked is nil of nil.
func picked[T any](from []T, places []int) []T {
	if from == nil {
		return nil
	}
	out := make([]T, len(places))
	for n, i := range places {
		out[n] = from[i]
	}
	return out
}

// past takes what the timeline tells of the window.
func (d *Diagnosis) past(c *inspect.Case, t *inspect.Timeline, o Options) {
	d.Rebalances, d.Last = c.Window.Rebalances(t, o.Causes...), c.Window.LastBefore(t)
	d.Summary = inspect.Summarise(d.Rebalances, c.Window.Length())
	d.Summary.Unread = d.NoHistory != "" && len(d.Rebalances) == 0
	if t == nil {
		return
	}
	d.Complete = t.CompleteSince
	if d.Type == inspect.UnknownType {
		d.Type = t.Type
	}
	if n := len(t.Rebalances); d.Generation == nil && n > 0 && t.Rebalances[n-1].GenerationBasis == "" {
		d.Generation = &t.Rebalances[n-1].Generation
	}
	if o.WhatIf != nil {
		within := *t
		within.Rebalances = d.Rebalances
		r := inspect.WhatIf(within, *o.WhatIf)
		d.WhatIf = &r
	}
	d.Records = advise.StuckRecords(d.Rebalances)
	for _, r := range d.Records {
		d.Stuck = append(d.Stuck, r.Place)
	}
	d.cost()
}

// cost sums up what the rebalances cost.
func (d *Diagnosis) cost() {
	d.Cost.summary, d.Cost.caughtUp = d.Summary, d.Lag != nil && *d.Lag == 0 && d.Live.LagText() == "0"
	d.Cost.Idle, d.Cost.Stopped, d.Cost.StoppedAtMost = d.Summary.Idle, d.Summary.Stopped, d.Summary.StoppedAtMost
	seen := map[string]bool{}
	d.Cost.slowest = d.slowestConvergence()
	for i := range d.Rebalances {
		d.Cost.Moved += d.Rebalances[i].Moved
		for _, l := range d.Rebalances[i].Members.Left {
			if !l.LeftIdle() {
				continue // the next owner went on at once, or there is none to come
			}
			for _, p := range l.IdlePartitions {
				if !seen[p] {
					seen[p] = true
					d.Cost.Partitions = append(d.Cost.Partitions, p)
				}
			}
		}
	}
}

// verdict heads the diagnosis with one word.
func (d *Diagnosis) verdict() Verdict {
	bad := d.Summary.Evictions > 0 || d.churns
	for i := range d.Rebalances {
		r := &d.Rebalances[i]
		bad = bad || r.Cause.Info().Acts && (len(r.Members.Left) > 0 || r.Cause == inspect.AssignmentFailed || r.Cause == inspect.StaticMemberFenced)
	}
	switch {
	case d.Waiting != nil && d.Waiting.long(d.Live.At) && (bad || d.Waiting.mayTake() > longWait):
		return Stuck
	case bad:
		return Unstable
	case d.Live == nil || d.State == "Dead":
		return Gone
	case d.State == "":
		return Unknown
	case d.State == "Empty":
		return Empty
	case len(d.Rebalances) > 0:
		return OK
	case d.NoHistory != "":
		return Unknown
	}
	return Healthy
}
