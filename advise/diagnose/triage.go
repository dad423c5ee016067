package diagnose

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/prose"
)

// Triage is many groups, worst first, and what they have in common.
type Triage struct {
	Groups []Diagnosis   `json:"groups"`
	Shared []SharedCause `json:"shared"` // never nil
	// Unchecked are the rules that were not checked of all groups, once for each reason; of
	// the groups there is then the number alone. Nil where groups were named.
	Unchecked []UncheckedCount `json:"unchecked,omitempty"`
}

// UncheckedCount is a rule that was not checked, and of how many groups.
type UncheckedCount struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Reason string `json:"reason"`
	Groups int    `json:"group_count"`
}

// uncheckedCounts is what was not checked, counted for all of the groups: it is the same for
// most, and of thousands of groups it would be most of the document.
func uncheckedCounts(us []advise.Unchecked, ids []string) []UncheckedCount {
	asked := make(map[string]bool, len(ids))
	for _, id := range ids {
		asked[id] = true
	}
	at, out := map[[2]string]int{}, []UncheckedCount{}
	for i := range us {
		u, groups := &us[i], 1
		switch {
		case u.Group == "":
			groups = len(ids)
		case !asked[u.Group]:
			continue
		}
		key := [2]string{u.ID, u.Reason}
		if _, seen := at[key]; !seen {
			at[key] = len(out)
			out = append(out, UncheckedCount{ID: u.ID, Name: u.Name, Reason: u.Reason})
		}
		out[at[key]].Groups += groups
	}
	return out
}

// TriageOf diagnoses groups of a case, and ranks them: stuck ones first, then those
// that have to be acted on.
func TriageOf(c *inspect.Case, ids []string, o Options) Triage {
	report := evaluate(c, o)
	unchecked := uncheckedCounts(report.Unchecked, ids)
	report.Unchecked = nil // counted: not once more for each group
	ds := groupsOf(c, ids, o, report)
	slices.SortStableFunc(ds, func(x, y Diagnosis) int { return WorstFirst(&x, &y) })
	return Triage{Groups: ds, Shared: correlate(ds, c.Window.Length()), Unchecked: unchecked}
}

// WorstFirst orders groups: negative where x is worse off than y, by name where neither
// is.
func WorstFirst(x, y *Diagnosis) int {
	return cmp.Or(cmp.Compare(y.weight, x.weight), cmp.Compare(x.Group, y.Group))
}

// Rebalanced counts the groups that rebalanced or are about it, and their rebalances,
// without those in which members only joined.
func (t *Triage) Rebalanced() (groups, times int) {
	for i := range t.Groups {
		if d := &t.Groups[i]; !d.OnlyJoined() && (len(d.Rebalances) > 0 || d.Waiting != nil) {
			groups++
			times += len(d.Rebalances)
		}
	}
	return groups, times
}

// Counts says how many rebalances there were in how many of the groups, and in how many
// more members only joined.
func (t *Triage) Counts() string {
	groups, times := t.Rebalanced()
	read := prose.Plural(len(t.Groups)-t.Unread(), "group")
	text := fmt.Sprintf("%s in %s of %s", prose.Plural(times, "rebalance"), prose.Count(int64(groups)), read)
	switch {
	case t.Unread() == len(t.Groups) && t.Unread() > 0:
		return "of " + prose.Plural(len(t.Groups), "group") + " nothing of the past was read"
	case groups == 0:
		text = "none of " + read + " rebalanced"
	case times == 0:
		text = prose.Count(int64(groups)) + " of " + read + " now rebalancing"
	}
	if n, joins := t.Started(); n > 0 {
		text += fmt.Sprintf("; in %s more, members only joined (%s)", prose.Count(int64(n)), prose.Plural(joins, "rebalance"))
	}
	return text
}

// Sick are the groups that are unstable or stuck, worst first.
func (t *Triage) Sick() []*Diagnosis {
	var out []*Diagnosis
	for i := range t.Groups {
		if d := &t.Groups[i]; d.Verdict == Unstable || d.Verdict == Stuck {
			out = append(out, d)
		}
	}
	return out
}

// OnlyJoined reports a group in which nothing happened but that members joined: one that
// was started, or scaled up.
func (d *Diagnosis) OnlyJoined() bool {
	return len(d.Rebalances) > 0 && d.Waiting == nil && d.Calm() && d.Verdict == OK
}

