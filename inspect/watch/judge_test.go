package watch

import (
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/collect"
)

// desk is a watch of one group without a cluster: the test brings records and polls,
// and moves the clock.
type desk struct {
	*story
	t   *testing.T
	w   *Watcher
	now time.Time
	all []Event
}

func newDesk(t *testing.T, log bool) *desk {
	d := &desk{story: newStory(log), t: t, now: at(0).Time}
	d.w = New(Config{Selection: collect.Selection{Groups: []string{"g"}}, Now: func() time.Time { return d.now }})
	d.w.differ, d.w.info.Log = d.d, log
	d.w.watch("g")
	return d
}

// bring hands one input to the watch at a moment, in seconds.
func (d *desk) bring(sec float64, i input) {
	d.t.Helper()
	d.until(sec)
	d.tell(d.w.take(i))
}

func (d *desk) tell(events []Event) {
	d.t.Helper()
	if err := d.w.tell(events, func(e Event) error { d.all = append(d.all, e); return nil }); err != nil {
		d.t.Fatal(err)
	}
}

// until lets the clock run to a moment.
func (d *desk) until(sec float64) {
	d.t.Helper()
	for d.now.Before(at(sec).Time) {
		d.now = d.now.Add(QuickEvery)
		d.tell(d.w.tick())
	}
}

func (d *desk) rec(sec float64, r inspect.Record) {
	d.t.Helper()
	d.offset++
	r.Group, r.Partition, r.Offset, r.Time = "g", 7, d.offset, at(sec)
	d.bring(sec, input{records: []inspect.Record{r}})
}

// members writes a GroupMetadata record, as story.gen does.
func (d *desk) members(sec float64, generation int32, members ...string) {
	d.t.Helper()
	d.rec(sec, inspect.Record{Type: inspect.RecGroupMetadata, Metadata: metadata(sec, generation, members...)})
}

func (d *desk) commit(sec float64, partition int32, offset int64) {
	d.t.Helper()
	d.rec(sec, inspect.Record{Type: inspect.RecOffsetCommit, Topic: "t", TopicPartition: partition, Commit: &inspect.OffsetCommit{Offset: offset, TopicID: "T"}})
}

func (d *desk) look(sec float64, state string, members ...string) {
	d.t.Helper()
	d.bring(sec, input{polled: []inspect.Observation{*observation(sec, state, members...)}, every: QuickEvery})
}

// causes are the verdicts told, of the incident of an event.
func (d *desk) causes(incident int) []Event {
	var out []Event
	for _, e := range d.all {
		if e.Type == CauseFound && e.Incident == incident {
			out = append(out, e)
		}
	}
	return out
}

// incidentOf is the incident of the first event of a kind with this text in its outline.
func (d *desk) incidentOf(kind Kind, who string) int {
	d.t.Helper()
	for _, e := range d.all {
		if e.Type != kind || e.Incident == 0 {
			continue
		}
		for _, w := range e.Left {
			if w.Label == who {
				return e.Incident
			}
		}
		for _, s := range e.Replaced {
			if s.Label == who {
				return e.Incident
			}
		}
	}
	d.t.Fatalf("no %s of %s with an incident among %v", kind, who, d.all)
	return 0
}

// A static member that restarts rebalances nothing, but its replacement has a cause.
func TestStaticSwapHasACause(t *testing.T) {
	d := newDesk(t, true)
	d.members(0, 1, "a:0,1", "b=pod:2,3")
	for i := range 20 {
		d.commit(float64(i)+1, 2, int64(10*i))
	}
	d.members(30, 1, "a:0,1", "b=pod#2:2,3")
	d.until(35)
	told := d.causes(d.incidentOf(MemberReplaced, "pod"))
	if len(told) != 1 || told[0].Cause != inspect.StaticMemberRestarted {
		t.Errorf("causes %v, want static_member_restarted once", told)
	}
}

// Where nothing tells the cause, that is said, once, and not at once.
func TestUnknownIsToldOnce(t *testing.T) {
	for _, log := range []bool{true, false} {
		d := newDesk(t, log)
		if log {
			d.members(0, 1, "a:0,1", "b:2,3")
			d.members(200, 2, "a:0,1,2,3") // by then its session may have ended
		} else {
			d.look(0, "Stable", "a", "b")
			d.look(200, "PreparingRebalance", "a")
			d.look(200.5, "Stable", "a")
		}
		incident := d.incidentOf(RebalanceDone, "b")
		d.until(210)
		if told := d.causes(incident); len(told) != 0 {
			t.Fatalf("log %t: told after 10 s already: %v", log, told)
		}
		d.until(900)
		told := d.causes(incident)
		if len(told) != 1 || told[0].Cause != inspect.UnknownCause || told[0].Confidence != inspect.Low || len(told[0].Rivals) < 2 {
			t.Errorf("log %t: told %v, want unknown once with what it may have been", log, told)
		}
	}
}

