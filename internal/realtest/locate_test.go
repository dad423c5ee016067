//go:build realkafka

package realtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
)

// located is what the tests read of kgdiag.locate/v1.
type located struct {
	Groups []struct {
		Group       string `json:"group"`
		Partition   int32  `json:"partition"`
		Coordinator *struct {
			ID int32 `json:"id"`
		} `json:"coordinator"`
		Agreement string `json:"agreement"`
	} `json:"groups"`
}

// Two hundred ids of any Unicode: what kgdiag says is what the brokers answer.
func TestLocateAgreesWithTheBrokers(t *testing.T) {
	t.Parallel()
	c := shared(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	ids := make([]string, 200)
	for i := range ids {
		text := make([]rune, 1+rng.IntN(30))
		for j := range text {
			text[j] = []rune{'a', 'Z', '0', '-', 'é', 'Ω', '語', '😀', '\u200d'}[rng.IntN(9)] + rune(rng.IntN(20))
		}
		ids[i] = fmt.Sprintf("%03d%s", i, string(text))
	}
	// The topic exists once somebody has asked for a coordinator in earnest.
	c.coordinator(ids[0])
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	want := kadm.NewClient(c.client()).FindGroupCoordinators(ctx, ids...)

	var got located
	kgdiag(t, append([]string{"locate", "-b", c.bootstrap, "-o", "json", "--"}, ids...)...).wants(t, 0).decode(t, &got)
	if len(got.Groups) != len(ids) {
		t.Fatalf("%d groups, want %d", len(got.Groups), len(ids))
	}
	for i, g := range got.Groups {
		w := want[ids[i]]
		switch {
		case w.Err != nil:
			t.Errorf("%q: the broker answers %v", ids[i], w.Err)
		case g.Group != ids[i]:
			t.Errorf("group %d is %q, want %q", i, g.Group, ids[i])
		case g.Coordinator == nil || g.Coordinator.ID != w.NodeID:
			t.Errorf("%q: coordinator %v, want %d", ids[i], g.Coordinator, w.NodeID)
		case g.Agreement != "agrees":
			t.Errorf("%q: agreement %q, want agrees", ids[i], g.Agreement)
		}
	}
}

// Apache's own tool answers the same question; kgdiag is held to being much faster.
func TestLocateIsFasterThanApachesTool(t *testing.T) {
	c := shared(t)
	topic, group := name("speed"), name("speed")
	c.topic(topic, 2)
	start(t, c.bootstrap, client{Kind: franzGo, Group: group, Topics: topic, ClientID: "speed"}).assigned(2)
	begin := time.Now()
	c.script("groups", "--describe", "--state", "--group", group)
	apache := time.Since(begin)
	best := time.Hour
	for range 3 {
		best = min(best, kgdiag(t, "locate", "-b", c.bootstrap, group).wants(t, 0).took)
	}
	t.Logf("one group: kafka-consumer-groups --describe --state %s, kgdiag locate %s, %.0f times faster",
		apache.Round(time.Millisecond), best.Round(time.Millisecond), apache.Seconds()/best.Seconds())
	if best*20 > apache {
		t.Errorf("kgdiag locate took %s, over a twentieth of Apache's %s", best, apache)
	}
}