// Started counts the groups in which members only joined, and their rebalances.
func (t *Triage) Started() (groups, times int) {
	for i := range t.Groups {
		if d := &t.Groups[i]; d.OnlyJoined() {
			groups++
			times += len(d.Rebalances)
		}
	}
	return groups, times
}

// Unread counts the groups of whose past nothing was read: they may have rebalanced.
func (t *Triage) Unread() int {
	n := 0
	for i := range t.Groups {
		if t.Groups[i].Summary.Unread {
			n++
		}
	}
	return n
}

// Unrelated reports that several groups rebalanced and have nothing in common.
func (t *Triage) Unrelated() bool {
	n := 0
	for i := range t.Groups {
		if len(t.Groups[i].Rebalances) > 0 {
			n++
		}
	}
	return n > 1 && len(t.Shared) == 0
}

// badness ranks a group: stuck first, then what has to be acted on, by weight and
// number.
func (d *Diagnosis) badness() float64 {
	b := float64(len(d.Rebalances)) / 100
	for i := range d.Rebalances {
		r := &d.Rebalances[i]
		if r.Cause.Info().Acts {
			b += points(r.Cause, r.Confidence)
		}
	}
	if d.Verdict == Stuck {
		b += 1e6
	}
	return b
}

// SharedCause is something that several groups have in common.
type SharedCause struct {
	Kind   string       `json:"kind"` // coordinator, host, broker, client or moment
	Name   string       `json:"name"`
	From   inspect.Time `json:"from"`
	To     inspect.Time `json:"to"`
	Groups []string     `json:"groups"`
}

// Means says whose trouble it is: theirs, or the platform's.
func (s *SharedCause) Means() string {
	groups := fmt.Sprintf("%d groups (%s)", len(s.Groups), strings.Join(prose.First(s.Groups, 4), ", "))
	switch s.Kind {
	case "coordinator":
		return "the coordinator of " + groups + " moved: look at the brokers, not the applications"
	case "host":
		return "members of " + groups + " on host " + s.Name + " left: look at that machine"
	case "broker":
		return groups + " with coordinator " + s.Name + " lost members: look at that broker before the applications"
	case "client":
		return "client " + s.Name + " left " + groups + ": one application, in several groups"
	}
	return groups + " lost members, with different coordinators: network, deploy or cluster"
}

// How close together, and how many: coincidence is not a cause.
const (
	sharedWithin = 10 * time.Second // of one broker or at one moment
	sharedHost   = time.Minute      // of one machine: its members expire at their own sessions' ends
	sharedLeast  = 3
	sharedMany   = 5 // of one broker, whatever the number of its groups
)

// mishap is one rebalance that nobody planned.
type mishap struct {
	group, broker, host, client string
	at                          time.Time
	cause                       inspect.Cause
}

// mishaps are the troubles of several groups, oldest first.
type mishaps struct {
	all      []mishap
	hosts    map[string]bool // of all members, the healthy ones too
	byBroker map[string]int  // groups of each coordinator
}

// mishapsOf gathers the rebalances that somebody has to act on.
func mishapsOf(ds []Diagnosis) mishaps {
	m := mishaps{hosts: map[string]bool{}, byBroker: map[string]int{}}
	for i := range ds {
		d := &ds[i]
		if d.Live != nil {
			for _, member := range d.Live.Members {
				m.hosts[member.Host] = true
			}
		}
		broker := ""
		if d.Coordinator != nil {
			broker = fmt.Sprint(d.Coordinator.ID)
			m.byBroker[broker]++
		}
		for j := range d.Rebalances {
			m.add(d.Group, broker, &d.Rebalances[j])
		}
	}
	slices.SortStableFunc(m.all, func(x, y mishap) int { return x.at.Compare(y.at) })
	return m
}

func (m *mishaps) add(group, broker string, r *inspect.Rebalance) {
	if !r.Cause.Info().Acts {
		return
	}
	for _, l := range r.Members.Left {
		m.hosts[l.Host] = true
		m.all = append(m.all, mishap{group, broker, l.Host, l.ClientID, l.LeftBetween[1].Time, r.Cause})
	}
	if len(r.Members.Left) == 0 {
		m.all = append(m.all, mishap{group: group, broker: broker, at: r.Time.Time, cause: r.Cause})
	}
}

