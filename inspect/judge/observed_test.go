package judge

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// seenLive is a case of a cluster that hides the offsets topic.
func seenLive(obs ...inspect.Observation) *inspect.Case {
	return &inspect.Case{Observations: obs, Groups: []inspect.Group{{ID: "g", Type: inspect.Classic, Assignor: "range"}}}
}

func only(t *testing.T, c *inspect.Case) inspect.Timeline {
	t.Helper()
	tls := Build(c, Options{})
	if len(tls) != 1 {
		t.Fatalf("%d timelines, want 1", len(tls))
	}
	return tls[0]
}

// causes are the generations with their causes.
func causes(tl inspect.Timeline) []inspect.Cause {
	var out []inspect.Cause
	for _, r := range tl.Rebalances {
		out = append(out, r.Cause)
	}
	return out
}

// What polls alone show is a history, in which nothing is claimed of a departure but
// that it happened, and when.
func TestObservedHistory(t *testing.T) {
	tl := only(t, seenLive(
		live(0, 10, "Stable", "a-1", "b-1"),
		live(10.2, 12, "PreparingRebalance", "a-1"), live(12.2, 12.4, "CompletingRebalance", "a-1"), live(12.7, 30, "Stable", "a-1"),
		live(30.2, 31, "PreparingRebalance", "a-1", "b-2"), live(31.2, 60, "Stable", "a-1", "b-2"),
		live(60.2, 90, "Empty"),
		live(90.2, 99, "Dead"),
	))
	want(t, at(t, tl, 1), inspect.UnknownCause, inspect.Low)
	want(t, at(t, tl, 2), inspect.MemberJoined, inspect.High)
	if got, want := causes(tl), []inspect.Cause{inspect.UnknownCause, inspect.MemberJoined, inspect.GroupEmptied, inspect.GroupDeleted}; !slices.Equal(got, want) {
		t.Fatalf("causes %v, want %v", got, want)
	}
	out := tl.Rebalances[0]
	d := out.Members.Left[0]
	if d.ClientID != "b" || d.LeftBetween[0] != clock(10) || d.LeftBetween[1] != clock(10.2) {
		t.Errorf("departure of %s between %s and %s, want b, between the two polls at 10 and 10.2", d.ClientID, d.LeftBetween[0], d.LeftBetween[1])
	}
	for _, c := range []inspect.Cause{inspect.SessionExpired, inspect.MemberLeft, inspect.PollIntervalExceeded} {
		if !slices.ContainsFunc(out.Rivals, func(r inspect.Rival) bool { return r.Cause == c && r.WhyNot == "" }) {
			t.Errorf("rivals %v lack %s, which nothing speaks against", out.Rivals, c)
		}
	}
	if out.GenerationBasis != "lower_bound" || out.Rebalancing == nil || out.Rebalancing.Duration() != clock(12.7).Sub(clock(10.2).Time) {
		t.Errorf("basis %q, rebalancing %v; want lower_bound, 2.5s", out.GenerationBasis, out.Rebalancing)
	}
	if out.Stopped != nil || out.StoppedAtMost == nil || out.StoppedAtMost.Duration() != clock(12.7).Sub(clock(10).Time) || out.StoppedBasis != "observed" {
		t.Errorf("paused %v to %v %s; want at most 2.7s, since the last poll that saw it at rest", out.Stopped, out.StoppedAtMost, out.StoppedBasis)
	}
	if back := tl.Rebalances[1].Members.Joined[0]; back.Back != out.ID || back.BackAfter == nil {
		t.Errorf("the return is not matched to the departure: %+v", back)
	}
}

// Three members where there were two: the new process joined while the old one still
// was a member.
func TestObservedRestartWithinSession(t *testing.T) {
	tl := only(t, seenLive(live(0, 10, "Stable", "a-1", "b-1"), live(10.2, 20, "PreparingRebalance", "a-1", "b-1", "b-2"), live(20.2, 30, "Stable", "a-1", "b-2")))
	if len(tl.Rebalances) != 1 {
		t.Fatalf("%d rebalances, want 1", len(tl.Rebalances))
	}
	want(t, tl.Rebalances[0], inspect.RestartedWithinSession, inspect.High)
}

