package watch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// at is a moment of the test's story, in seconds.
func at(seconds float64) inspect.Time {
	return inspect.At(time.Date(2026, 11, 29, 14, 0, 0, 0, time.UTC).Add(time.Duration(seconds * float64(time.Second))))
}

// story writes records and polls of one group.
type story struct {
	d        *Differ
	assignor string
	offset   int64
	every    time.Duration
	events   []Event
}

func newStory(log bool) *story {
	return &story{d: NewDiffer(Options{Log: log}), assignor: "range", every: 250 * time.Millisecond}
}

// consumer is "client" or "client=instance" or "client#process": the member id is
// the whole text.
func consumer(name string) (id, client string, instance *string) {
	if c, i, ok := strings.Cut(name, "="); ok {
		i, _, _ := strings.Cut(i, "#")
		return name, c, &i
	}
	c, _, _ := strings.Cut(name, "#")
	return name, c, nil
}

// gen writes a GroupMetadata record: members as "a:0,1", whose partitions are of topic t.
func (s *story) gen(sec float64, generation int32, members ...string) []Event {
	m := metadata(sec, generation, members...)
	if m.Protocol != nil {
		m.Protocol = &s.assignor
	}
	return s.record(sec, inspect.Record{Type: inspect.RecGroupMetadata, Metadata: m})
}

func metadata(sec float64, generation int32, members ...string) *inspect.GroupMetadata {
	m := &inspect.GroupMetadata{ProtocolType: "consumer", Generation: generation, StateTime: at(sec - 0.01)}
	if len(members) > 0 {
		protocol, leader := "range", strings.Split(members[0], ":")[0]
		m.Protocol, m.Leader = &protocol, &leader
	}
	for _, text := range members {
		name, owned, _ := strings.Cut(text, ":")
		id, client, instance := consumer(name)
		gm := inspect.GroupMember{MemberID: id, ClientID: client, Host: "10.0.0.1", InstanceID: instance, Topics: []string{"t"},
			Session: inspect.Millis(45 * time.Second), Rebalance: inspect.Millis(5 * time.Minute)}
		for _, p := range strings.Split(owned, ",") {
			var n int32
			if _, err := fmt.Sscan(p, &n); err == nil {
				gm.Assigned = append(gm.Assigned, inspect.TopicPartitions{Topic: "t", Partitions: []int32{n}})
			}
		}
		m.Members = append(m.Members, gm)
	}
	return m
}

func (s *story) record(sec float64, r inspect.Record) []Event {
	s.offset++
	r.Group, r.Partition, r.Offset, r.Time = "g", 7, s.offset, at(sec)
	return s.keep(s.d.Record(&r, at(sec)))
}

func (s *story) keep(e []Event) []Event {
	s.events = append(s.events, e...)
	return e
}

// poll is a describe that saw these members; state as DescribeGroups spells it.
func (s *story) poll(sec float64, state string, members ...string) []Event {
	return s.keep(s.d.Observe(observation(sec, state, members...), s.every))
}

func observation(sec float64, state string, members ...string) *inspect.Observation {
	o := &inspect.Observation{Group: "g", From: at(sec), To: at(sec), State: state, Coordinator: 1, Members: []inspect.ObservedMember{}}
	for _, text := range members {
		id, client, instance := consumer(text)
		o.Members = append(o.Members, inspect.ObservedMember{MemberID: id, ClientID: client, Host: "10.0.0.1", InstanceID: instance})
	}
	return o
}

func (s *story) failed(sec float64, why string) []Event {
	return s.keep(s.d.Observe(&inspect.Observation{Group: "g", From: at(sec), To: at(sec), Coordinator: 1, Error: why}, s.every))
}

