package trust

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/internal/fakecluster"
)

// negative is a time that no span has.
var negative = regexp.MustCompile(`[ (]-\d+(\.\d+)?(ms|s|m|h)\b|: -\d+`)

// TestClocks: brokers whose clocks are minutes ahead or behind. What just happened is not
// lost from a window that ends now, no time is negative, and each screen says by how much
// the clocks differ, and what showed it.
func TestClocks(t *testing.T) {
	for _, skew := range []time.Duration{-10 * time.Minute, -time.Minute, time.Minute, 10 * time.Minute} {
		t.Run(skew.String(), func(t *testing.T) {
			t.Parallel()
			s := newStage(t, 1, fakecluster.Skew(func(int32) time.Duration { return skew }))
			s.evict(t, "orders")
			if err := s.Feed("orders", 3, 20*time.Millisecond); err != nil {
				t.Fatal(err)
			}
			want := "ahead of this machine's"
			if skew < 0 {
				want = "behind this machine's"
			}
			for _, tt := range []struct{ words, says string }{
				{"why orders --since 50s", "3 rebalances"},
				{"why --since 50s", "3 rebalances in 1 of 1 group"},
				{"history orders --since 50s", "orders  3 rebalances"},
				{"history orders --since 50s -o json", `"rebalances": 3`},
				{"describe orders", "orders  Stable"},
				{"watch orders --for 4s", "clocks"},
				{"why orders --since 50s --for 4s", "3 rebalances"},
			} {
				r := kgdiag(t, setup{}, append(strings.Fields(tt.words), "-b", s.b)...)
				if strings.HasPrefix(tt.words, "describe") && skew < 0 {
					want = "" // one look does not show it
				}
				if !strings.Contains(r.out, want) || !strings.Contains(r.out, tt.says) {
					t.Errorf("want %q and %q: %s", want, tt.says, r)
				}
				if bad := negative.FindString(r.out); bad != "" {
					t.Errorf("a negative time, %q: %s", bad, r)
				}
			}
		})
	}
}

// TestClocksThatAgree keeps TestClocks honest: of clocks that agree nothing is said.
func TestClocksThatAgree(t *testing.T) {
	s := newStage(t, 2)
	s.evict(t, "orders")
	for _, words := range []string{"why orders", "why", "history orders", "describe orders", "watch orders --for 3s"} {
		if r := kgdiag(t, setup{}, append(strings.Fields(words), "-b", s.b)...); strings.Contains(r.out, "clock") {
			t.Errorf("says a clock is off: %s", r)
		}
	}
}

// TestClocksOfTwoBrokers: a coordinator that moves to a broker whose clock is a minute
// behind the first one's.
func TestClocksOfTwoBrokers(t *testing.T) {
	s := newStage(t, 2, fakecluster.Skew(func(b int32) time.Duration { return time.Duration(b) * time.Minute }))
	s.evict(t, "orders")
	for range 2 { // there and back: one of the two goes back in time
		if err := s.MoveCoordinator("orders"); err != nil {
			t.Fatal(err)
		}
		s.join(t, "orders", "more", 2).Leave()
		time.Sleep(2 * time.Second)
	}
	r := kgdiag(t, setup{}, "history", "orders", "-b", s.b)
	if !strings.Contains(r.out, "the records' times go back by") || negative.MatchString(r.out) {
		t.Errorf("want a word of the times that go back, and no negative one: %s", r)
	}
}
