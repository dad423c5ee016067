package cmd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/internal/render"
	"github.com/kgdiag/kgdiag/internal/term"
)

// mostTriage is how many groups the triage table shows without -v.
const mostTriage = 30

// triageView ranks all groups, worst first, and says whether they share a cause.
func (a *app) triageView(c *inspect.Case, ds []diagnosis) render.View {
	slices.SortStableFunc(ds, func(x, y diagnosis) int {
		return cmp.Or(cmp.Compare(y.badness(), x.badness()), cmp.Compare(x.Group, y.Group))
	})
	shared := correlate(ds, c.Window.Length())
	doc := whyDoc{envelope: a.envelopeOf("kgdiag.why/v1", c), Groups: ds, Shared: shared}
	rebalanced, times := 0, 0
	t := &render.Table{Columns: render.Cols("GROUP", ">REBAL", ">EVICT", "STOOD STILL", "WORST CAUSE", "COORDINATOR")}
	for i := range ds {
		d := &ds[i]
		if len(d.rebalances) == 0 && d.Waiting == nil {
			continue
		}
		rebalanced++
		times += len(d.rebalances)
		if rebalanced <= mostTriage || a.flags.verbose {
			t.Rows = append(t.Rows, d.triageRow())
		}
	}
	more := fmt.Sprintf("%s, last %s to %s: %d rebalanced, %s", plural(len(ds), "group"), prose.Span(c.Window.Length().Round(time.Second)),
		a.clockZone(c.Window.To.Time), rebalanced, plural(times, "time"))
	v := render.View{Head: a.clusterLine(c.Cluster, more), Data: doc}
	block := render.Block{NoTSV: true}
	if rebalanced > 0 {
		block.Table = t
		if n := rebalanced - len(t.Rows); n > 0 {
			block.After = append(block.After, render.L("and %s more (-v)", plural(n, "group")))
		}
		block.After = append(block.After, a.sharedLines(shared, ds)...)
		block.After = append(block.After, label("next", "kgdiag why %s", shellWord(ds[0].Group)+a.connectWords()))
	} else {
		block.Lines = []render.Line{render.L("no group rebalanced")}
	}
	v.Blocks = append(v.Blocks, block)
	if lines := gapsByReason(historyGaps(c.Gaps)); len(lines) > 0 {
		v.Blocks = append(v.Blocks, render.Block{Lines: lines, NoTSV: true})
	}
	v.Blocks = append(v.Blocks, render.Block{Table: whyTSV(ds), TSVOnly: true})
	return v
}

// badness ranks a group: stuck first, then what has to be acted on, by weight and
// number.
func (d *diagnosis) badness() float64 {
	b := float64(len(d.rebalances)) / 100
	for i := range d.rebalances {
		r := &d.rebalances[i]
		if r.Cause.Info().Acts {
			b += points(r.Cause, r.Confidence)
		}
	}
	if d.Verdict == verdictStuck {
		b += 1e6
	}
	return b
}

func (d *diagnosis) triageRow() []render.Span {
	still := "-"
	if d.Cost.Idle != nil && d.Cost.Idle.Duration() >= time.Second {
		still = fmt.Sprintf("%s, %d part", prose.Span(d.Cost.Idle.Duration().Round(time.Second)), len(d.Cost.Partitions))
	}
	cause := string(d.Cause)
	if d.Member != "" {
		cause += " (" + d.Member + ")"
	}
	if d.atRecord {
		cause = "same record: " + d.stuck[0].Place
	} else if d.Confidence == inspect.Low && d.Cause != inspect.UnknownCause && d.Cause != inspect.GroupEmptied {
		cause += ", perhaps"
	}
	if d.Verdict == verdictStuck {
		cause = "stuck; " + cause
	}
	style := term.Plain
	if d.Summary.Evictions > 0 {
		style = term.Bad
	}
	coordinator := "-"
	if d.coordinator != nil {
		coordinator = fmt.Sprint(d.coordinator.ID)
	}
	return []render.Span{render.P("%s", d.Group), render.P("%d", len(d.rebalances)), render.S(style, "%d", d.Summary.Evictions),
		render.P("%s", still), render.P("%s", cause), render.P("%s", coordinator)}
}

