package judge

import (
	"fmt"
	"slices"
	"testing"

	"github.com/kgdiag/kgdiag/inspect"
)

// stuckOf are the places that the departures of a timeline name, and how often.
func stuckOf(tl inspect.Timeline) map[string]int {
	out := map[string]int{}
	for _, r := range tl.Rebalances {
		for _, l := range r.Members.Left {
			for _, s := range l.Stuck {
				out[s]++
			}
		}
	}
	return out
}

// loop is a group of two in which x goes after every 20 seconds and comes back 10
// seconds later as a new process. What x commits is up to work.
func loop(rounds int, work func(b *book, round int, from, to float64)) *book {
	b := newBook()
	y := who{id: "y-1", client: "y", host: "10.0.0.2", session: 6, rebalance: 300}
	x := who{client: "x", session: 6, rebalance: 300}
	gen := int32(1)
	for i := range rounds {
		at := float64(30 * i)
		x.id = fmt.Sprintf("x-%d", i)
		b.generation(at, gen, with(x, 0, 1), with(y, 2, 3))
		for p := int32(2); p < 4; p++ {
			b.commits(at+0.3, at+30, 1, p, int64(30*i), 1)
		}
		work(b, i, at+0.5, at+14)
		b.generation(at+20, gen+1, with(y, 0, 1, 2, 3))
		gen += 2
	}
	return b
}

// A record at which the process dies leaves no commit of its own: that the offset
// is the same each time a member goes is all there is to see.
func TestRecordThatKillsIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		work func(b *book, round int, from, to float64)
		want map[string]int
	}{
		"partition 1 stands at 7": {
			func(b *book, round int, from, to float64) {
				if round == 0 {
					b.commits(from, to, 2, 1, 0, 1)
				}
				b.commits(from, to, 1, 0, int64(14*round), 1)
			}, map[string]int{"t-1 offset 7": 4}},
		"both move": {
			func(b *book, round int, from, to float64) {
				b.commits(from, to, 1, 0, int64(14*round), 1)
				b.commits(from, to, 2, 1, int64(7*round), 1)
			}, map[string]int{}},
		"neither moves: it dies before it does anything": {
			func(b *book, round int, from, to float64) {
				if round == 0 {
					b.commits(from, to, 1, 0, 0, 1)
					b.commits(from, to, 2, 1, 0, 1)
				}
			}, map[string]int{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := stuckOf(loop(4, c.work).build())
			if len(got) != len(c.want) {
				t.Fatalf("stuck %v, want %v", got, c.want)
			}
			for k, n := range c.want {
				if got[k] != n {
					t.Errorf("%s: %d times, want %d", k, got[k], n)
				}
			}
		})
	}
}

// A partition in which nothing waits is no place where anybody got stuck.
func TestIdlePartitionIsNoStuckRecord(t *testing.T) {
	b := loop(4, func(b *book, round int, from, to float64) {
		if round == 0 {
			b.commit(from, 1, 7)
		}
		b.commits(from, to, 1, 0, int64(14*round), 1)
	})
	none, at := int64(0), int64(7)
	b.c.Groups = []inspect.Group{{ID: "g", Offsets: []inspect.PartitionLag{{Topic: "t", Partition: 1, Committed: &at, Lag: &none}}}}
	if got := stuckOf(b.build()); len(got) != 0 {
		t.Errorf("stuck %v, want none: the partition has no lag", got)
	}
}

// A record over which everybody sits for too long goes from owner to owner, and
// takes the other partitions with it for a while.
func TestRecordThatStallsGoesRound(t *testing.T) {
	b := newBook()
	names := []string{"x", "y"}
	all := func(round int) who {
		n := names[round%2]
		return who{id: fmt.Sprintf("%s-%d", n, round), client: n, host: "10.0.0." + n, session: 6, rebalance: 15, parts: []int32{0, 1, 2}}
	}
	off := map[int32]int64{}
	for i := range 6 {
		at := float64(17 * i)
		b.generation(at, int32(i+1), all(i))
		for p := range int32(2) { // not in every round does it get to partition 1
			if p == 0 || i%3 == 0 {
				off[p] = b.commits(at+0.2, at+1.8, 0.3, p, off[p], 1)
			}
		}
		if i == 0 {
			b.commits(at+0.2, at+1.8, 0.3, 2, 0, 1)
		}
	}
	got := stuckOf(b.build())
	if len(got) != 1 || got["t-2 offset 6"] != 5 {
		t.Errorf("stuck %v, want t-2 offset 6 five times and nothing else", got)
	}
}

