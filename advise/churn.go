package advise

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// The thresholds of the rules on history. They are kgdiag's own policy: no published
// source gives numbers.
const (
	// stormInHour is how many unplanned rebalances in one hour are a storm.
	stormInHour = 10
	// flaps is how often a member must go and come back to be called flapping.
	flaps = 3
	// slowRebalance is the stand-still of a whole group that is worth a word.
	slowRebalance = 30 * time.Second
	// slowConvergence is the same for KIP-848 groups, which do not stand still.
	slowConvergence = time.Minute
)

// departure is a member that left, with the rebalance that shows it.
type departure struct {
	inspect.Departure
	in inspect.Rebalance
}

// left lists the departures of a history that were not of low confidence.
func left(t *inspect.Timeline, want func(departure) bool) []departure {
	return goings(t, func(d departure) bool { return d.Confidence != inspect.Low && want(d) })
}

// goings lists the departures of a history, however sure their causes are.
func goings(t *inspect.Timeline, want func(departure) bool) []departure {
	var out []departure
	for _, r := range t.Rebalances {
		for _, l := range r.Members.Left {
			if d := (departure{l, r}); want(d) {
				out = append(out, d)
			}
		}
	}
	return out
}

// lane names a member for people: its instance id, or client id and host, which
// outlive its member id.
func (d departure) lane() string {
	if d.InstanceID != nil {
		return *d.InstanceID
	}
	return d.ClientID + "@" + d.Host
}

func (d departure) back() bool { return d.CameBack() }

// at is a rebalance's time as findings quote it.
func at(t inspect.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// fromTo is a span of time as findings quote it; the day is said once where it is one.
func fromTo(from, to inspect.Time) string {
	const day, clock = "2006-01-02 ", "15:04:05"
	until := to.UTC().Format(day + clock + " UTC")
	if from.UTC().Format(day) == to.UTC().Format(day) {
		until = to.UTC().Format(clock + " UTC")
	}
	return from.UTC().Format(day+clock) + " to " + until
}

// times quotes the first and the last of several rebalances.
func times(ds []departure) string {
	if len(ds) == 1 {
		return "at " + at(ds[0].in.Time)
	}
	return fmt.Sprintf("%d times, %s", len(ds), fromTo(ds[0].in.Time, ds[len(ds)-1].in.Time))
}

// leastSure is the lowest confidence among departures.
func leastSure(ds []departure) inspect.Confidence {
	least := inspect.High
	for _, d := range ds {
		least = inspect.LessSure(least, d.Confidence)
	}
	return least
}

// byLane groups departures by member, the most frequent first.
func byLane(ds []departure) [][]departure {
	groups := map[string][]departure{}
	for _, d := range ds {
		groups[d.lane()] = append(groups[d.lane()], d)
	}
	out := make([][]departure, 0, len(groups))
	for _, k := range sortedKeys(groups) {
		out = append(out, groups[k])
	}
	sort.SliceStable(out, func(i, j int) bool { return len(out[i]) > len(out[j]) })
	return out
}

// planned reports whether a rebalance is the visible side of a change that somebody
// made: a deploy, a first start, a deletion.
func planned(r inspect.Rebalance) bool {
	if r.Cause == inspect.GroupEmptied { // by a stop, or because the last member was put out
		return !slices.ContainsFunc(r.Members.Left, func(l inspect.Departure) bool { return l.Cause.Eviction() })
	}
	return r.Cause.Info().Planned
}

// slow reports whether a rebalance took too long.
func slow(r inspect.Rebalance) bool {
	return heldToTheEnd(r) || took(r) >= slowRebalance && r.Converged == nil || inspect.Or(r.Converged, 0) >= slowConvergence
}

// heldToTheEnd reports a rebalance that waited for a member until its rebalance timeout.
func heldToTheEnd(r inspect.Rebalance) bool {
	return r.Cause == inspect.RejoinTimedOut && r.Confidence != inspect.Low
}

// took is how long it took at least: as polls saw it, as its pause or convergence
// shows, and the rebalance timeout where it waited for that.
func took(r inspect.Rebalance) time.Duration {
	d := max(inspect.Or(r.Stopped, 0), inspect.Or(r.Rebalancing, 0), inspect.Or(r.Converged, 0))
	if heldToTheEnd(r) {
		for _, l := range r.Members.Left {
			if l.Cause == r.Cause {
				d = max(d, inspect.Or(l.Rebalance, 0))
			}
		}
	}
	return d
}

// holder names who held a rebalance up, where that is known.
func holder(r inspect.Rebalance) string {
	if r.ConvergedLast != "" {
		return ", the last was " + r.ConvergedLast
	}
	if r.Cause == inspect.RejoinTimedOut && len(r.Members.Left) > 0 {
		l := departure{r.Members.Left[0], r}
		limit := ""
		if l.Rebalance != nil {
			limit = " (" + span(l.Rebalance.Duration()) + ")"
		}
		return fmt.Sprintf(": %s did not rejoin within its rebalance timeout%s", l.lane(), limit)
	}
	return ""
}
