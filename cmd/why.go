package cmd

import (
	"cmp"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/collect"
	"github.com/kgdiag/kgdiag/internal/prose"
)

var _ = command(10, newWhyCmd)

// whyCmd is kgdiag why.
type whyCmd struct {
	*app
	past   pastFlags
	causes causeFlags
}

func newWhyCmd(a *app) *cobra.Command {
	w := &whyCmd{app: a}
	c := &cobra.Command{
		Use:     "why [GROUP…]",
		Aliases: []string{"diagnose"},
		Short:   "what is wrong, why, what it cost, and what to change",
		Long: `The front door: for a group its state now, the cause of its rebalances with the
evidence and what speaks against the other causes, what they cost, and the setting
to change with its price. Without a group: all groups, worst first, and whether they
share a cause, so that a broker's or a machine's trouble is not taken for theirs.`,
		Example: `  kgdiag why
  kgdiag why orders
  kgdiag why orders --since 1d --log app.log
  kgdiag why orders --what-if max.poll.interval.ms=600000
  kgdiag why --from orders.kgcase`,
		RunE: w.run,
	}
	w.past.add(c)
	w.causes.add(c)
	return c
}

func (w *whyCmd) run(c *cobra.Command, args []string) error {
	chosen, err := w.causes.read()
	if err != nil {
		return err
	}
	sel, err := w.past.groups.choose(w.app, args)
	if err != nil {
		return err
	}
	triage := len(sel.Groups) == 0
	want := collect.Everything()
	if triage {
		sel.All, want = true, collect.Want{Limits: true}
	}
	p, err := w.past.read(c, w.app, sel, want)
	if err != nil {
		return err
	}
	p.NoteLog() // the live view is shown all the same
	diagnoses := w.diagnose(p.Case, p.IDs, chosen)
	v := w.whyView(p.Case, diagnoses)
	if triage && (w.past.from == "" || len(p.IDs) > 1) {
		v = w.triageView(p.Case, diagnoses)
	}
	if err := w.show(v); err != nil {
		return err
	}
	if p.Missing != nil {
		return groupsError(p.Missing)
	}
	for i := range diagnoses {
		if slices.ContainsFunc(diagnoses[i].rebalances, func(r inspect.Rebalance) bool { return chosen.failOn.Rebalance(&r) }) {
			return tripped()
		}
	}
	return w.strictly(p.Case.Gaps)
}

// The words that head a group's diagnosis.
const (
	verdictHealthy  = "HEALTHY"  // nothing happened
	verdictOK       = "OK"       // it rebalanced, for reasons that are none to act on
	verdictUnstable = "UNSTABLE" // members were put out, or went for unknown reasons
	verdictStuck    = "STUCK"    // a rebalance is under way, and has not come to an end
	verdictEmpty    = "EMPTY"    // no members
	verdictUnknown  = "UNKNOWN"  // too little could be read
	verdictGone     = "GONE"     // there is a past, but no group
)

// diagnosis is what why says of one group.
type diagnosis struct {
	Group      string             `json:"group"`
	Type       inspect.GroupType  `json:"type"`
	Verdict    string             `json:"verdict"`
	State      string             `json:"state"` // "" unknown
	Generation *int32             `json:"generation"`
	Members    *int               `json:"members"`
	Lag        *int64             `json:"lag"`
	Waiting    *waiting           `json:"waiting_for"` // null unless a rebalance is under way
	Cause      inspect.Cause      `json:"cause"`       // "" where nothing is to be explained
	Confidence inspect.Confidence `json:"confidence,omitempty"`
	Basis      inspect.Basis      `json:"basis,omitempty"`
	Member     string             `json:"member,omitempty"` // who, where it is one
	Host       string             `json:"host,omitempty"`
	Times      int                `json:"times"` // how often the cause was seen
	Rivals     []inspect.Rival    `json:"rivals"`
	Evidence   []string           `json:"evidence"`
	Stuck      []string           `json:"stuck_records"`
	Cost       whyCost            `json:"cost"`
	Summary    inspect.Summary    `json:"summary"`
	// Complete is since when the log is whole; null unknown.
	Complete  inspect.Time       `json:"complete_since"`
	Last      *inspect.Rebalance `json:"last_before"`
	Findings  []advise.Finding   `json:"findings"` // tied to the cause
	Others    int                `json:"other_findings"`
	Checked   int                `json:"checked"`
	Rules     int                `json:"rules"`
	Unchecked []advise.Unchecked `json:"unchecked"`
	WhatIf    *inspect.Replay    `json:"what_if,omitempty"`

	rebalances  []inspect.Rebalance
	main        []occurrence // of the main cause, oldest first
	coordinator *inspect.BrokerRef
	live        *inspect.Group
	stuck       []advise.StuckRecord
	atRecord    bool   // the stuck records explain most of what happened
	churns      bool   // rules say that it rebalances too often, whatever the causes
	noHistory   string // why the log was not read
}

