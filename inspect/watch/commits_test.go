package watch

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/collect"
	"github.com/kgdiag/kgdiag/inspect/membership"
)

// answer is what a poll at a moment saw: partition 0 of topic t at an offset.
func answer(second float64, offset int64, problem string) *collect.Committed {
	asked := at(0).Add(time.Duration(second * float64(time.Second)))
	c := &collect.Committed{Group: "g", Asked: inspect.At(asked), Answered: inspect.At(asked.Add(10 * time.Millisecond)), Error: problem}
	if problem == "" && offset >= 0 {
		c.Offsets = []collect.CommittedOffset{{Topic: "t", Partition: 0, Offset: offset}}
	}
	return c
}

// Two answers that differ are a commit between them; the first one, and one that repeats
// the other, are none, and a poll that failed makes the interval longer.
func TestDifferentOffsetsAreCommits(t *testing.T) {
	var k offsets
	var got []string
	for _, c := range []*collect.Committed{answer(0, 5, ""), answer(1, 5, ""), answer(2, 7, ""), answer(3, 0, "refused"), answer(4, 0, "refused"), answer(5, 9, ""), answer(6, 3, "")} {
		for _, r := range k.take(c) {
			got = append(got, fmt.Sprintf("%d after %g by %g", r.Commit.Offset, r.Commit.After.Sub(at(0).Time).Seconds(), r.Time.Sub(at(0).Time).Seconds()))
			if !r.Polled() || r.Group != "g" || r.Topic != "t" || !r.Commit.Time.Equal(r.Time.Time) {
				t.Errorf("%+v", r)
			}
		}
	}
	want := []string{"7 after 1 by 2.01", "9 after 2 by 5.01", "3 after 5 by 6.01"}
	if !slices.Equal(got, want) {
		t.Errorf("commits %q, want %q", got, want)
	}
	gaps := k.gaps()
	if len(gaps) != 1 || gaps[0].Fact != inspect.FactCommits || gaps[0].Why != "refused" || gaps[0].Group != "g" {
		t.Errorf("gaps %+v, want the two polls that failed as one", gaps)
	}
	if n := len(k.runs); n != 3 || !k.runs[0].To.Equal(answer(2, 0, "").Answered.Time) {
		t.Errorf("runs %+v", k.runs)
	}
}

// A partition that gets its first offset while it is watched was committed.
func TestFirstOffsetIsACommit(t *testing.T) {
	var k offsets
	if got := k.take(answer(0, -1, "")); len(got) != 0 {
		t.Errorf("nothing is committed: %+v", got)
	}
	if got := k.take(answer(1, 0, "")); len(got) != 1 || got[0].Commit.Offset != 0 {
		t.Errorf("the first commit: %+v", got)
	}
}

// A topic that members own and of which no answer had an offset is a Gap: nothing tells
// whether it was not committed, or may not be described.
func TestTopicsThatAreNotShown(t *testing.T) {
	owns := func(topics ...string) inspect.Observation {
		m := inspect.ObservedMember{MemberID: "m"}
		for _, topic := range topics {
			m.Assignment = append(m.Assignment, inspect.TopicPartitions{Topic: topic, Partitions: []int32{0}})
		}
		return inspect.Observation{Group: "g", State: "Stable", Members: []inspect.ObservedMember{m}}
	}
	polls := membership.Polls{owns("t"), owns("t", "shut"), owns("shut")}
	var k offsets
	if got := k.notShown(polls); got != nil {
		t.Errorf("nothing was polled, and so nothing was left out: %+v", got)
	}
	k.take(answer(0, 5, ""))
	k.take(answer(1, 5, "refused"))
	k.take(answer(2, 6, ""))
	got := k.notShown(polls)
	if len(got) != 1 || got[0].Group != "g" || got[0].Fact != inspect.FactCommits || got[0].What != "commits on topic shut" || got[0].Needs != "DESCRIBE on Topic shut" {
		t.Errorf("gaps %+v", got)
	}
	if n := len(k.runs); n != 3 || !slices.Equal(k.runs[0].Topics, []string{"t"}) || k.runs[1].Topics != nil {
		t.Errorf("runs %+v", k.runs)
	}
}

// The commits around a change of members that polls saw outlive the thinning of a long watch.
func TestPolledCommitsAroundADepartureAreKept(t *testing.T) {
	w := New(Config{})
	w.differ, w.info.Offsets = NewDiffer(Options{}), true
	w.watch("g")
	b, went := w.books["g"], at(0).Add(50*time.Minute)
	see := func(when time.Time, members ...string) {
		o := observed(0, members...)[0]
		o.From, o.To = inspect.At(when), inspect.At(when)
		w.take(input{polled: []inspect.Observation{o}, every: QuickEvery})
	}
	see(at(0).Time, "a", "b")
	for i := range int64(20_000) {
		when := at(0).Add(time.Duration(i) * 250 * time.Millisecond)
		if when.Equal(went) {
			see(when, "a")
		}
		b.add(&inspect.Record{Type: inspect.RecOffsetCommit, Partition: -1, Offset: i, Group: "g", Topic: "t", Time: inspect.At(when),
			Commit: &inspect.OffsetCommit{Offset: i, Time: inspect.At(when), After: inspect.At(when.Add(-250 * time.Millisecond))}})
	}
	all := b.all()
	if n := len(all); n > 1000 {
		t.Errorf("%d of 20000 commits are kept", n)
	}
	near := 0
	for _, r := range all {
		if r.Commit.Time.Sub(r.Commit.After.Time) != 250*time.Millisecond {
			t.Fatalf("the interval of a commit is lost: %+v", r.Commit)
		}
		if !r.Time.After(went) && went.Sub(r.Time.Time) < 5*time.Second {
			near++
		}
	}
	if near < 15 {
		t.Errorf("%d commits of the 5 s before the departure are kept, of 20", near)
	}
}

// observed is one poll of a group that has these members.
func observed(second float64, members ...string) []inspect.Observation {
	o := inspect.Observation{Group: "g", From: inspect.At(at(0).Add(time.Duration(second * float64(time.Second)))), State: "Stable"}
	o.To = o.From
	for _, m := range members {
		o.Members = append(o.Members, inspect.ObservedMember{MemberID: m, ClientID: m})
	}
	return []inspect.Observation{o}
}
