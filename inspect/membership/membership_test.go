package membership_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/membership"
)

func at(seconds float64) inspect.Time {
	return inspect.At(time.Date(2026, 11, 29, 14, 0, 0, 0, time.UTC).Add(time.Duration(seconds * float64(time.Second))))
}

// log writes the records of a group and keeps what each changed.
type log struct {
	g       *membership.Group
	records []*inspect.Record
	changes []membership.Change
}

func newLog() *log { return &log{g: membership.New(membership.Options{})} }

func (l *log) record(sec float64, r inspect.Record) []membership.Change {
	r.Group, r.Partition, r.Offset, r.Time = "g", 3, int64(len(l.records)), at(sec)
	l.records = append(l.records, &r)
	got := l.g.Record(&r)
	l.changes = append(l.changes, got...)
	return got
}

// gen writes a classic generation: members as "id client:partitions", "id client=instance".
func (l *log) gen(sec float64, generation int32, assignor string, members ...string) []membership.Change {
	md := &inspect.GroupMetadata{ProtocolType: "consumer", Generation: generation, Protocol: &assignor}
	for _, text := range members {
		who, owned, _ := strings.Cut(text, ":")
		id, client, _ := strings.Cut(who, " ")
		m := inspect.GroupMember{MemberID: id, Host: "h"}
		if c, instance, ok := strings.Cut(client, "="); ok {
			m.ClientID, m.InstanceID = c, &instance
		} else {
			m.ClientID = client
		}
		for _, p := range owned {
			m.Assigned = append(m.Assigned, inspect.TopicPartitions{Topic: "t", Partitions: []int32{p - '0'}})
		}
		md.Members = append(md.Members, m)
	}
	return l.record(sec, inspect.Record{Type: inspect.RecGroupMetadata, Metadata: md})
}

func (l *log) member(sec float64, id, instance string, rebalance time.Duration) []membership.Change {
	m := &inspect.MemberMetadata{ClientID: "c-" + id, Host: "h", Topics: []string{"t"}, Rebalance: inspect.Ms(rebalance)}
	if instance != "" {
		m.InstanceID = &instance
	}
	return l.record(sec, inspect.Record{Type: inspect.RecConsumerMember, Member: id, MemberOf: m})
}

func (l *log) gone(sec float64, id string) []membership.Change {
	return l.record(sec, inspect.Record{Type: inspect.RecConsumerCurrentAssignment, Member: id, Tombstone: true})
}

func (l *log) epoch(sec float64, n int32) []membership.Change {
	return l.record(sec, inspect.Record{Type: inspect.RecConsumerGroupMetadata, Epoch: &inspect.GroupEpoch{Epoch: n}})
}

func (l *log) current(sec float64, id string, epoch int32) []membership.Change {
	return l.record(sec, inspect.Record{Type: inspect.RecConsumerCurrentAssignment, Member: id,
		Current: &inspect.CurrentAssignment{Epoch: epoch, State: inspect.MemberStable}})
}