// outline is a short text of an event, for comparison.
func outline(e Event) string {
	s := string(e.Type)
	if e.Generation != nil {
		s += fmt.Sprintf(" %d", *e.Generation)
	}
	for _, w := range e.Left {
		s += " -" + w.Label
	}
	for _, w := range e.Joined {
		s += " +" + w.Label
		if w.BackAfter != nil {
			s += fmt.Sprintf("(back %s)", w.BackAfter.Duration())
		}
		if w.Ambiguous {
			s += "?"
		}
	}
	for _, w := range e.Replaced {
		s += " ~" + w.Label
	}
	for _, c := range e.Changes {
		s += " [" + c.String() + "]"
	}
	if p := pauseOf(e); p != "" {
		s += " paused " + p
	}
	if e.Skipped > 0 {
		s += fmt.Sprintf(" skipped %d", e.Skipped)
	}
	if e.Cooperative {
		s += " cooperative"
	}
	if e.Incident > 0 {
		s += fmt.Sprintf(" #%d", e.Incident)
	}
	return s
}

func want(t *testing.T, got []Event, outlines ...string) {
	t.Helper()
	var have []string
	for _, e := range got {
		have = append(have, outline(e))
	}
	if !slices.Equal(have, outlines) {
		t.Errorf("got:\n  %s\nwant:\n  %s", strings.Join(have, "\n  "), strings.Join(outlines, "\n  "))
	}
}

func seed(s *story, generation int32, members ...string) {
	g := &inspect.Group{ID: "g", Type: inspect.Classic, State: "Stable", Generation: &generation, GenerationBasis: "record", Leader: members[0], Assignor: "range"}
	for _, name := range members {
		id, client, instance := consumer(name)
		g.Members = append(g.Members, inspect.Member{MemberID: id, ClientID: client, Host: "10.0.0.1", InstanceID: instance,
			Session: inspect.Ms(45 * time.Second), Rebalance: inspect.Ms(5 * time.Minute), Topics: []string{"t"}})
	}
	s.d.Seed(g)
}

// pauseOf are the bounds of a pause as "10ms..3.1s"; an open end is unknown.
func pauseOf(e Event) string {
	var least, most string
	switch {
	case e.StoppedBasis == "":
		return ""
	case e.Stopped != nil:
		least = e.Stopped.Duration().String()
	}
	if e.StoppedAtMost != nil {
		most = e.StoppedAtMost.Duration().String()
	}
	return least + ".." + most + " " + e.StoppedBasis
}

// A member goes, the survivor takes over, and it comes back: the record tells the
// generation, the polls tell the departure and bound how long members were paused.
func TestDepartureAndReturn(t *testing.T) {
	s := newStory(true)
	seed(s, 45, "a", "b")
	want(t, s.poll(0, "Stable", "a", "b"))
	want(t, s.poll(0.25, "PreparingRebalance", "a"), "rebalance_started -b #1")
	want(t, s.poll(0.5, "PreparingRebalance", "a"))
	want(t, s.poll(3, "CompletingRebalance", "a"))
	got := s.gen(3.1, 46, "a:0,1")
	want(t, got, "rebalance 46 -b paused 10ms..3.1s observed #1")
	if b := got[0].Left[0].LeftBetween; b[0] != at(0) || b[1] != at(0.25) {
		t.Errorf("left between %v and %v: want the two polls, not the record", b[0], b[1])
	}
	if p := got[0].PreviousGeneration; p == nil || *p != 45 || *got[0].Members != 1 || got[0].Source != FromBoth {
		t.Errorf("%+v", got[0])
	}
	want(t, s.poll(3.25, "Stable", "a"))
	want(t, s.poll(60, "PreparingRebalance", "a", "b#2"), "rebalance_started +b #1")
	want(t, s.gen(61, 47, "a:0", "b#2:1"), "rebalance 47 +b(back 1m0.75s) paused 10ms..57.75s observed #1")
}

// Only the record is exact about the generation: without a poll in between, records alone
// bound how long members were paused.
func TestRebalanceBetweenTwoPolls(t *testing.T) {
	s := newStory(true)
	seed(s, 1, "a")
	s.poll(0, "Stable", "a")
	s.poll(0.25, "Stable", "a")
	got := s.gen(0.4, 2, "a", "b")
	want(t, got, "rebalance 2 +b paused 10ms.. at_least #1")
	want(t, s.poll(0.5, "Stable", "a", "b"))
	got = s.gen(0.7, 3, "a")
	want(t, got, "rebalance 3 -b paused 10ms..300ms at_least #2")
	if b := got[0].Left[0].LeftBetween; b[0] != at(0.5) || b[1] != at(0.69) {
		t.Errorf("left between %v and %v: want the last poll that saw it, and the end of the join", b[0], b[1])
	}
}