// correlate finds what the troubles of several groups have in common. One machine
// is named before one broker, and a broker before a mere moment.
func correlate(ds []Diagnosis, window time.Duration) []SharedCause {
	m := mishapsOf(ds)
	out := coordinatorMoves(m.all)
	if len(m.hosts) > 1 { // else all are on it, the healthy ones too
		out = append(out, clusters("host", m.all, func(t mishap) string { return t.host }, sharedHost, window)...)
	}
	for _, s := range clusters("broker", m.all, func(t mishap) string { return t.broker }, sharedWithin, window) {
		// A broker in trouble troubles many of its groups.
		if n := len(s.Groups); len(m.byBroker) > 1 && (n >= sharedMany || 2*n >= m.byBroker[s.Name]) {
			out = append(out, s)
		}
	}
	for _, s := range clusters("client", m.all, func(t mishap) string { return t.client }, sharedHost, window) {
		if !coveredBy(s, out) {
			out = append(out, s)
		}
	}
	for _, s := range clusters("moment", m.all, func(mishap) string { return "all" }, sharedWithin, window) {
		if s.Name = ""; !coveredBy(s, out) {
			out = append(out, s)
		}
	}
	return out
}

// coordinatorMoves are the moments at which several groups lost their coordinator:
// that is the platform's doing by itself, however often the groups are in trouble.
func coordinatorMoves(all []mishap) []SharedCause {
	moves := slices.DeleteFunc(slices.Clone(all), func(t mishap) bool { return t.cause != inspect.CoordinatorMoved })
	out := clusters("coordinator", moves, func(mishap) string { return "moved" }, sharedHost, 0)
	for i := range out {
		out[i].Name = ""
	}
	return append([]SharedCause{}, out...)
}

// coveredBy reports whether a moment is told by a host or a broker already.
func coveredBy(m SharedCause, out []SharedCause) bool {
	return slices.ContainsFunc(out, func(s SharedCause) bool {
		return len(s.Groups) == len(m.Groups) && !s.From.After(m.To.Time) && !m.From.After(s.To.Time)
	})
}

// clusters finds runs of troubles with the same key, each within a time of the first,
// that concern enough groups.
func clusters(kind string, all []mishap, key func(mishap) string, within, window time.Duration) []SharedCause {
	byKey := map[string][]mishap{}
	always := chronic(all, within, window)
	for _, t := range all {
		if k := key(t); k != "" && !always[t.group] {
			byKey[k] = append(byKey[k], t)
		}
	}
	var out []SharedCause
	for _, k := range slices.Sorted(maps.Keys(byKey)) {
		for _, run := range runs(byKey[k], within) {
			if groups := groupsIn(run); len(groups) >= sharedLeast {
				out = append(out, SharedCause{Kind: kind, Name: k, From: inspect.At(run[0].at), To: inspect.At(run[len(run)-1].at), Groups: groups})
			}
		}
	}
	return out
}

// runs cuts troubles in order into those that lie within a time of their first.
func runs(list []mishap, within time.Duration) [][]mishap {
	var out [][]mishap
	for i, from := 1, 0; i <= len(list); i++ {
		if i == len(list) || list[i].at.Sub(list[from].at) > within {
			out, from = append(out, list[from:i]), i
		}
	}
	return out
}

// groupsIn are the groups of a run, in order.
func groupsIn(run []mishap) []string {
	var out []string
	for _, t := range run {
		out = append(out, t.group)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// byChance is how likely a group may be in trouble in a span at any time, for its
// trouble in that span to mean anything: three such groups of a dozen then meet by
// chance in one window of five (policy).
const byChance = 0.02

// chronic are groups that are in trouble so often that they meet any other's trouble
// by chance.
func chronic(all []mishap, within, window time.Duration) map[string]bool {
	n := map[string]int{}
	for _, t := range all {
		n[t.group]++
	}
	if window <= 0 {
		return nil
	}
	usual := max(float64(sharedLeast), byChance*float64(window)/float64(max(within, 1)))
	out := map[string]bool{}
	for g, count := range n {
		out[g] = float64(count) > usual
	}
	return out
}
