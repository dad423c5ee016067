//go:build realkafka

package realtest

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// victimDies says when a member is killed, beside its coordinator.
type victimDies int

const (
	never victimDies = iota
	before
	after
)

// aroundACoordinator are groups whose coordinator is killed. A session begins anew when
// the next coordinator has loaded the group, so a silence proves nothing: a member that
// was killed as well may be called session_expired with doubt, coordinator_moved with the
// truth among its rivals, or unknown; and of a group that lost no member there is nothing to tell.
func aroundACoordinator() []struct {
	scenario
	dies victimDies
} {
	survive := "coordinator killed, members survive"
	early := "coordinator killed, a member SIGKILLed 1 s before"
	late := "coordinator killed, a member SIGKILLed 1 s after"
	type row = struct {
		scenario
		dies victimDies
	}
	return []row{
		{scenario{name: survive, with: also([]party{rdRange}, javaRange, franzRange, rdEpochs, javaEpochs), calm: true, truth: causes(inspect.CoordinatorMoved)}, never},
		{scenario{name: early, with: also([]party{rdRange, rdEpochs}, franzRange), truth: causes(expired), hedge: true}, before},
		{scenario{name: late, with: full(rdRange, rdEpochs, javaRange), truth: causes(expired), hedge: true}, after},
	}
}

// TestCausesAroundAKilledCoordinator kills the coordinator of several groups at once
// with SIGKILL, and a member of some of them shortly before or after.
func TestCausesAroundAKilledCoordinator(t *testing.T) {
	t.Parallel()
	var tab scores
	tab.report(t)
	c := own(t, "4.1.1", "3", "--offsets-partitions", "8")
	doomed := c.coordinator(name("doomed"))
	var scenes []*scene
	var watchers []*watcher
	dying := map[victimDies][]*scene{}
	for _, row := range aroundACoordinator() {
		for _, p := range row.with {
			if p.full && !long() {
				continue
			}
			s := &scene{scenario: &row.scenario, party: p, t: t, c: c, topic: name("moved"), group: c.groupOn(doomed)}
			s.launch()
			scenes = append(scenes, s)
			dying[row.dies] = append(dying[row.dies], s)
		}
	}
	for _, s := range scenes {
		s.ready()
		watchers = append(watchers, watch(t, "-b", c.bootstrap, s.group))
	}
	for _, s := range scenes {
		s.begin()
	}
	kill := func(list []*scene) {
		for _, s := range list {
			s.victim().kill()
		}
	}
	kill(dying[before])
	scenes[0].hold(time.Second)
	c.script("kill", strconv.Itoa(int(doomed)))
	scenes[0].hold(time.Second)
	kill(dying[after])
	for _, w := range watchers {
		w.await("the coordinator's move", func(e lineEvent) bool { return e.text("type") == "coordinator_moved" })
	}
	for i, s := range scenes {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			own := *s
			own.t = t
			own.verdicts(&tab, watchers[i])
		})
	}
}

// groupOn is a group that a broker coordinates.
func (c *cluster) groupOn(broker int32) string {
	c.t.Helper()
	for range 200 {
		if group := name("moved"); c.coordinator(group) == broker {
			return group
		}
	}
	c.t.Fatalf("none of 200 groups is coordinated by broker %d", broker)
	return ""
}
