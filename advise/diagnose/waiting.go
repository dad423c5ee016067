package diagnose

import (
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/prose"
)

// Waiting says whom a rebalance under way waits for.
type Waiting struct {
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

	limit time.Duration // the longest rebalance timeout of the members; 0 unknown
}

// A rebalance that takes no longer than shortWait is none to worry about; one that
// may still take longWait is.
const (
	shortWait = 10 * time.Second
	longWait  = 30 * time.Second
)

// long reports whether a rebalance is known to have been under way for a while.
func (w *Waiting) long(now inspect.Time) bool {
	return !w.Began.IsZero() && now.Sub(w.Began.Time) > shortWait
}

// mayTake is how long it may take in all, as far as is known.
func (w *Waiting) mayTake() time.Duration {
	begin := w.Began
	if begin.IsZero() {
		begin = w.Since
	}
	if begin.IsZero() || w.Until.IsZero() {
		return 0
	}
	return w.Until.Sub(begin.Time)
}

// waitingOf finds whom a rebalance under way waits for; nil where none is.
func waitingOf(c *inspect.Case, d *Diagnosis) *Waiting {
	if d.Live == nil {
		return nil
	}
	switch d.Live.State {
	case "PreparingRebalance", "CompletingRebalance":
		w := waitingClassic(c, d.Live)
		if seen := underWaySince(c, d.Live); w.Began.IsZero() && !seen.IsZero() {
			w.Began = seen
		}
		w.expect(d.Live.At)
		return w
	case "Assigning", "Reconciling":
		w := waitingServer(d)
		w.expect(d.Live.At)
		return w
	}
	return nil
}

// waitingServer: under KIP-848 the members that have not reached the group's epoch, or
// whose assignment is not their target.
func waitingServer(d *Diagnosis) *Waiting {
	g := d.Live
	w := &Waiting{Sure: true, For: []string{}, States: []string{}, Reason: "their assignment is not what the group's epoch asks for"}
	var most time.Duration
	for _, m := range g.Members {
		name := inspect.MemberName(m.ClientID, m.MemberID, m.InstanceID)
		w.States = append(w.States, name)
		if m.Epoch == nil || g.Epoch == nil || *m.Epoch < *g.Epoch {
			w.For = append(w.For, name)
			most = max(most, inspect.Or(m.Rebalance, 0))
		}
	}
	if n := len(d.Rebalances); n > 0 {
		w.Since = d.Rebalances[n-1].Time
		if g.Epoch != nil && *g.Epoch == d.Rebalances[n-1].Generation {
			w.Began = w.Since // a new epoch is written when it begins
		}
	}
	w.limit = most
	return w
}

// expect works out by when a rebalance ends, as seen from a moment.
func (w *Waiting) expect(now inspect.Time) {
	if w.limit <= 0 {
		return
	}
	w.Until = inspect.At(now.Add(w.limit))
	if end := w.Began.Add(w.limit); !w.Began.IsZero() && end.After(now.Time) {
		w.Expected = inspect.At(end)
	}
}

// underWaySince is the first of the polls, without another in between, that saw a group
// in a rebalance; zero for none.
func underWaySince(c *inspect.Case, g *inspect.Group) inspect.Time {
	var since inspect.Time
	for i := range c.Observations {
		switch o := &c.Observations[i]; {
		case o.Group != g.ID || o.Error != "":
		case o.State != "PreparingRebalance" && o.State != "CompletingRebalance":
			since = inspect.Time{}
		case since.IsZero():
			since = o.From
		}
	}
	return since
}

// waitingClassic: the join phase of a classic group ends at the latest one rebalance
// timeout, the longest of all members', after it began. Which members have rejoined
// is on no API, nor when it began; those that have rejoined stop committing, and tell
// both.
func waitingClassic(c *inspect.Case, g *inspect.Group) *Waiting {
	w := &Waiting{For: []string{}, States: []string{}, Since: g.StateSince}
	var most time.Duration
	var seen []committer
	last := lastCommits(c, g.ID)
	for _, m := range g.Members {
		name := inspect.MemberName(m.ClientID, m.MemberID, m.InstanceID)
		w.States = append(w.States, name)
		most = max(most, inspect.Or(m.Rebalance, 0))
		if at, ok := last[m.MemberID]; ok {
			seen = append(seen, committer{name, at})
		}
	}
	w.suspect(seen)
	w.limit = most
	return w
}

// committer is a member with its newest commits.
type committer struct {
	name string
	last commitTimes
}

// suspect finds the member that the others wait for: the only one that still commits,
// or the one that had stopped before the others did.
func (w *Waiting) suspect(seen []committer) {
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
	owner := map[partition]string{}
	out := map[string]commitTimes{}
	for i := range c.Records {
		r := &c.Records[i]
		switch {
		case r.Group != group:
		case r.Metadata != nil:
			owner, out = ownersIn(r.Metadata), map[string]commitTimes{}
		case r.Commit != nil:
			m := owner[partition{r.Topic, r.TopicPartition}]
			if t := out[m]; m != "" && r.Time.Sub(t.at.Time) > 20*time.Millisecond { // several partitions, one commit
				out[m] = commitTimes{at: r.Time, before: t.at}
			}
		}
	}
	return out
}

// partition is one of a topic.
type partition struct {
	topic string
	n     int32
}

// ownersIn are the member ids by the partitions that a record assigns.
func ownersIn(g *inspect.GroupMetadata) map[partition]string {
	owner := map[partition]string{}
	for _, m := range g.Members {
		for _, tp := range m.Assigned {
			for _, p := range tp.Partitions {
				owner[partition{tp.Topic, p}] = m.MemberID
			}
		}
	}
	return owner
}
