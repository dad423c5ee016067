package judge

import (
	"fmt"
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

// wide is a group with very many partitions, half of them idle, that loses and regains
// a member so many times.
func wide(partitions int32, times int) *inspect.Case {
	b := newBook()
	peer, flap := who{id: "p", client: "peer"}, who{client: "flap"}
	var all []int32
	for p := range partitions {
		all = append(all, p)
	}
	for i := range times {
		at := float64(40 * i)
		flap.id = fmt.Sprintf("f-%d", i)
		b.generation(at, int32(2*i+1), with(peer, all[:partitions/2]...), with(flap, all[partitions/2:]...))
		for p := range partitions {
			if i == 0 || p%2 == 0 {
				b.commit(at+1, p, int64(4*i))
				b.commit(at+9, p, int64(4*i+2))
			}
		}
		b.generation(at+20, int32(2*i+2), with(peer, all...))
	}
	sortBook(b)
	return b.c
}

// BenchmarkWide is a group of 1,000 partitions and 200 departures.
func BenchmarkWide(b *testing.B) {
	c := wide(1000, 200)
	for b.Loop() {
		Build(c, Options{})
	}
}