// Records that are read twice, or after a change of coordinator again, tell nothing.
func TestNothingIsToldTwice(t *testing.T) {
	s := newStory(true)
	seed(s, 5, "a")
	want(t, s.gen(1, 5, "a")) // the snapshot knew it
	want(t, s.gen(2, 6, "a", "b"), "rebalance 6 +b paused 10ms.. at_least #1")
	s.offset -= 2
	want(t, s.gen(1, 5, "a"))
	want(t, s.gen(2, 6, "a", "b"))
	s.offset += 10
	want(t, s.gen(2, 6, "a", "b")) // appended again
	want(t, s.gen(9, 9, "a", "b"), "rebalance 9 paused 10ms..7s at_least skipped 2 #2")
}

func TestCoordinatorDies(t *testing.T) {
	s := newStory(true)
	seed(s, 5, "a")
	s.poll(0, "Stable", "a")
	want(t, s.failed(0.25, "broker 1 refuses connections"))
	want(t, s.failed(0.5, "broker 1 refuses connections"))
	want(t, s.failed(1.5, "broker 1 refuses connections"), "source_lost")
	want(t, s.failed(2.5, "broker 1 refuses connections"))
	o := observation(4, "Stable", "a")
	o.Coordinator = 2
	got := s.keep(s.d.Observe(o, s.every))
	want(t, got, "source_back", "coordinator_moved")
	if *got[1].PreviousCoordinator != 1 || *got[1].Coordinator != 2 {
		t.Errorf("%+v", got[1])
	}
	want(t, s.gen(20, 6, "a", "b"), "rebalance 6 +b paused 10ms.. at_least #1")
}

func TestStaticMemberReplaced(t *testing.T) {
	s := newStory(true)
	seed(s, 3, "a=i1", "b=i2")
	want(t, s.gen(10, 3, "a=i1", "b=i2#new"), "member_replaced 3 ~i2 #1")
}

func TestRestartWithinSession(t *testing.T) {
	s := newStory(true)
	seed(s, 3, "a", "b#1")
	want(t, s.gen(10, 4, "a", "b#2"), "rebalance 4 ~b paused 10ms.. at_least #1")
}

// Several members of the same client id and host: who came back for whom is not known.
func TestAmbiguousReplacement(t *testing.T) {
	s := newStory(true)
	seed(s, 3, "x#1", "x#2", "x#3")
	got := s.gen(10, 4, "x#1", "x#4", "x#5")
	if len(got) != 1 || len(got[0].Replaced) != 2 || !got[0].Replaced[0].Ambiguous || !got[0].Replaced[1].Ambiguous {
		t.Fatalf("%+v", got)
	}
	s = newStory(true)
	seed(s, 3, "x#1", "x#2", "x#3")
	want(t, s.gen(10, 4, "x#1"), "rebalance 4 -x@10.0.0.1/x#2 -x@10.0.0.1/x#3 paused 10ms.. at_least #1")
	want(t, s.gen(20, 5, "x#1", "x#9"), "rebalance 5 +x@10.0.0.1/x#9? paused 10ms..10s at_least #1")
}