// One process gone and the next not yet there, within one rebalance: the old one was
// out before the new one came, so it is no restart within the session.
func TestObservedOneAfterTheOther(t *testing.T) {
	polls := []inspect.Observation{live(0, 10, "Stable", "a-1", "b-1"), live(10.2, 14, "PreparingRebalance", "a-1"),
		live(14.2, 20, "PreparingRebalance", "a-1", "b-2"), live(20.2, 30, "Stable", "a-1", "b-2")}
	want(t, only(t, seenLive(polls...)).Rebalances[0], inspect.UnknownCause, inspect.Low)

	b := newBook()
	b.generation(0, 1, with(a, 0), with(bb, 1))
	next := with(bb, 1)
	next.id = "b-2"
	b.generation(20, 2, with(a, 0), next)
	b.c.Observations = polls
	if r := at(t, b.build(), 2); r.Cause == inspect.RestartedWithinSession {
		t.Errorf("%s, %s: the group was seen without either process", r.Cause, r.Confidence)
	}
}

// A static member's new process takes its place without a rebalance.
func TestObservedStaticRestart(t *testing.T) {
	pod := "pod-0"
	static := func(from, to float64, id string) inspect.Observation {
		o := live(from, to, "Stable", id, "b-1")
		o.Members[0].InstanceID = &pod
		return o
	}
	tl := only(t, seenLive(static(0, 10, "a-1"), static(10.2, 20, "a-2")))
	if len(tl.Rebalances) != 1 || tl.Rebalances[0].Cause != inspect.StaticMemberRestarted || tl.Rebalances[0].Confidence == inspect.High {
		t.Fatalf("%+v, want static_member_restarted and not high: a duplicate looks the same", tl.Rebalances)
	}
	if r := tl.Rebalances[0]; len(r.Members.Replaced) != 1 || r.Generation != *r.PreviousGeneration {
		t.Errorf("replaced %v, generation %d after %d; want one, in the same generation", r.Members.Replaced, r.Generation, *r.PreviousGeneration)
	}
}

// What the platform says of the process whose place was taken tells a restart from two
// processes that share a group.instance.id.
func TestThePlatformTellsAStaticRestartFromAFence(t *testing.T) {
	const here, other = "10.0.0.1", "10.0.0.9"
	pod := "orders-0"
	static := func(from, to float64, id, host string) inspect.Observation {
		o := live(from, to, "Stable", id, "b-1")
		o.Members[0].InstanceID, o.Members[0].Host = &pod, host
		return o
	}
	moment := live(0, 0, "Stable").From
	at := func(s float64) inspect.Time { return inspect.At(moment.Add(time.Duration(s * float64(time.Second)))) }
	ran := inspect.ProcessLife{Platform: "kubernetes", Name: pod, Container: "app", Started: at(-3600), Seen: at(60)}
	killed := ran
	killed.Ended, killed.End = at(8), inspect.EndOOMKilled
	next := ran
	next.Started = at(9)
	for name, c := range map[string]struct {
		host      string
		processes []inspect.ProcessLife
		cause     inspect.Cause
		stated    bool
		says      string
	}{
		"killed and restarted":         {here, []inspect.ProcessLife{killed, next}, inspect.StaticMemberRestarted, true, "pod orders-0 was OOMKilled at"},
		"ran on while another took it": {other, []inspect.ProcessLife{ran}, inspect.StaticMemberFenced, true, "when another member took its group.instance.id"},
		"ran on, on the same host":     {here, []inspect.ProcessLife{ran}, inspect.StaticMemberRestarted, false, "when another member took its group.instance.id"},
		"nothing of it":                {here, []inspect.ProcessLife{{Platform: "kubernetes", Name: "billing-0", Started: at(-3600), Seen: at(60)}}, inspect.StaticMemberRestarted, false, ""},
	} {
		seen := seenLive(static(0, 10, "a-1", here), static(10.2, 20, "a-2", c.host))
		seen.Processes = c.processes
		r := only(t, seen).Rebalances[0]
		said := strings.Join(r.Evidence, "; ")
		if r.Cause != c.cause || (r.Basis == inspect.Stated) != c.stated || c.stated != (r.Confidence == inspect.High && len(r.Rivals) == 0) ||
			!strings.Contains(said, c.says) || c.says == "" && strings.Contains(said, "pod ") {
			t.Errorf("%s: %s, %s, %s, rivals %v, %q; want %s", name, r.Cause, r.Basis, r.Confidence, r.Rivals, said, c.cause)
		}
	}
}