// Members that go again and again are no deploy, however many of them.
func TestChurnIsNoRollingRestart(t *testing.T) {
	b := newBook()
	ids := []who{{id: "x-0", client: "x", parts: []int32{0}}, {id: "y-0", client: "y", parts: []int32{1}}}
	b.generation(0, 1, ids...)
	off, gen, at := []int64{0, 0}, int32(2), 40.0
	b.commits(0.5, 40, 0.5, 0, 0, 1)
	b.commits(0.5, 40, 0.5, 1, 0, 1)
	off[0], off[1] = 79, 79
	for round := 1; round <= 4; round++ {
		for i := range ids {
			rest := slices.Delete(slices.Clone(ids), i, i+1)
			rest[0].parts = []int32{0, 1}
			b.generation(at, gen, rest...)
			ids[i].id = fmt.Sprintf("%s-%d", ids[i].client, round)
			b.generation(at+8, gen+1, ids...)
			for p := range int32(2) {
				off[p] = b.commits(at+8.5, at+20, 0.5, p, off[p], 1)
			}
			at, gen = at+20+4*float64(i), gen+2 // x closes at once, y after a while: no clean deploy
		}
	}
	for _, r := range b.build().Rebalances {
		if r.Cause == inspect.RollingRestart {
			t.Errorf("generation %d: %s (%v)", r.Generation, r.Cause, r.Evidence)
		}
	}
}

// One member that comes and goes is none either.
func TestFlappingMemberIsNoRollingRestart(t *testing.T) {
	b := newBook()
	x, y := who{id: "x-0", client: "x", parts: []int32{0}}, who{id: "y-0", client: "y", host: "10.0.0.2", parts: []int32{1}}
	b.generation(0, 1, x, y)
	for i := range 5 {
		at := 30 + float64(30*i)
		b.commits(at-29, at, 0.5, 0, int64(60*i), 1)
		b.commits(at-29, at, 0.5, 1, int64(60*i), 1)
		b.generation(at+0.1, int32(2*i+2), with(y, 0, 1))
		x.id = fmt.Sprintf("x-%d", i+1)
		b.generation(at+12, int32(2*i+3), x, y)
	}
	for _, r := range b.build().Rebalances {
		if r.Cause == inspect.RollingRestart {
			t.Errorf("generation %d: %s (%v)", r.Generation, r.Cause, r.Evidence)
		}
	}
}

// Where all members go at once, as when their coordinator is out of breath, the place
// in the partitions says nothing.
func TestMembersThatGoTogetherAreAtNoRecord(t *testing.T) {
	b := newBook()
	gen := int32(1)
	for i := range 4 {
		at := float64(30 * i)
		x := who{id: fmt.Sprintf("x-%d", i), client: "x", session: 6, parts: []int32{0, 1}}
		y := who{id: fmt.Sprintf("y-%d", i), client: "y", host: "10.0.0.2", session: 6, parts: []int32{2, 3}}
		b.generation(at, gen, x, y)
		if i == 0 {
			b.commits(at+0.3, at+3, 0.3, 1, 0, 1)
		}
		b.commits(at+0.3, at+20, 1, 0, int64(20*i), 1)
		b.commits(at+0.3, at+20, 1, 2, int64(20*i), 1)
		b.commits(at+0.3, at+20, 1, 3, int64(20*i), 1)
		gen++
	}
	if got := stuckOf(b.build()); len(got) != 0 {
		t.Errorf("stuck %v, want none", got)
	}
}

// In a long incident the last commit of the stuck partition is older than what was
// read. The live view tells where it stands; without it nothing else is blamed.
func TestStuckRecordOlderThanTheLog(t *testing.T) {
	story := func() *book {
		return loop(4, func(b *book, round int, from, to float64) {
			if round != 1 { // then it gets to neither
				b.commits(from, to, 1, 0, int64(14*round), 1)
			}
		})
	}
	if got := stuckOf(story().build()); len(got) != 0 {
		t.Errorf("stuck %v, want none: partition 1 has no commit at all", got)
	}
	b := story()
	lag, at := int64(50), int64(7)
	b.c.Groups = []inspect.Group{{ID: "g", Offsets: []inspect.PartitionLag{{Topic: "t", Partition: 1, Committed: &at, Lag: &lag}}}}
	if got := stuckOf(b.build()); len(got) != 1 || got["t-1 offset 7"] != 4 {
		t.Errorf("stuck %v, want t-1 offset 7 four times", got)
	}
}
