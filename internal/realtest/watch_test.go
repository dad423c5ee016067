//go:build realkafka

package realtest

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"
)

// of gives the events of one type.
func (w *watcher) of(kind string) []lineEvent {
	return slices.DeleteFunc(w.seen(), func(e lineEvent) bool { return e.text("type") != kind })
}

// generations are those that watch told of, in order.
func (w *watcher) generations() []int32 {
	var out []int32
	for _, e := range w.of("rebalance") {
		if n, ok := e["generation"].(float64); ok {
			out = append(out, int32(n))
		}
	}
	return out
}

// clientIDs are the client ids of the members that an event lists.
func clientIDs(e lineEvent, key string) []string {
	var out []string
	list, _ := e[key].([]any)
	for _, m := range list {
		who, _ := m.(map[string]any)
		id, _ := who["client_id"].(string)
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

func (w *watcher) awaitMember(key, clientID string) lineEvent {
	w.t.Helper()
	return w.await(clientID+" "+key, func(e lineEvent) bool {
		return e.text("type") == "rebalance" && slices.Contains(clientIDs(e, key), clientID)
	})
}

// generationsMatch holds watch to the records that the coordinator wrote after the
// first known generations: each told of once, none missed, none doubled.
func generationsMatch(t *testing.T, w *watcher, c *cluster, group string, known int) {
	t.Helper()
	want := slices.Compact(c.generations(group)[known:]) // a static swap repeats its generation
	eventually(t, 20*time.Second, "watch tells of every generation once", func() error {
		if got := w.generations(); !slices.Equal(got, want) {
			return fmt.Errorf("watch told of %v, the records are %v", got, want)
		}
		return nil
	})
}

// leftBetween is the interval in which watch puts a departure.
func leftBetween(t *testing.T, e lineEvent, clientID string) (from, to time.Time) {
	t.Helper()
	list, _ := e["left"].([]any)
	for _, m := range list {
		who, _ := m.(map[string]any)
		bounds, _ := who["left_between"].([]any)
		if who["client_id"] != clientID || len(bounds) != 2 {
			continue
		}
		for i, into := range []*time.Time{&from, &to} {
			at, err := time.Parse(time.RFC3339Nano, fmt.Sprint(bounds[i]))
			if err != nil {
				t.Fatalf("left_between of %s: %v", clientID, err)
			}
			*into = at
		}
		return from, to
	}
	t.Fatalf("no left_between of %s in %v", clientID, e)
	return
}

// slack allows for the clocks' rounding and a broker that logs a little after the fact.
const slack = 250 * time.Millisecond

// hasDeparture checks that the moment of the coordinator's own log line lies in watch's interval.
func hasDeparture(t *testing.T, e lineEvent, clientID string, truth time.Time) {
	t.Helper()
	from, to := leftBetween(t, e, clientID)
	if truth.Before(from.Add(-slack)) || truth.After(to.Add(slack)) {
		t.Errorf("%s left at %s by the coordinator's log, watch says between %s and %s", clientID,
			truth.UTC().Format(time.StampMilli), from.UTC().Format(time.StampMilli), to.UTC().Format(time.StampMilli))
	}
	t.Logf("%s: departure bounded to %s", clientID, to.Sub(from))
}

// TestWatchTellsOfComingAndGoing: a join, a clean leave, a return, and a SIGKILL, for
// client libraries of three languages.
func TestWatchTellsOfComingAndGoing(t *testing.T) {
	for _, k := range []kind{javaClient, librdkafka, franzGo} {
		t.Run(string(k), func(t *testing.T) {
			t.Parallel()
			c := shared(t)
			c.t = t
			topic, group := name("watch"), name("watch-"+string(k))
			c.topic(topic, 4)
			c.produce(topic, 20)
			spec := client{Kind: k, Group: group, Topics: topic, ClientID: "stays", Assignor: "range", Session: 6000, Heartbeat: 2000, MaxPoll: 15000}
			stays := start(t, c.bootstrap, spec)
			stays.assigned(4)
			known := len(c.generations(group))
			w := watch(t, "-b", c.bootstrap, group)

			spec.ClientID = "leaves"
			leaves := start(t, c.bootstrap, spec)
			leaves.assigned(2)
			joined := w.awaitMember("joined", "leaves")
			if n, _ := joined["members"].(float64); n != 2 {
				t.Errorf("members %v after the join, want 2", joined["members"])
			}
			leaves.term()
			hasDeparture(t, w.awaitMember("left", "leaves"), "leaves", c.logged("Preparing to rebalance group "+group+` .*LeaveGroup`))

			spec.ClientID = "dies"
			dies := start(t, c.bootstrap, spec)
			dies.assigned(2)
			w.awaitMember("joined", "dies")
			killed := dies.kill()
			left := w.awaitMember("left", "dies")
			truth := c.logged("Member dies-.* in group " + group + " has failed")
			hasDeparture(t, left, "dies", truth)
			if silent := truth.Sub(killed); silent < 3*time.Second {
				t.Errorf("the coordinator expired the killed member after %s: the test tells nothing of sessions", silent)
			}
			generationsMatch(t, w, c, group, known)
			if code := w.interrupt(); code != 0 {
				t.Errorf("exit %d after Ctrl-C, want 0", code)
			}
			if end := w.of("end"); len(end) != 1 {
				t.Errorf("%d lines of type end, want 1", len(end))
			}
		})
	}
}

// TestWatchTellsOfAStaticRestart: a static member that restarts inside its session
// takes its own place, in the same generation.
func TestWatchTellsOfAStaticRestart(t *testing.T) {
	t.Parallel()
	c := shared(t)
	topic, group := name("static"), name("static")
	c.topic(topic, 4)
	c.produce(topic, 20)
	spec := client{Kind: franzGo, Group: group, Topics: topic, Session: 60000, Heartbeat: 2000, MaxPoll: 30000, Assignor: "range"}
	spec.ClientID, spec.InstanceID = "pod-0", "pod-0"
	first := start(t, c.bootstrap, spec)
	spec.ClientID, spec.InstanceID = "pod-1", "pod-1"
	second := start(t, c.bootstrap, spec)
	first.assigned(2)
	second.assigned(2)
	known := len(c.generations(group))
	w := watch(t, "-b", c.bootstrap, group)
	second.term()
	start(t, c.bootstrap, spec).assigned(2)
	e := w.await("the replacement of pod-1", func(e lineEvent) bool { return slices.Contains(clientIDs(e, "replaced"), "pod-1") })
	if e.text("type") != "member_replaced" {
		t.Errorf("the event is of type %q, want member_replaced", e.text("type"))
	}
	// Nothing else may come of it: a later, real change is the fence behind which to look.
	spec.ClientID, spec.InstanceID = "third", ""
	start(t, c.bootstrap, spec)
	w.awaitMember("joined", "third")
	for _, e := range w.of("rebalance") {
		if left := clientIDs(e, "left"); slices.Contains(left, "pod-1") {
			t.Errorf("the static restart is told as a departure: %v", e)
		}
	}
	want := slices.Compact(c.generations(group)[known-1:])[1:]
	if got := w.generations(); !slices.Equal(got, want) {
		t.Errorf("watch told of generations %v, the records are %v", got, want)
	}
}

// TestWatchTellsOfConsumerGroups: the same for KIP-848, where epochs count.
func TestWatchTellsOfConsumerGroups(t *testing.T) {
	t.Parallel()
	c := shared(t)
	topic, group := name("epochs"), name("epochs")
	c.topic(topic, 4)
	c.produce(topic, 20)
	spec := client{Kind: librdkafka, Group: group, Topics: topic, ClientID: "stays", Protocol: "consumer", MaxPoll: 15000}
	start(t, c.bootstrap, spec).assigned(4)
	w := watch(t, "-b", c.bootstrap, group)
	spec.ClientID = "leaves"
	leaves := start(t, c.bootstrap, spec)
	leaves.assigned(2)
	w.awaitMember("joined", "leaves")
	w.await("convergence", func(e lineEvent) bool { return e.text("type") == "converged" })
	leaves.term()
	w.awaitMember("left", "leaves")
	epochs := w.generations()
	if !slices.IsSorted(epochs) || len(slices.Compact(slices.Clone(epochs))) != len(epochs) {
		t.Errorf("epochs %v: one is told twice or out of order", epochs)
	}
}

// TestWatchSurvivesAKilledCoordinator kills the group's coordinator with SIGKILL and
// starts it again, with rebalances before, in between and after.
func TestWatchSurvivesAKilledCoordinator(t *testing.T) {
	t.Parallel()
	c := own(t, "4.1.1", "3", "--offsets-partitions", "8")
	topic, group := name("failover"), name("failover")
	c.topic(topic, 4)
	c.produce(topic, 20)
	spec := client{Kind: franzGo, Group: group, Topics: topic, ClientID: "stays", Assignor: "range", Session: 10000, Heartbeat: 1000, MaxPoll: 15000}
	start(t, c.bootstrap, spec).assigned(4)
	known := len(c.generations(group))
	w := watch(t, "-b", c.bootstrap, group)

	come := func(id string) *process {
		spec.ClientID = id
		p := start(t, c.bootstrap, spec)
		p.assigned(2)
		w.awaitMember("joined", id)
		return p
	}
	come("before").term()
	w.awaitMember("left", "before")

	old := c.coordinator(group)
	c.script("kill", strconv.Itoa(int(old)))
	moved := w.await("the coordinator's move", func(e lineEvent) bool { return e.text("type") == "coordinator_moved" })
	if n, _ := moved["coordinator"].(float64); int32(n) == old {
		t.Errorf("the coordinator moved from %d to %d", old, int32(n))
	}
	between := come("between")
	c.script("start", strconv.Itoa(int(old)))
	between.term()
	w.awaitMember("left", "between")
	come("after").term()
	w.awaitMember("left", "after")
	generationsMatch(t, w, c, group, known)
	if code := w.interrupt(); code != 0 {
		t.Errorf("exit %d after Ctrl-C, want 0", code)
	}
}