// A KIP-848 member's session timeout is on no record; a snapshot that comes later has
// it, and the cause with it.
func TestASnapshotThatComesLater(t *testing.T) {
	d := newDesk(t, true)
	d.joined(0, 1, "a", 0, 1)
	d.joined(0.2, 2, "b", 2, 3)
	for i := range 80 {
		d.commit(1+float64(i)/2, 0, int64(10*i))
		d.commit(1.2+float64(i)/2, 2, int64(10*i))
	}
	for i := 80; i < 94; i++ { // b is killed at 41, with a session of 6 s
		d.commit(1+float64(i)/2, 0, int64(10*i))
	}
	d.rec(47, inspect.Record{Type: inspect.RecConsumerCurrentAssignment, Member: "b", Tombstone: true})
	d.rec(47, inspect.Record{Type: inspect.RecConsumerMember, Member: "b", Tombstone: true})
	d.rec(47, inspect.Record{Type: inspect.RecConsumerGroupMetadata, Epoch: &inspect.GroupEpoch{Epoch: 3}})
	d.commit(47.5, 2, 990)
	d.until(70)
	incident := d.incidentOf(RebalanceDone, "b")
	if told := d.causes(incident); len(told) == 0 || told[len(told)-1].Cause == inspect.SessionExpired {
		t.Fatalf("told %v without the session timeout, want an answer that is none", told)
	}
	g := inspect.Group{ID: "g", Type: inspect.Consumer, Limits: inspect.Limits{Session: inspect.Ms(6 * time.Second), Heartbeat: inspect.Ms(2 * time.Second)}}
	d.bring(71, input{newcomer: []inspect.Group{g}})
	d.until(75)
	if told := d.causes(incident); told[len(told)-1].Cause != inspect.SessionExpired {
		t.Errorf("told %v with the session timeout, want session_expired at last", told)
	}
}

// joined writes the join of a KIP-848 member that gets two partitions at once.
func (d *desk) joined(sec float64, epoch int32, id string, partitions ...int32) {
	d.t.Helper()
	d.rec(sec, inspect.Record{Type: inspect.RecConsumerMember, Member: id, MemberOf: &inspect.MemberMetadata{ClientID: id, Host: "10.0.0.1",
		Topics: []string{"t"}, Rebalance: inspect.Ms(15 * time.Second)}})
	d.rec(sec, inspect.Record{Type: inspect.RecConsumerGroupMetadata, Epoch: &inspect.GroupEpoch{Epoch: epoch}})
	d.rec(sec, inspect.Record{Type: inspect.RecConsumerCurrentAssignment, Member: id, Current: &inspect.CurrentAssignment{Epoch: epoch,
		Assigned: inspect.Tasks{Active: []inspect.TopicIDPartitions{{TopicID: "T", Partitions: partitions}}}}})
}

// Commits of the new owner show that records had waited: a cause that could not be
// told at first is told when they have come.
func TestACauseIsTakenUpAgain(t *testing.T) {
	d := newDesk(t, true)
	d.members(0, 1, "a:0,1", "b:2,3")
	for i := range 40 {
		d.commit(float64(i)+0.2, 0, int64(10*i))
		d.commit(float64(i)+0.5, 2, int64(10*i))
	}
	for i := 40; i < 86; i++ { // b is killed at 40; its session is 45 s
		d.commit(float64(i)+0.2, 0, int64(10*i))
	}
	d.members(86, 2, "a:0,1,2,3")
	d.commit(86.3, 2, 391) // the new owner has hardly begun
	d.until(87.1)
	incident := d.incidentOf(RebalanceDone, "b")
	if told := d.causes(incident); len(told) != 0 {
		t.Fatalf("told %v before the records that had waited were committed", told)
	}
	d.commit(87.2, 2, 850)
	d.until(100)
	if told := d.causes(incident); len(told) != 1 || told[0].Cause != inspect.SessionExpired {
		t.Errorf("told %v, want session_expired once", told)
	}
}
