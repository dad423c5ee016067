package collect

import (
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/internal/fakecluster"
)

// The committed offsets of several groups, wherever they are coordinated, and why those of
// one that may not be seen were not read.
func TestPollerAsksForCommittedOffsets(t *testing.T) {
	f := newFake(t)
	f.member(t, 1, fakecluster.MemberConfig{Group: "orders"})
	f.member(t, 1, fakecluster.MemberConfig{Group: "pay", Server: true})
	p := f.c.NewPoller("pay", "orders", "nobody")
	undo := f.DenyGroup("pay")
	at := func(i int) Committed { return p.Offsets(within(t, 9*time.Second))[i] }
	if pay := at(0); pay.Group != "pay" || pay.Error == "" || len(pay.Offsets) != 0 {
		t.Errorf("a denied group: %+v", pay)
	}
	undo()
	eventually(t, "pay is answered again", func() bool { return at(0).Error == "" })
	if nobody := at(2); nobody.Error != "" || len(nobody.Offsets) != 0 {
		t.Errorf("a group that does not exist has committed nothing: %+v", nobody)
	}
	if err := f.Produce(within(t, 9*time.Second), "work", 2, 3); err != nil {
		t.Fatal(err)
	}
	eventually(t, "commits of orders", func() bool { return len(at(1).Offsets) > 0 })
	first := at(1)
	if o := first.Offsets[0]; o != (CommittedOffset{"work", 2, 3}) {
		t.Errorf("committed %+v, want the three records of work-2", o)
	}
	if !first.Asked.Before(first.Answered.Time) && !first.Asked.Equal(first.Answered.Time) {
		t.Errorf("asked %s, answered %s", first.Asked, first.Answered)
	}
	before := len(*f.sent.Load())
	at(1)
	for _, key := range (*f.sent.Load())[before:] {
		if key != 9 {
			t.Errorf("a poll sent request %d, want OffsetFetch alone", key)
		}
	}
}