// A KIP-848 group seen by polls alone: epochs are exact, and so is convergence.
func TestObservedEpochs(t *testing.T) {
	seen := func(from, to float64, state string, epoch int32, ids ...string) inspect.Observation {
		o := live(from, to, state, ids...)
		o.Epoch = &epoch
		return o
	}
	c := seenLive(seen(0, 10, "Stable", 7, "a-1"), seen(10.2, 11, "Reconciling", 8, "a-1", "b-1"), seen(11.2, 30, "Stable", 8, "a-1", "b-1"), seen(30.2, 40, "Stable", 9, "a-1"))
	c.Groups[0].Type = inspect.Consumer
	tl := only(t, c)
	if len(tl.Rebalances) != 2 {
		t.Fatalf("%d rebalances, want 2", len(tl.Rebalances))
	}
	join := at(t, tl, 8)
	want(t, join, inspect.MemberJoined, inspect.High)
	if join.Converged == nil || join.Converged.Duration() != clock(11.2).Sub(clock(10.2).Time) || join.GenerationBasis != "" {
		t.Errorf("converged %v, basis %q; want 1s, exact", join.Converged, join.GenerationBasis)
	}
	want(t, at(t, tl, 9), inspect.UnknownCause, inspect.Low)
}

// How long a member had been there is known only of one that was seen to come: of the
// others it cannot be said that its session was too young to end.
func TestObservedSinceWhen(t *testing.T) {
	epoch := int32(7)
	seen := func(from, to float64, ids ...string) inspect.Observation {
		o := live(from, to, "Stable", ids...)
		n := epoch
		o.Epoch = &n
		epoch++
		return o
	}
	c := seenLive(seen(0, 5, "a-1", "b-1"), seen(5.2, 20, "a-1"), seen(20.2, 30, "a-1", "b-2"), seen(30.2, 40, "a-1"))
	c.Groups[0].Type, c.Groups[0].Limits.Session = inspect.Consumer, inspect.Ms(45*time.Second)
	tl := only(t, c)
	want(t, at(t, tl, 8), inspect.UnknownCause, inspect.Low)
	if r := at(t, tl, 10); r.Cause != inspect.MemberLeft {
		t.Errorf("%s, %s; want member_left: ten seconds after it came its session of 45 s cannot have ended", r.Cause, r.Confidence)
	}
}

// A group that was deleted begins anew, and so does what is known of its generation.
func TestObservedAnew(t *testing.T) {
	tl := only(t, seenLive(live(0, 10, "Stable", "a-1"), live(10.2, 20, "Stable", "a-1", "b-1"), live(20.2, 30, "Dead"),
		live(30.2, 40, "Stable", "a-2"), live(40.2, 50, "Stable", "a-2", "b-2")))
	if last := tl.Rebalances[len(tl.Rebalances)-1]; last.Generation != 1 || last.Cause != inspect.MemberJoined {
		t.Errorf("generation %d, %s; want 1, member_joined", last.Generation, last.Cause)
	}
}

// A log line states what polls cannot know.
func TestObservedStated(t *testing.T) {
	c := seenLive(live(0, 10, "Stable", "a-1", "b-1"), live(10.2, 30, "Stable", "a-1"))
	c.LogEvents = []inspect.LogEvent{{Kind: inspect.LogEvicted, Group: "g", Cause: inspect.SessionExpired, MemberID: "b-1", Time: clock(10.1)}}
	r := only(t, c).Rebalances[0]
	want(t, r, inspect.SessionExpired, inspect.High)
	if r.Basis != inspect.Stated {
		t.Errorf("basis %s, want stated", r.Basis)
	}
}

// Where the offsets topic was read, polls make no rebalances: the records do.
func TestObservationsDoNotDoubleRecords(t *testing.T) {
	c := seenLive(live(0, 10, "Stable", "a-1", "b-1"), live(10.2, 30, "Stable", "a-1"))
	c.Logs = []inspect.PartitionLog{{Partition: 24}}
	if tl := only(t, c); len(tl.Rebalances) != 0 {
		t.Errorf("%d rebalances, want none", len(tl.Rebalances))
	}
}
