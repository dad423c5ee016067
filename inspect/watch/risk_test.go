package watch

import (
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/assume"
	"github.com/kgdiag/kgdiag/inspect/membership"
)

// quietMember is a group of one Java member on t-0 with max.poll.interval.ms of a
// minute, which commits an advance every second until it stops.
type quietMember struct {
	t *testing.T
	k *risks
	g *group
	f inspect.Family
}

func newQuietMember(t *testing.T, f inspect.Family) *quietMember {
	d := NewDiffer(Options{Log: true})
	g := d.group("g")
	g.read.Members["m"] = &membership.Member{ID: "m", ClientID: "a", Rebalance: inspect.Ms(time.Minute), Client: inspect.ClientGuess{Family: f}}
	return &quietMember{t: t, k: newRisks(), g: g, f: f}
}

func (q *quietMember) commit(sec float64, offset int64) {
	q.k.commit(&inspect.Record{Topic: "t", TopicPartition: 0, Commit: &inspect.OffsetCommit{Offset: offset}}, at(sec).Time)
}

// assess looks once a second from one moment to another, with the end of the log at
// each, and gives the kinds of events with their times.
func (q *quietMember) assess(from, to int, end func(sec int) int64) map[Kind]int {
	q.t.Helper()
	out := map[Kind]int{}
	for sec := from; sec <= to; sec++ {
		q.g.seen = &inspect.Observation{State: "Stable", To: at(float64(sec)), Members: []inspect.ObservedMember{
			{MemberID: "m", Assignment: []inspect.TopicPartitions{{Topic: "t", Partitions: []int32{0}}}}}}
		events, want := q.k.assess(q.g, at(float64(sec)).Time)
		for _, e := range events {
			if out[e.Type] != 0 {
				q.t.Errorf("%s told again at %d s", e.Type, sec)
			}
			out[e.Type] = sec
			if e.Type == MemberAtRisk && e.OutAt != at(70) {
				q.t.Errorf("out at %v, want 60 s after the last commit", e.OutAt)
			}
		}
		if len(want) > 0 {
			q.k.ends(q.g, map[string]map[int32]int64{"t": {0: end(sec)}})
		}
	}
	return out
}

func growing(sec int) int64 { return int64(100 + sec) }

func TestSilenceAndRisk(t *testing.T) {
	q := newQuietMember(t, inspect.Java)
	for sec := 0; sec <= 10; sec++ {
		q.commit(float64(sec), int64(sec))
	}
	got := q.assess(1, 60, growing)
	if got[MemberSilent] != 16 {
		t.Errorf("silent told at %d s, want 16: a tenth of the minute after the last commit at 10", got[MemberSilent])
	}
	if got[MemberAtRisk] != 40 {
		t.Errorf("at risk told at %d s, want 40: half of the minute after the last commit at 10", got[MemberAtRisk])
	}
	q.commit(61, 50)
	if got := q.assess(62, 64, growing); got[MemberSpoke] != 62 {
		t.Errorf("%v: a commit ends the silence", got)
	}
}

func TestSilenceThatIsNone(t *testing.T) {
	for name, c := range map[string]struct {
		before func(*quietMember)
		end    func(int) int64
	}{
		"nothing to read":                        {nil, func(int) int64 { return 10 }},
		"an old backlog that does not grow":      {nil, func(int) int64 { return 500 }},
		"commits every twenty seconds":           {func(q *quietMember) { q.commit(-50, -3); q.commit(-30, -2); q.commit(-10, -1) }, nil},
		"offsets that are never committed":       {func(q *quietMember) { clear(q.k.parts) }, growing},
		"partitions that it has just been given": {func(q *quietMember) { q.g.closed = at(55) }, growing},
	} {
		q := newQuietMember(t, inspect.Java)
		end := c.end
		switch {
		case c.before != nil && end == nil: // the beat decides
			c.before(q)
			q.commit(10, 0)
			end = growing
			if got := q.assess(11, 60, end); len(got) != 0 {
				t.Errorf("%s: %v", name, got)
			}
			continue
		case c.before == nil:
			for sec := 0; sec <= 10; sec++ {
				q.commit(float64(sec), int64(sec))
			}
		default:
			for sec := 0; sec <= 10; sec++ {
				q.commit(float64(sec), int64(sec))
			}
			c.before(q)
		}
		if got := q.assess(11, 58, end); len(got) != 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A timer that commits the same offset again is no sign of work.
func TestFrozenOffset(t *testing.T) {
	q := newQuietMember(t, inspect.Java)
	for sec := 0; sec <= 10; sec++ {
		q.commit(float64(sec), int64(sec))
	}
	for sec := 15; sec <= 60; sec += 5 {
		q.commit(float64(sec), 10)
	}
	if got := q.assess(11, 60, growing); got[MemberSilent] == 0 || got[MemberAtRisk] == 0 {
		t.Errorf("%v", got)
	}
}

// Without a poll check in the client nobody will put a silent member out.
func TestNoRiskWithoutAPollCheck(t *testing.T) {
	q := newQuietMember(t, inspect.FranzGo)
	for sec := 0; sec <= 10; sec++ {
		q.commit(float64(sec), int64(sec))
	}
	got := q.assess(11, 120, growing)
	if got[MemberSilent] == 0 || got[MemberAtRisk] != 0 {
		t.Errorf("%v", got)
	}
}

// TestRiskByAnAssumedInterval: where no record tells the poll interval, the one that a
// configuration or a default gives puts a member at risk, and the event says so.
func TestRiskByAnAssumedInterval(t *testing.T) {
	for name, assumed := range map[string]func(*membership.Member) assume.Value{
		"none is assumed where the log is read": nil,
		"nothing is known of its client":        func(*membership.Member) assume.Value { return assume.Value{} },
		"given": func(*membership.Member) assume.Value {
			return assume.Value{Key: "max.poll.interval.ms", From: "--set", Value: *inspect.Ms(time.Minute)}
		},
	} {
		q := newQuietMember(t, inspect.Java)
		q.g.read.Members["m"].Rebalance, q.k.assumed = nil, assumed
		for sec := 0; sec <= 10; sec++ {
			q.commit(float64(sec), int64(sec))
		}
		got := q.assess(11, 69, growing)
		if want := map[string]int{"given": 40}[name]; got[MemberAtRisk] != want {
			t.Errorf("%s: at risk at %d s, want %d", name, got[MemberAtRisk], want)
		}
	}
}