// whyCost is what the rebalances of the window cost.
type whyCost struct {
	Partitions []string        `json:"partitions"` // of departed members, that stood still
	Idle       *inspect.Millis `json:"idle_ms"`    // in all
	Stopped    *inspect.Millis `json:"stopped_ms"` // the whole group
	Moved      int             `json:"moved"`
}

// waiting says whom a rebalance under way waits for.
type waiting struct {
	Since inspect.Time `json:"since"` // of the last record before it; zero unknown
	Until inspect.Time `json:"until"` // at most
	// Began is when the members that have rejoined stopped committing, and Expected
	// one rebalance timeout later; zero unknown.
	Began    inspect.Time `json:"began"`
	Expected inspect.Time `json:"expected"`
	For      []string     `json:"for"`     // members; probably where Sure is false
	Sure     bool         `json:"sure"`    // the protocol names them (KIP-848)
	Reason   string       `json:"reason"`  // how the members were found
	States   []string     `json:"members"` // all members that take part
}

// occurrence is one departure of the main cause.
type occurrence struct {
	r *inspect.Rebalance
	d *inspect.Departure
}

// diagnose works out what to say of each group.
func (w *whyCmd) diagnose(c *inspect.Case, ids []string, o choice) []diagnosis {
	report := advise.Evaluate(c.InWindow(o.causes...), advise.Options{})
	out := make([]diagnosis, 0, len(ids))
	for _, id := range ids {
		d := diagnosis{Group: id, Rivals: []inspect.Rival{}, Evidence: []string{}, Stuck: []string{}, Findings: []advise.Finding{},
			Unchecked: []advise.Unchecked{}, Cost: whyCost{Partitions: []string{}}, Rules: report.Rules}
		d.now(c)
		d.past(c, o)
		d.wait(c)
		d.explain()
		d.advice(report)
		d.judge()
		out = append(out, d)
	}
	return out
}

// now takes what the describe request told.
func (d *diagnosis) now(c *inspect.Case) {
	for _, g := range c.Gaps {
		if g.Fact == inspect.FactHistory && (g.Group == d.Group || g.Group == "") {
			d.noHistory = g.Why
		}
	}
	for i := range c.Groups {
		g := &c.Groups[i]
		if g.ID != d.Group {
			continue
		}
		d.live, d.Type, d.State, d.Lag, d.coordinator = g, g.Type, g.State, g.Lag, g.Coordinator
		d.Generation = g.Generation
		if g.Epoch != nil {
			d.Generation = g.Epoch
		}
		if g.State != "" {
			n := len(g.Members)
			d.Members = &n
		}
	}
}

