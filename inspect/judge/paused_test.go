package judge

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// polled adds what polls of a simulated group see, one each so many seconds.
func polled(c *inspect.Case, sc scenario, ended, every float64) *inspect.Case {
	out := *c
	for at := math.Mod(sc.began, every) + math.Floor(sc.began/every-5)*every + every/3; at < ended+5*every; at += every {
		state := "Stable"
		switch {
		case at >= sc.began && at < sc.joined:
			state = "PreparingRebalance"
		case at >= sc.joined && at < ended:
			state = "CompletingRebalance"
		}
		out.Observations = append(out.Observations, inspect.Observation{Group: "g", State: state, From: stamp(at), To: stamp(at), Coordinator: 1})
	}
	return &out
}

// The members that stay are paused from when they rejoin, which no record tells. Whatever
// the group commits and how, and with polls or without, the truth lies within what is
// told, to the millisecond of the records' times.
func TestPauseHoldsTheTruth(t *testing.T) {
	const groups = 200
	compared, byCommits, byPolls, wide := 0, 0, 0, 0
	for seed := range uint64(groups) {
		c, sc := simulate(seed, false)
		s := newSim(seed, false)
		if sc.joined-sc.began > s.wire() {
			continue // a coordinator does not wait longer than the rebalance timeout
		}
		for _, every := range []float64{0, 0.25, 2} {
			with, r := c, simVerdict(c)
			if r == nil {
				continue
			}
			if every > 0 {
				with = polled(c, sc, float64(r.Time.Sub(stamp(0).Time))/float64(time.Second), every)
				r = simVerdict(with)
			}
			truth := r.Time.Sub(stamp(slices.Min(sc.rejoined)).Time)
			compared++
			if r.Stopped == nil || r.StoppedAtMost == nil && every > 0 {
				t.Errorf("seed %d, polled every %g s: paused %v to %v, want bounds", seed, every, r.Stopped, r.StoppedAtMost)
				continue
			}
			lo, hi := r.Stopped.Duration(), inspect.Or(r.StoppedAtMost, time.Hour)
			if truth < lo-time.Millisecond || truth > hi+time.Millisecond {
				t.Errorf("seed %d, %s, %s, polled every %g s: paused %s, told as %s to %s (%s)", seed, sc.name, s.mode, every, truth, lo, hi, r.StoppedBasis)
			}
			switch {
			case every == 0 && hi < truth+time.Second:
				byCommits++
			case every == 0:
				wide++
			case r.StoppedBasis == "observed":
				byPolls++
			}
			if seen := inspect.Or(r.Rebalancing, 0); every == 0 && seen != 0 || seen > r.Time.Sub(stamp(sc.began).Time) {
				t.Errorf("seed %d, polled every %g s: seen rebalancing for %s, it lasted %g s", seed, every, seen, sc.joined-sc.began)
			}
		}
	}
	t.Logf("%d rebalances; by records alone %d known to a second and %d not; %d bounded by polls", compared, byCommits, wide, byPolls)
	if compared < 400 || byCommits < 50 || byPolls < 200 {
		t.Errorf("%d rebalances, %d known to a second, %d bounded by polls: too few to hold anything", compared, byCommits, byPolls)
	}
}