// outline is a short text of changes.
func outline(changes []membership.Change) string {
	names := []string{"rebalanced", "continued", "swapped", "deleted", "created", "away", "converged", "edited"}
	var out []string
	for _, c := range changes {
		s := names[c.Kind]
		if c.Step != nil {
			s += fmt.Sprint(" ", c.Step.Generation)
			for _, m := range c.Step.Joined {
				s += " +" + m.ID
			}
			for _, d := range c.Step.Left {
				s += " -" + d.Member.ID
				if d.Swap != nil {
					s += "~" + d.Swap.ID
				}
			}
			for _, r := range c.Step.Replaced {
				s += " " + r.Old.ID + "~" + r.New.ID
			}
		}
		if c.Who != nil {
			s += " by " + c.Who.ID
		}
		for _, m := range c.Joined {
			s += " +" + m.ID
		}
		for _, e := range c.Edits {
			s += " *" + e.New.ID
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

func want(t *testing.T, got []membership.Change, text string) {
	t.Helper()
	if o := outline(got); o != text {
		t.Errorf("got %q, want %q", o, text)
	}
}

// Who took whose place: by client id and host, never by an empty client id, by instance
// id without a rebalance.
func TestReplacements(t *testing.T) {
	l := newLog()
	want(t, l.gen(0, 1, "range", "a1 a:0", "x1 :1", "s1 s=i:2"), "rebalanced 1 +a1 +s1 +x1")
	want(t, l.gen(10, 2, "range", "a2 a:0", "x2 :1", "s1 s=i:2"), "rebalanced 2 +a2 +x2 -a1~a2 -x1")
	want(t, l.gen(20, 2, "range", "a2 a:0", "x2 :1", "s2 s=i:2"), "swapped 2 s1~s2")
	got := l.gen(30, 3, "range", "a2 a:0", "x2 :1", "s3 s=i:2")
	want(t, got, "rebalanced 3 +s3 -s2~s3")
	if held := got[0].Step.Left[0].Held; held[membership.TopicPartition{Topic: "t", Partition: 2}] != 0 {
		t.Errorf("held %v: the partition came with the first record, and stayed with the instance", held)
	}
	want(t, l.gen(40, 3, "range", "a2 a:0", "x2 :1", "s3 s=i:2"), "edited")
}

// Only what the first half of a cooperative rebalance took away makes a second half, and
// an eager assignor has none.
func TestSecondHalf(t *testing.T) {
	for assignor, halves := range map[string]string{"cooperative-sticky": "continued 3 +b", "range": "rebalanced 3"} {
		l := newLog()
		l.gen(0, 1, assignor, "a a:01")
		want(t, l.gen(10, 2, assignor, "a a:0", "b b:"), "rebalanced 2 +b")
		want(t, l.gen(11, 3, assignor, "a a:0", "b b:1"), halves)
		got := l.gen(20, 4, assignor, "a a:0", "b b:12")
		want(t, got, "rebalanced 4")
		if grown := got[0].Step.Grown; len(grown) != 1 || grown[0].Partition != 2 {
			t.Errorf("%s: grown %v, want the new partition", assignor, grown)
		}
	}
}

// A coordinator writes a batch at once: what comes later belongs to no epoch that was
// read before, and a replaced static member brings none.
func TestBatches(t *testing.T) {
	l := newLog()
	want(t, l.member(0, "a", "", time.Minute), "")
	want(t, l.member(0.01, "s1", "i", time.Minute), "")
	want(t, l.epoch(0.02, 1), "rebalanced 1 +a +s1")
	want(t, l.gone(5, "s1"), "")
	want(t, l.member(5, "s2", "i", time.Minute), "")
	if !l.g.Waiting() {
		t.Error("a member came, and nothing waits for its epoch")
	}
	want(t, l.member(5.2, "a", "", time.Hour), "swapped 1 s1~s2")
	want(t, l.g.Flush(), "edited *a")
	want(t, l.g.Flush(), "")
	want(t, l.gone(9, "a"), "")
	got := l.record(9, inspect.Record{Type: inspect.RecConsumerGroupMetadata, Tombstone: true})
	want(t, got, "deleted 1")
	if n := len(got[0].Step.Before); n != 2 {
		t.Errorf("%d members before the group was deleted, want 2", n)
	}
}

// A share group's departure is written as an epoch without a target; the epoch that the
// next heartbeat brings assigns the partitions and is no rebalance of its own.
func TestShareDeparture(t *testing.T) {
	l := newLog()
	write := func(sec float64, types ...inspect.RecordType) (got []membership.Change) {
		for _, rt := range types {
			r := inspect.Record{Type: rt}
			switch rt {
			case inspect.RecShareGroupMetadata:
				n, _ := l.g.Generation()
				r.Epoch = &inspect.GroupEpoch{Epoch: n + 1}
			case inspect.RecShareStatePartitions:
				r.ShareInit = &inspect.ShareStateTopics{Initialized: []inspect.TopicPartitions{{Topic: "t", Partitions: []int32{0}}}}
			}
			got = append(got, l.record(sec, r)...)
		}
		return got
	}
	const epoch, target, state = inspect.RecShareGroupMetadata, inspect.RecShareTargetMetadata, inspect.RecShareStatePartitions
	member := func(sec float64, id string, gone bool) {
		r := inspect.Record{Type: inspect.RecShareMember, Member: id, Tombstone: gone, MemberOf: &inspect.MemberMetadata{ClientID: "c-" + id, Host: "h", Topics: []string{"t"}}}
		l.record(sec, r)
	}
	member(0, "a", false)
	want(t, write(0, epoch, target), "rebalanced 1 +a")
	want(t, write(3, state), "")
	got := write(8, epoch, target)
	want(t, got, "rebalanced 2")
	if topics := got[0].Step.Topics; topics != "share partitions were initialised" {
		t.Errorf("the second epoch is said to be of %q", topics)
	}
	member(20, "b", false)
	want(t, write(20, epoch, target), "rebalanced 3 +b")
	member(40, "b", true)
	want(t, write(40, epoch), "rebalanced 4 -b")
	got = write(41, epoch, target)
	want(t, got, "continued 5 -b")
	if s := got[0].Step; !slices.Equal(s.Generations, []int32{4, 5}) || s.EndAt.Sub(s.At) != time.Second {
		t.Errorf("epochs %v in %v, want 4 and 5 in a second", s.Generations, s.EndAt.Sub(s.At))
	}
	want(t, write(60, epoch, target), "rebalanced 6") // nobody went: something else
}

// Nobody waits for a static member that is away; a member that takes a place meanwhile
// does not end the convergence.
func TestConvergence(t *testing.T) {
	l := newLog()
	l.member(0, "a", "", time.Minute)
	l.member(0, "s1", "i", time.Minute)
	l.epoch(0, 1)
	want(t, l.current(1, "a", 1), "")
	want(t, l.record(2, inspect.Record{Type: inspect.RecConsumerCurrentAssignment, Member: "s1",
		Current: &inspect.CurrentAssignment{Epoch: inspect.StaticLeaveEpoch}}), "away by s1; converged 1 +a +s1")
	l.member(10, "b", "", time.Minute)
	l.epoch(10, 2)
	l.gone(11, "s1")
	l.member(11, "s2", "i", time.Minute)
	want(t, l.current(12, "s2", 2), "swapped 2 s1~s2")
	want(t, l.current(13, "b", 2), "")
	got := l.current(14, "a", 2)
	want(t, got, "converged 2 +b by a")
	if s := got[0].Step; s.Converged.Sub(s.At) != 4*time.Second {
		t.Errorf("converged after %v, want 4 s", s.Converged.Sub(s.At))
	}
}

// The beginning is no news: what a window happens to begin with, or a snapshot knew.
func TestBeginnings(t *testing.T) {
	l := newLog()
	got := l.gen(0, 7, "range", "a a:0")
	want(t, got, "rebalanced 7")
	if !got[0].Step.Base {
		t.Error("nothing is known of what was before the first record")
	}
	l = newLog()
	generation := int32(7)
	l.g.Start(&inspect.Group{Type: inspect.Classic, Generation: &generation, GenerationBasis: "record", StateSince: at(5),
		Members: []inspect.Member{{MemberID: "a", ClientID: "a", Host: "h"}}})
	want(t, l.gen(4, 6, "range", "b b:0"), "")
	want(t, l.gen(5, 7, "range", "a a:0"), "edited")
	want(t, l.gen(9, 8, "range", "a a:0", "b b:1"), "rebalanced 8 +b")
}

// A departure is after the last poll that saw the member, also where it had gone and come
// back before.
func TestPollsBoundADeparture(t *testing.T) {
	var p membership.Polls
	see := func(sec float64, members ...string) {
		o := inspect.Observation{From: at(sec), To: at(sec), State: "Stable"}
		for _, id := range members {
			o.Members = append(o.Members, inspect.ObservedMember{MemberID: id})
		}
		p.Add(o)
	}
	see(0, "a", "b")
	see(1, "a", "b")
	see(2, "a")
	see(60, "a", "b")
	see(61, "a")
	see(90, "a", "b")
	if len(p) != 5 {
		t.Errorf("%d runs, want 5: the first two polls saw the same", len(p))
	}
	for by, bounds := range map[float64][2]float64{2.5: {1, 2}, 62: {60, 61}} {
		with, without, ok := p.Left("b", at(by).Time)
		if !ok || !with.Equal(at(bounds[0]).Time) || !without.Equal(at(bounds[1]).Time) {
			t.Errorf("by %v s: left between %v and %v (%v), want %v s", by, with, without, ok, bounds)
		}
	}
	if _, _, ok := p.Left("b", at(100).Time); ok {
		t.Error("a member that is there has not left")
	}
}

// Members are named alike everywhere.
func TestLabels(t *testing.T) {
	instance, none := "pod-1", ""
	all := map[string]*membership.Member{}
	for _, m := range []*membership.Member{{ID: "1", ClientID: "one", Host: "h"}, {ID: "2", ClientID: "two", Host: "h"}, {ID: "3", ClientID: "two", Host: "i"},
		{ID: "id-4444", ClientID: "twin", Host: "h"}, {ID: "id-5555", ClientID: "twin", Host: "h"}, {ID: "6", ClientID: "one", Host: "h", InstanceID: &instance},
		{ID: "7"}, {ID: "8", ClientID: "empty", InstanceID: &none}} {
		all[m.ID] = m
	}
	var got []string
	for _, m := range membership.ByID(all) {
		got = append(got, membership.Label(m, all))
	}
	if want := []string{"one", "two@h", "two@i", "pod-1", "7", "empty", "twin@h/4444", "twin@h/5555"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
