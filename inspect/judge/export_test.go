package judge

import (
	"testing"

	"github.com/kgdiag/kgdiag/inspect"
)

// Recorded are the groups with labelled departures as collect would have read them,
// for tests of what reads the same records.
func Recorded(t testing.TB) []*inspect.Case {
	list := readLabelled(t)
	for _, h := range holdouts {
		list = append(list, readFile(t, h.file)...)
	}
	var out []*inspect.Case
	for _, l := range list {
		out = append(out, l.Read())
	}
	return out
}

// Simulated are groups of the simulator, half of them KIP-848.
func Simulated(n int) []*inspect.Case {
	var out []*inspect.Case
	for seed := range n {
		c, _ := simulate(uint64(seed), seed%2 == 1)
		out = append(out, c)
	}
	return out
}
