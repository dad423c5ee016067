package cmd

import (
	"cmp"
	"os"
	"strconv"
	"testing"

	"github.com/kgdiag/kgdiag/inspect/collect"
	"github.com/kgdiag/kgdiag/internal/fakecluster"
)

// TestManyBrokers holds what a triage of many brokers takes to what docs/scale.md calculates.
// KGDIAG_SCALE is how many brokers, with 200 groups for each: 100 are a tenth of its cluster.
func TestManyBrokers(t *testing.T) {
	brokers, err := strconv.Atoi(cmp.Or(os.Getenv("KGDIAG_SCALE"), "15"))
	if err != nil {
		t.Fatalf("KGDIAG_SCALE: %v", err)
	}
	const partitions = 50
	leaders := min(brokers, partitions)
	rounds := (brokers + collect.MostParallel - 1) / collect.MostParallel
	at(t, func(d *distant) {
		groups := 200 * brokers
		d.groups(groups)
		trips, count := d.run("why")
		d.t.Logf("%d brokers, %d groups: %d round trips, %+v", brokers, groups, trips, count)
		for key, most := range map[int16]int{
			16: brokers,                 // ListGroups
			15: 2 * brokers,             // DescribeGroups: groups are not spread evenly
			32: brokers,                 // DescribeConfigs
			18: 2*brokers + leaders + 1, // ApiVersions: of the coordinators, and with each connection
			2:  6 * leaders,             // ListOffsets
			1:  partitions,              // Fetch
			3:  2,                       // Metadata
		} {
			if n := count.Requests[key]; n > most || n == 0 {
				d.t.Errorf("%d requests of key %d, want at most %d", n, key, most)
			}
		}
		if most := 12 + 6*rounds; trips > most {
			d.t.Errorf("%d round trips, want at most %d", trips, most)
		}
		if each := count.Read / int64(groups); each > 240 {
			d.t.Errorf("%d bytes read a group, want at most 240", each)
		}
	}, fakecluster.Brokers(brokers))
}
