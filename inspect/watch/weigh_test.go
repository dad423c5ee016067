package watch

import (
	"testing"

	"github.com/kgdiag/kgdiag/inspect"
)

// TestEvictionsCountMembers: the count of a watch is that of history, which counts members,
// and whoever left without a cause that was told is counted apart.
func TestEvictionsCountMembers(t *testing.T) {
	var v Evictions
	left := func(record string, n int) {
		v.Add(&Event{Type: RebalanceDone, Group: "orders", Record: record, Left: make([]Who, n)})
	}
	cause := func(record string, c inspect.Cause, evictions int) {
		v.Add(&Event{Type: CauseFound, Group: "orders", Record: record, Cause: c, Evictions: evictions})
	}
	for _, step := range []struct {
		what               string
		do                 func()
		evicted, notJudged int
	}{
		{"two left", func() { left("1:5", 2) }, 0, 2},
		{"both were evicted", func() { cause("1:5", inspect.SessionExpired, 2) }, 2, 0},
		{"one closed, which is told", func() { left("1:9", 1); cause("1:9", inspect.MemberLeft, 0) }, 2, 0},
		{"one left", func() { left("1:12", 1) }, 2, 1},
		{"why is not known", func() { cause("1:12", inspect.UnknownCause, 0) }, 2, 1},
		{"the first were evicted after all no more", func() { cause("1:5", inspect.MemberLeft, 0) }, 0, 1},
		{"of another group", func() { v.Add(&Event{Type: RebalanceDone, Group: "pay", Record: "1:20", Left: make([]Who, 1)}) }, 0, 1},
		{"before the watch", func() {
			v.Add(&Event{Type: RebalanceDone, Group: "orders", Record: "1:1", Past: true, Left: make([]Who, 1)})
		}, 0, 1},
	} {
		step.do()
		if e, n := v.Of("orders"), v.Unjudged("orders"); e != step.evicted || n != step.notJudged {
			t.Errorf("%s: %d evictions, %d not judged; want %d, %d", step.what, e, n, step.evicted, step.notJudged)
		}
	}
}
