//go:build realkafka

package realtest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// TestRecordLooksLive kills a member under `record --for`: the case then bounds the
// departure as watch does, holds every generation of the log once, and what the log
// alone would have told is less.
func TestRecordLooksLive(t *testing.T) {
	t.Parallel()
	c := shared(t)
	topic, group := name("record"), name("record")
	c.topic(topic, 4)
	c.produce(topic, 20)
	// A session long enough for kgdiag to look before the killed member is put out.
	spec := client{Kind: franzGo, Group: group, Topics: topic, ClientID: "stays", Assignor: "range", Session: 10000, Heartbeat: 2000, MaxPoll: 15000}
	stays := start(t, c.bootstrap, spec)
	stays.assigned(4)
	spec.ClientID = "dies"
	dies := start(t, c.bootstrap, spec)
	dies.assigned(2)
	at := stays.count()

	file := filepath.Join(t.TempDir(), "live.kgcase")
	done := make(chan result, 1)
	go func() { done <- kgdiag(t, "record", "-b", c.bootstrap, group, "--for", "25s", "--to", file) }()
	dies.kill()
	truth := c.logged("Member dies-.* in group " + group + " has failed")
	stays.again(at, 4)
	r := (<-done).wants(t, 0)
	t.Log(r)

	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	kase, err := inspect.ReadCase(f)
	if err != nil {
		t.Fatal(err)
	}
	wantEveryGenerationOnce(t, c, kase, group)
	if len(kase.Observations) < 2 {
		t.Errorf("%d observations, want the group with the killed member and without it", len(kase.Observations))
	}

	live := departureOf(t, kgdiag(t, "history", "--from", file, "-o", "json", group).wants(t, 0), "dies")
	from, to := live.LeftBetween[0].Time, live.LeftBetween[1].Time
	if truth.Before(from.Add(-slack)) || truth.After(to.Add(slack)) {
		t.Errorf("the coordinator put it out at %s, the case says between %s and %s", truth.UTC(), from, to)
	}
	log := departureOf(t, kgdiag(t, "history", "-b", c.bootstrap, "-o", "json", group).wants(t, 0), "dies")
	alone := log.LeftBetween[1].Sub(log.LeftBetween[0].Time)
	t.Logf("the departure is bounded to %s; by the log alone to %s", to.Sub(from), alone)
	if to.Sub(from) > 2*time.Second {
		t.Errorf("a departure that was looked at is bounded to %s only", to.Sub(from))
	}
}

// departureOf is the departure of a member in what history says.
func departureOf(t *testing.T, r result, clientID string) inspect.Departure {
	t.Helper()
	var doc history
	r.decode(t, &doc)
	for _, g := range doc.Groups {
		for _, rb := range g.Rebalances {
			for _, d := range rb.Members.Left {
				if d.ClientID == clientID {
					return d
				}
			}
		}
	}
	t.Fatalf("no departure of %s in:\n%s", clientID, r)
	return inspect.Departure{}
}

// wantEveryGenerationOnce compares the case with the records of the log.
func wantEveryGenerationOnce(t *testing.T, c *cluster, kase *inspect.Case, group string) {
	t.Helper()
	var got []int32
	seen := map[string]bool{}
	for _, r := range kase.Records {
		if key := fmt.Sprintf("%d@%d", r.Partition, r.Offset); seen[key] {
			t.Errorf("the record %s is there twice", key)
		} else {
			seen[key] = true
		}
		if r.Group == group && r.Metadata != nil {
			got = append(got, r.Metadata.Generation)
		}
	}
	if want := c.generations(group); !slices.Equal(got, want) {
		t.Errorf("generations %v in the case, %v in the log", got, want)
	}
}
