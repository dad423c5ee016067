package timeline

import (
	"testing"

	"github.com/kgdiag/kgdiag/inspect"
)

// storm is a group that loses and regains a member so many times, with commits.
func storm(times int) *inspect.Case {
	b := newBook()
	peer, flap := who{id: "p", client: "peer", parts: []int32{0}}, who{id: "f", client: "flap", parts: []int32{1}}
	at, gen := 0.0, int32(1)
	for range times {
		b.generation(at, gen, peer, flap)
		b.commits(at+0.1, at+60, 1.03, 0, int64(at), 3)
		b.commits(at+0.2, at+50, 0.9, 1, int64(at), 3)
		b.generation(at+100, gen+1, with(peer, 0, 1))
		flap.id += "x"
		if len(flap.id) > 40 {
			flap.id = "f" + flap.id[38:]
		}
		at, gen = at+130, gen+2
	}
	sortBook(b)
	return b.c
}

// BenchmarkStorm rebuilds two thousand rebalances with their causes.
func BenchmarkStorm(b *testing.B) {
	c := storm(1000)
	for b.Loop() {
		Build(c, Options{})
	}
}