// sharedCause is something that several groups have in common.
type sharedCause struct {
	Kind   string       `json:"kind"` // coordinator, host, broker, client or moment
	Name   string       `json:"name"`
	From   inspect.Time `json:"from"`
	To     inspect.Time `json:"to"`
	Groups []string     `json:"groups"`
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

// correlate finds what the troubles of several groups have in common. One machine
// is named before one broker, and a broker before a mere moment.
func correlate(ds []diagnosis, window time.Duration) []sharedCause {
	var all []mishap
	byBroker, hosts := map[string]int{}, map[string]bool{}
	for i := range ds {
		d := &ds[i]
		if d.live != nil {
			for _, m := range d.live.Members {
				hosts[m.Host] = true
			}
		}
		broker := ""
		if d.coordinator != nil {
			broker = fmt.Sprint(d.coordinator.ID)
			byBroker[broker]++
		}
		for j := range d.rebalances {
			r := &d.rebalances[j]
			if !r.Cause.Info().Acts {
				continue
			}
			for _, l := range r.Members.Left {
				hosts[l.Host] = true
				all = append(all, mishap{d.Group, broker, l.Host, l.ClientID, l.LeftBetween[1].Time, r.Cause})
			}
			if len(r.Members.Left) == 0 && r.Cause.Info().Acts {
				all = append(all, mishap{group: d.Group, broker: broker, at: r.Time.Time, cause: r.Cause})
			}
		}
	}
	slices.SortStableFunc(all, func(x, y mishap) int { return x.at.Compare(y.at) })
	out := coordinatorMoves(all)
	if len(hosts) > 1 { // else all are on it, the healthy ones too
		out = append(out, clusters("host", all, func(t mishap) string { return t.host }, sharedHost, window)...)
	}
	brokers := clusters("broker", all, func(t mishap) string { return t.broker }, sharedWithin, window)
	for _, s := range brokers {
		// A broker in trouble troubles many of its groups.
		if n := len(s.Groups); len(byBroker) > 1 && (n >= sharedMany || 2*n >= byBroker[s.Name]) {
			out = append(out, s)
		}
	}
	for _, s := range clusters("client", all, func(t mishap) string { return t.client }, sharedHost, window) {
		if !coveredBy(s, out) {
			out = append(out, s)
		}
	}
	moments := clusters("moment", all, func(mishap) string { return "all" }, sharedWithin, window)
	for _, m := range moments {
		if !coveredBy(m, out) {
			m.Name = ""
			out = append(out, m)
		}
	}
	return out
}

// coordinatorMoves are the moments at which several groups lost their coordinator:
// that is the platform's doing by itself, however often the groups are in trouble.
func coordinatorMoves(all []mishap) []sharedCause {
	moves := slices.DeleteFunc(slices.Clone(all), func(t mishap) bool { return t.cause != inspect.CoordinatorMoved })
	out := clusters("coordinator", moves, func(mishap) string { return "moved" }, sharedHost, 0)
	for i := range out {
		out[i].Name = ""
	}
	return append([]sharedCause{}, out...)
}

// coveredBy reports whether a moment is told by a host or a broker already.
func coveredBy(m sharedCause, out []sharedCause) bool {
	return slices.ContainsFunc(out, func(s sharedCause) bool {
		return len(s.Groups) == len(m.Groups) && !s.From.After(m.To.Time) && !m.From.After(s.To.Time)
	})
}

// clusters finds runs of troubles with the same key, each within a time of the one
// before it, that concern enough groups.
func clusters(kind string, all []mishap, key func(mishap) string, within, window time.Duration) []sharedCause {
	byKey := map[string][]mishap{}
	var keys []string
	always := chronic(all, within, window)
	for _, t := range all {
		k := key(t)
		if k == "" || always[t.group] {
			continue
		}
		if byKey[k] == nil {
			keys = append(keys, k)
		}
		byKey[k] = append(byKey[k], t)
	}
	slices.Sort(keys)
	var out []sharedCause
	for _, k := range keys {
		var run []mishap
		flush := func() {
			groups := map[string]bool{}
			for _, t := range run {
				groups[t.group] = true
			}
			if len(groups) >= sharedLeast {
				names := make([]string, 0, len(groups))
				for g := range groups {
					names = append(names, g)
				}
				slices.Sort(names)
				out = append(out, sharedCause{Kind: kind, Name: k, From: inspect.At(run[0].at), To: inspect.At(run[len(run)-1].at), Groups: names})
			}
			run = nil
		}
		for _, t := range byKey[k] {
			if len(run) > 0 && t.at.Sub(run[0].at) > within {
				flush()
			}
			run = append(run, t)
		}
		flush()
	}
	return out
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

// mostShared is how many shared causes the triage shows.
const mostShared = 4

// sharedLines say "theirs" or "ours".
func (a *app) sharedLines(shared []sharedCause, ds []diagnosis) []render.Line {
	var out []render.Line
	for i, s := range shared {
		if i == mostShared {
			out = append(out, render.L("and %s of several groups", plural(len(shared)-mostShared, "more moment")))
			break
		}
		what := ""
		groups := fmt.Sprintf("%d groups (%s)", len(s.Groups), strings.Join(prose.First(s.Groups, 4), ", "))
		switch s.Kind {
		case "coordinator":
			what = "the coordinator of " + groups + " moved: the platform, not the applications"
		case "host":
			what = "members of " + groups + " on host " + s.Name + " went: look at that machine"
		case "broker":
			what = groups + " of broker " + s.Name + " were in trouble: the platform, not the applications"
		case "client":
			what = "client " + s.Name + " went from " + groups + ": one application, in several groups"
		default:
			what = groups + " of several brokers were in trouble: network, deploy or cluster"
		}
		text := fmt.Sprintf("shared cause: within %s at %s %s", prose.Span(s.To.Sub(s.From.Time).Round(100*time.Millisecond)), a.clock(s.From), what)
		for j, l := range prose.Wrap(text, pageWidth-len(pageIndent)) {
			if j > 0 {
				l = pageIndent + l
			}
			out = append(out, render.L("%s", l))
		}
	}
	if len(out) > 0 {
		return out
	}
	n := 0
	for i := range ds {
		if len(ds[i].rebalances) > 0 {
			n++
		}
	}
	if n > 1 {
		return []render.Line{render.L("shared cause? no: different hosts and moments")}
	}
	return nil
}