// past takes what the timeline tells of the window.
func (d *diagnosis) past(c *inspect.Case, o choice) {
	t := c.Timeline(d.Group)
	d.rebalances, d.Last = c.Window.Rebalances(t, o.causes...), c.Window.LastBefore(t)
	d.Summary = inspect.Summarise(d.rebalances, c.Window.Length())
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
	if o.replay != nil {
		within := *t
		within.Rebalances = d.rebalances
		r := inspect.WhatIf(within, *o.replay)
		d.WhatIf = &r
	}
	d.stuck = advise.StuckRecords(d.rebalances)
	for _, r := range d.stuck {
		d.Stuck = append(d.Stuck, r.Place)
	}
	seen := map[string]bool{}
	for i := range d.rebalances {
		d.Cost.Moved += d.rebalances[i].Moved
		for _, l := range d.rebalances[i].Members.Left {
			for _, p := range l.IdlePartitions {
				if !seen[p] {
					seen[p] = true
					d.Cost.Partitions = append(d.Cost.Partitions, p)
				}
			}
		}
	}
	d.Cost.Idle, d.Cost.Stopped = d.Summary.Idle, d.Summary.Stopped
}

// explain finds the main cause: the weightiest by how often and how surely it was
// seen, of one member where one stands out.
func (d *diagnosis) explain() {
	type key struct {
		cause inspect.Cause
		who   string
	}
	score := map[key]float64{}
	list := map[key][]occurrence{}
	var order []key
	add := func(k key, points float64, oc occurrence) {
		if _, ok := list[k]; !ok {
			order = append(order, k)
		}
		score[k] += points
		list[k] = append(list[k], oc)
	}
	for i := range d.rebalances {
		r := &d.rebalances[i]
		told := false
		for j := range r.Members.Left {
			l := &r.Members.Left[j]
			if l.Cause != r.Cause && !l.Cause.Eviction() {
				continue
			}
			told = true
			add(key{l.Cause, inspect.MemberName(l.ClientID, l.MemberID, l.InstanceID) + "\x00" + l.Host}, points(l.Cause, l.Confidence), occurrence{r, l})
		}
		if !told && r.Cause == inspect.UnknownCause {
			add(key{r.Cause, ""}, 0.5, occurrence{r: r}) // nobody went: a rejoin that somebody asked for
		} else if !told {
			add(key{r.Cause, ""}, points(r.Cause, r.Confidence), occurrence{r: r})
		}
	}
	if len(order) == 0 {
		return
	}
	best := slices.MaxFunc(order, func(x, y key) int { return cmp.Compare(score[x], score[y]) })
	d.Cause, d.main, d.Times = best.cause, list[best], len(list[best])
	d.mainVerdict()
	at := 0
	for _, r := range d.stuck {
		at += r.Times
	}
	d.atRecord = at > 0 && 2*at >= d.Times
}

// points weighs one occurrence.
func points(c inspect.Cause, conf inspect.Confidence) float64 {
	sure := map[inspect.Confidence]float64{inspect.High: 1, inspect.Medium: 0.8, inspect.Low: 0.4}[conf]
	info := c.Info()
	w := float64(info.Weight)
	if info.Acts {
		w += 20
	}
	return w * sure
}

