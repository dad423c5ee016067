package trust

import (
	"slices"
	"strings"
	"testing"

	"github.com/kgdiag/kgdiag/internal/fakecluster"
)

// TestRedpandasPlacement: a cluster whose id is Redpanda's places groups by another hash, in
// 16 partitions. What is in the log there is found, by every command that reads it.
func TestRedpandasPlacement(t *testing.T) {
	s := newStage(t, 3, fakecluster.ClusterID("redpanda.0a1b2c3d"), fakecluster.OffsetsPartitions(16))
	s.evict(t, "orders")
	for words, want := range map[string]string{
		"history orders":                    "3 rebalances",
		"why orders":                        "3 rebalances",
		"why":                               "orders",
		"describe orders":                   "generation 3",
		"record orders --to x.kgcase":       "3 rebalances",
		"watch orders --for 1s --since 10m": "gen 3",
		"locate orders":                     "__consumer_offsets-14",
		"check":                             "Redpanda",
	} {
		r := kgdiag(t, setup{}, append(slices.Clone(strings.Fields(words)), "-b", s.b)...)
		if r.code != 0 || !strings.Contains(r.out, want) {
			t.Errorf("want %q: %s", want, r)
		}
	}
}