// A cooperative join takes two generations; it is one rebalance.
func TestCooperativeSecondStep(t *testing.T) {
	s := newStory(true)
	s.assignor = "cooperative-sticky"
	s.gen(0, 1, "a:0,1")
	s.gen(10, 2, "a:0", "b")
	got := s.gen(12, 3, "a:0", "b:1")
	want(t, got, "rebalance 3 cooperative #2")
	n := 0
	for i := range s.events {
		if s.events[i].CountsAsRebalance() {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d rebalances, want 2", n)
	}
	want(t, s.gen(20, 4, "a:0", "b:1,2"), "rebalance 4 paused 0s..0s estimated #3") // a new partition is no second step
}

func TestSettingsChange(t *testing.T) {
	s := newStory(true)
	seed(s, 1, "a", "b")
	m := func(gen int32, edit func(*inspect.GroupMetadata)) []Event {
		protocol, leader := "range", "a"
		meta := &inspect.GroupMetadata{Generation: gen, Protocol: &protocol, Leader: &leader}
		for _, name := range []string{"a", "b"} {
			meta.Members = append(meta.Members, inspect.GroupMember{MemberID: name, ClientID: name, Host: "10.0.0.1", Topics: []string{"t"},
				Session: inspect.Millis(45 * time.Second), Rebalance: inspect.Millis(5 * time.Minute)})
		}
		edit(meta)
		return s.record(float64(gen), inspect.Record{Type: inspect.RecGroupMetadata, Metadata: meta})
	}
	sticky, b := "sticky", "b"
	want(t, m(2, func(g *inspect.GroupMetadata) { g.Protocol = &sticky; g.Leader = &b }), "rebalance 2 [leader a -> b] [assignor range -> sticky] #1")
	want(t, m(3, func(g *inspect.GroupMetadata) {
		g.Protocol, g.Leader = &sticky, &b
		g.Members[1].Topics = []string{"u", "t"}
		g.Members[0].Session = inspect.Millis(10 * time.Second)
		g.Members[0].Rebalance = inspect.Millis(time.Minute)
	}), "rebalance 3 [a session timeout 45s -> 10s] [a rebalance timeout 5m -> 1m] [b subscription t -> t,u] paused ..1s at_most #2")
}

func TestGroupComesAndGoes(t *testing.T) {
	s := newStory(true)
	want(t, s.poll(0, "Dead"))
	want(t, s.record(1, inspect.Record{Type: inspect.RecGroupMetadata, Metadata: &inspect.GroupMetadata{}}), "appeared")
	want(t, s.gen(2, 1, "a"), "rebalance 1 +a #1")
	want(t, s.poll(2.25, "Stable", "a"))
	want(t, s.gen(9, 2), "rebalance 2 -a #2") // nobody is left to stand still
	want(t, s.record(10, inspect.Record{Type: inspect.RecGroupMetadata, Tombstone: true}))
	want(t, s.poll(10.25, "Dead"), "deleted")
	want(t, s.gen(20, 1, "a"), "appeared", "rebalance 1 +a(back 11s) #2")
}

// Without the log: members and states from polls, the generation as a lower bound.
func TestPollsAlone(t *testing.T) {
	s := newStory(false)
	bound := func(o *inspect.Observation, n int32) *inspect.Observation { o.GenerationBound = &n; return o }
	see := func(o *inspect.Observation) []Event { return s.keep(s.d.Observe(o, s.every)) }
	want(t, see(bound(observation(0, "Stable", "a", "b"), 4)), "appeared")
	s.d.group("g").read.Describe(&inspect.Group{Assignor: "range"})
	want(t, see(bound(observation(0.25, "Stable", "a", "b"), 4)))
	want(t, see(observation(0.5, "PreparingRebalance", "a")), "rebalance_started -b #1")
	want(t, see(observation(2, "CompletingRebalance", "a")))
	got := see(bound(observation(2.5, "Stable", "a"), 5))
	want(t, got, "rebalance 5 -b paused ..2.25s observed #1")
	if got[0].GenerationBasis != "lower_bound" || got[0].Source != FromPoll {
		t.Errorf("%+v", got[0])
	}
	// A rebalance that no poll saw running.
	want(t, see(bound(observation(2.75, "Stable", "a", "c"), 6)), "rebalance 6 +c paused ..250ms observed #2")
	want(t, see(bound(observation(3, "Stable", "a", "c"), 7)), "rebalance 7 paused ..250ms observed #3") // nothing but the bound moved
	want(t, see(observation(4, "Empty")), "rebalance 8 -a -c #4")                                        // a rebalance raises the generation
}

func member848(client string) *inspect.MemberMetadata {
	return &inspect.MemberMetadata{ClientID: client, Host: "10.0.0.1", Topics: []string{"t"}, Rebalance: inspect.Ms(5 * time.Minute)}
}

// A KIP-848 join: the batch of records, then each member's way to the new epoch.
func TestServerSideRebalance(t *testing.T) {
	s := newStory(true)
	epoch := int32(11)
	g := &inspect.Group{ID: "g", Type: inspect.Consumer, State: "Stable", Epoch: &epoch}
	g.Members = []inspect.Member{{MemberID: "m1", ClientID: "a", Host: "10.0.0.1", Epoch: &epoch, Topics: []string{"t"}, Rebalance: inspect.Ms(5 * time.Minute)}}
	s.d.Seed(g)
	want(t, s.record(0, inspect.Record{Type: inspect.RecConsumerMember, Member: "m2", MemberOf: member848("b")}))
	got := s.record(0, inspect.Record{Type: inspect.RecConsumerGroupMetadata, Epoch: &inspect.GroupEpoch{Epoch: 12}})
	want(t, got, "rebalance 12 +b #1")
	if got[0].GenerationBasis != "epoch" || *got[0].PreviousGeneration != 11 || *got[0].Members != 2 {
		t.Errorf("%+v", got[0])
	}
	current := func(sec float64, id string, epoch int32, state int8) []Event {
		return s.record(sec, inspect.Record{Type: inspect.RecConsumerCurrentAssignment, Member: id, Current: &inspect.CurrentAssignment{Epoch: epoch, State: state}})
	}
	want(t, current(0, "m2", 12, inspect.MemberUnreleased))
	want(t, current(3.1, "m1", 11, inspect.MemberUnrevoked))
	want(t, current(3.2, "m1", 12, inspect.MemberStable))
	got = current(5, "m2", 12, inspect.MemberStable)
	want(t, got, "converged 12 #1")
	if got[0].Converged.Duration() != 5*time.Second || got[0].Last != "b" {
		t.Errorf("%+v", got[0])
	}
	// A departure: tombstones first, then the epoch.
	s.record(9, inspect.Record{Type: inspect.RecConsumerCurrentAssignment, Member: "m2", Tombstone: true})
	s.record(9, inspect.Record{Type: inspect.RecConsumerMember, Member: "m2", Tombstone: true})
	got = s.record(9, inspect.Record{Type: inspect.RecConsumerGroupMetadata, Epoch: &inspect.GroupEpoch{Epoch: 13}})
	want(t, got, "rebalance 13 -b #2")
	want(t, current(11, "m1", 13, inspect.MemberStable), "converged 13 #2")
	// The pattern matches one topic more.
	s.record(12, inspect.Record{Type: inspect.RecConsumerRegularExpression, Regex: "pay.*", Matched: &inspect.RegexTopics{Topics: []string{"pay.a"}}})
	s.record(20, inspect.Record{Type: inspect.RecConsumerRegularExpression, Regex: "pay.*", Matched: &inspect.RegexTopics{Topics: []string{"pay.a", "pay.b"}}})
	want(t, s.record(20, inspect.Record{Type: inspect.RecConsumerGroupMetadata, Epoch: &inspect.GroupEpoch{Epoch: 14}}), "rebalance 14 [pay.* matches pay.b] #3")
}

// A static KIP-848 member that restarts writes tombstones and its successor without a
// new epoch.
func TestServerSideStaticRestart(t *testing.T) {
	s := newStory(true)
	epoch, instance := int32(3), "i1"
	s.d.Seed(&inspect.Group{ID: "g", Type: inspect.Consumer, Epoch: &epoch,
		Members: []inspect.Member{{MemberID: "old", ClientID: "a", Host: "10.0.0.1", InstanceID: &instance, Epoch: &epoch}}})
	got := s.record(1, inspect.Record{Type: inspect.RecConsumerCurrentAssignment, Member: "old", Current: &inspect.CurrentAssignment{Epoch: inspect.StaticLeaveEpoch}})
	want(t, got, "member_left -i1 #1")
	// In the order in which the coordinator writes them: the story begins with the first.
	s.record(4, inspect.Record{Type: inspect.RecConsumerCurrentAssignment, Member: "old", Tombstone: true})
	first := s.offset
	s.record(4, inspect.Record{Type: inspect.RecConsumerMember, Member: "old", Tombstone: true})
	next := member848("a")
	next.InstanceID = &instance
	s.record(4, inspect.Record{Type: inspect.RecConsumerMember, Member: "new", MemberOf: next})
	want(t, s.d.Tick(at(4.5)))
	want(t, s.keep(s.d.Tick(at(6))), "member_replaced 3 ~i1 #1")
	if got, want := s.events[len(s.events)-1].Record, "7:"+strconv.FormatInt(first, 10); got != want {
		t.Errorf("record %s, want %s: a verdict is found by it", got, want)
	}
	want(t, s.d.Tick(at(8)))
}

func TestProtocolUpgrade(t *testing.T) {
	s := newStory(true)
	seed(s, 7, "a")
	s.record(1, inspect.Record{Type: inspect.RecGroupMetadata, Tombstone: true})
	s.record(1, inspect.Record{Type: inspect.RecConsumerMember, Member: "a", MemberOf: &inspect.MemberMetadata{ClientID: "a", Host: "10.0.0.1", Topics: []string{"t"}}})
	want(t, s.record(1, inspect.Record{Type: inspect.RecConsumerGroupMetadata, Epoch: &inspect.GroupEpoch{Epoch: 8}}), "rebalance 8 [protocol classic -> consumer] #1")
}

// A log whose end was taken back by an unclean election starts to count anew.
func TestTruncatedLog(t *testing.T) {
	s := newStory(true)
	seed(s, 1, "a")
	want(t, s.gen(1, 2, "a", "b"), "rebalance 2 +b paused 10ms.. at_least #1")
	want(t, s.gen(2, 3, "a"), "rebalance 3 -b paused 10ms..1s at_least #2")
	s.offset -= 2
	s.d.Truncated(7, s.offset)
	want(t, s.gen(9, 2, "a", "c"), "rebalance 2 +c paused 10ms..7s at_least #3")
	if s.events[len(s.events)-1].Why == "" {
		t.Error("a generation that went back needs a word")
	}
}

func TestEventIDsAscend(t *testing.T) {
	s := newStory(true)
	seed(s, 1, "a")
	s.gen(1, 2, "a", "b")
	s.gen(2, 3, "a")
	for i, e := range s.events {
		if e.ID != fmt.Sprint(i+1) {
			t.Errorf("event %d has the id %s", i, e.ID)
		}
	}
}

// FuzzDiffer feeds any order of records and polls: events are numbered in order, no
// generation is told twice in a row, and nothing panics.
func FuzzDiffer(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, true)
	f.Add([]byte{1, 1, 9, 9, 2, 2, 40, 41, 42, 80, 81, 120, 200, 255}, false)
	f.Fuzz(func(t *testing.T, steps []byte, log bool) {
		s := newStory(log)
		if len(steps) > 300 {
			steps = steps[:300]
		}
		generation, names := int32(0), []string{"a", "b#1", "b#2", "c=i", "c=i#2"}
		for i, b := range steps {
			sec := float64(i)
			members := names[:int(b>>3)%(len(names)+1)]
			switch b % 8 {
			case 0, 1:
				generation++
				s.gen(sec, generation, members...)
			case 2:
				s.gen(sec, generation, members...)
			case 3:
				s.record(sec, inspect.Record{Type: inspect.RecordType(b % 24), Member: "m", Tombstone: b > 100})
			case 4:
				s.record(sec, inspect.Record{Type: inspect.RecConsumerMember, Member: names[int(b)%len(names)], MemberOf: member848("x")})
				s.record(sec, inspect.Record{Type: inspect.RecConsumerGroupMetadata, Epoch: &inspect.GroupEpoch{Epoch: int32(b)}})
			case 5:
				s.poll(sec, []string{"Stable", "PreparingRebalance", "Dead", "Empty"}[b%4], members...)
			case 6:
				s.failed(sec, "gone")
			case 7:
				s.keep(s.d.Tick(at(sec)))
			}
		}
		for i, e := range s.events {
			if e.ID != fmt.Sprint(i+1) || e.Group != "g" || e.Time.IsZero() {
				t.Fatalf("event %d: %+v", i, e)
			}
		}
	})
}