// mainVerdict takes confidence, rivals and evidence from the surest occurrence.
func (d *diagnosis) mainVerdict() {
	rank := map[inspect.Confidence]int{inspect.High: 2, inspect.Medium: 1}
	surest := slices.MaxFunc(d.main, func(x, y occurrence) int {
		a, b := rank[x.confidence()], rank[y.confidence()]
		if (x.r.Basis == inspect.Stated) != (y.r.Basis == inspect.Stated) {
			a, b = a+3*bit(x.r.Basis == inspect.Stated), b+3*bit(y.r.Basis == inspect.Stated)
		}
		return cmp.Compare(a, b)
	})
	d.Confidence, d.Basis, d.Evidence = surest.confidence(), surest.r.Basis, surest.r.Evidence
	d.Rivals = surest.r.Rivals
	if l := surest.d; l != nil {
		d.Member, d.Host = inspect.MemberName(l.ClientID, l.MemberID, l.InstanceID), l.Host
		if l.Rivals != nil {
			d.Rivals = l.Rivals
		}
	}
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// confidence is that of the departure, where the occurrence is one.
func (oc occurrence) confidence() inspect.Confidence {
	if oc.d != nil {
		return oc.d.Confidence
	}
	return oc.r.Confidence
}

// advice picks the findings that are tied to the cause; the others are counted.
func (d *diagnosis) advice(report advise.Report) {
	d.Checked = report.Checked
	tied, churn := advise.Explaining(d.Cause), advise.Explaining(inspect.UnknownCause)
	for _, f := range report.Findings {
		if f.Group != d.Group && f.Group != "" {
			continue
		}
		if f.Severity.Rank() >= advise.Warning.Rank() && slices.Contains(churn, f.ID) {
			d.churns = true
		}
		if f.Severity.Rank() >= advise.Warning.Rank() || slices.Contains(tied, f.ID) {
			if slices.Contains(tied, f.ID) {
				d.Findings = append(d.Findings, f)
			} else {
				d.Others++
			}
		}
	}
	slices.SortStableFunc(d.Findings, func(x, y advise.Finding) int {
		return cmp.Or(cmp.Compare(bit(y.ID == "KGD210" && d.atRecord), bit(x.ID == "KGD210" && d.atRecord)), cmp.Compare(bit(y.Fix != nil && len(y.Fix.Set) > 0), bit(x.Fix != nil && len(x.Fix.Set) > 0)),
			cmp.Compare(slices.Index(tied, x.ID), slices.Index(tied, y.ID)))
	})
	for _, u := range report.Unchecked {
		if u.Group == d.Group || u.Group == "" {
			d.Unchecked = append(d.Unchecked, u)
		}
	}
}

// judge heads the diagnosis with one word.
func (d *diagnosis) judge() {
	bad := d.Summary.Evictions > 0 || d.churns
	for i := range d.rebalances {
		r := &d.rebalances[i]
		bad = bad || r.Cause.Info().Acts && (len(r.Members.Left) > 0 || r.Cause == inspect.AssignmentFailed || r.Cause == inspect.StaticMemberFenced)
	}
	switch {
	case d.Waiting != nil && d.Waiting.long(d.live.At) && (bad || d.Waiting.mayTake() > longWait):
		d.Verdict = verdictStuck
	case bad:
		d.Verdict = verdictUnstable
	case d.live == nil || d.State == "Dead":
		d.Verdict = verdictGone
	case d.State == "":
		d.Verdict = verdictUnknown
	case d.State == "Empty":
		d.Verdict = verdictEmpty
	case len(d.rebalances) > 0:
		d.Verdict = verdictOK
	case d.noHistory != "":
		d.Verdict = verdictUnknown
	default:
		d.Verdict = verdictHealthy
	}
}

// A rebalance that takes no longer than shortWait is none to worry about; one that
// may still take longWait is.
const (
	shortWait = 10 * time.Second
	longWait  = 30 * time.Second
)

// long reports whether a rebalance has been under way for a while. Where nothing tells
// when it began, it may have been for long.
func (w *waiting) long(now inspect.Time) bool {
	return w.Began.IsZero() || now.Sub(w.Began.Time) > shortWait
}

// mayTake is how long it may take in all, as far as is known.
func (w *waiting) mayTake() time.Duration {
	begin := w.Began
	if begin.IsZero() {
		begin = w.Since
	}
	if begin.IsZero() || w.Until.IsZero() {
		return 0
	}
	return w.Until.Sub(begin.Time)
}

// wait finds whom a rebalance under way waits for.
func (d *diagnosis) wait(c *inspect.Case) {
	g := d.live
	if g == nil {
		return
	}
	switch g.State {
	case "PreparingRebalance", "CompletingRebalance":
		d.waitClassic(c)
	case "Assigning", "Reconciling":
		d.waitServer()
	}
}

// waitServer: under KIP-848 the members that have not reached the group's epoch, or
// whose assignment is not their target.
func (d *diagnosis) waitServer() {
	g := d.live
	w := &waiting{Sure: true, For: []string{}, States: []string{}, Reason: "their assignment is not what the group's epoch asks for"}
	var most time.Duration
	for _, m := range g.Members {
		name := inspect.MemberName(m.ClientID, m.MemberID, m.InstanceID)
		w.States = append(w.States, name)
		if m.Epoch == nil || g.Epoch == nil || *m.Epoch < *g.Epoch {
			w.For = append(w.For, name)
			most = max(most, inspect.Or(m.Rebalance, 0))
		}
	}
	if n := len(d.rebalances); n > 0 {
		w.Since = d.rebalances[n-1].Time
	}
	if most > 0 {
		w.Until = inspect.At(g.At.Add(most))
	}
	d.Waiting = w
}

// waitClassic: the join phase of a classic group ends at the latest one rebalance
// timeout, the longest of all members', after it began. Which members have rejoined
// is on no API, nor when it began; those that have rejoined stop committing, and tell
// both.
func (d *diagnosis) waitClassic(c *inspect.Case) {
	g := d.live
	w := &waiting{For: []string{}, States: []string{}, Since: g.StateSince}
	var most time.Duration
	var seen []committer
	last := lastCommits(c, d.Group)
	for _, m := range g.Members {
		name := inspect.MemberName(m.ClientID, m.MemberID, m.InstanceID)
		w.States = append(w.States, name)
		most = max(most, inspect.Or(m.Rebalance, 0))
		if at, ok := last[m.MemberID]; ok {
			seen = append(seen, committer{name, at})
		}
	}
	w.suspect(seen)
	if most > 0 {
		w.Until = inspect.At(g.At.Add(most))
		if end := w.Began.Add(most); !w.Began.IsZero() && end.Before(w.Until.Time) && end.After(g.At.Time) {
			w.Expected = inspect.At(end)
		}
	}
	d.Waiting = w
}

// committer is a member with its newest commits.
type committer struct {
	name string
	last commitTimes
}

// suspect finds the member that the others wait for: the only one that still commits,
// or the one that had stopped before the others did.
func (w *waiting) suspect(seen []committer) {
	if len(seen) < 2 {
		return
	}
	slices.SortStableFunc(seen, func(a, b committer) int { return a.last.at.Compare(b.last.at.Time) })
	first, second := seen[0], seen[1]
	newest, before := seen[len(seen)-1], seen[len(seen)-2]
	stopped := newest.last // of those that do not commit any more, who did last
	switch {
	case newest.last.at.Sub(before.last.at.Time) > 2*time.Second+before.last.pace():
		w.For, w.Reason = append(w.For, newest.name), "it still commits, the others have stopped"
		stopped = before.last
	case second.last.at.Sub(first.last.at.Time) > 2*time.Second+2*first.last.pace():
		w.For, w.Reason = append(w.For, first.name), "it had stopped committing "+prose.Span(second.last.at.Sub(first.last.at.Time).Round(time.Second))+" before the others did"
	}
	w.Began = stopped.at
}

// commitTimes are the times of a member's two newest commits.
type commitTimes struct{ at, before inspect.Time }

// pace is the time between them, at most what a usual auto-commit takes.
func (c commitTimes) pace() time.Duration {
	if c.before.IsZero() {
		return usualCommits
	}
	return min(c.at.Sub(c.before.Time), usualCommits)
}

// usualCommits is auto.commit.interval.ms of most clients (ConsumerConfig).
const usualCommits = 5 * time.Second

// lastCommits are the times of the newest commits on each member's partitions, since
// the newest GroupMetadata record and by its assignment.
func lastCommits(c *inspect.Case, group string) map[string]commitTimes {
	type part struct {
		topic string
		n     int32
	}
	owner := map[part]string{}
	out := map[string]commitTimes{}
	for i := range c.Records {
		r := &c.Records[i]
		if r.Group != group {
			continue
		}
		switch {
		case r.Metadata != nil:
			owner, out = map[part]string{}, map[string]commitTimes{}
			for _, m := range r.Metadata.Members {
				for _, tp := range m.Assigned {
					for _, p := range tp.Partitions {
						owner[part{tp.Topic, p}] = m.MemberID
					}
				}
			}
		case r.Commit != nil:
			m := owner[part{r.Topic, r.TopicPartition}]
			if m == "" {
				continue
			}
			if t := out[m]; r.Time.Sub(t.at.Time) > 20*time.Millisecond { // several partitions, one commit
				out[m] = commitTimes{at: r.Time, before: t.at}
			}
		}
	}
	return out
}
