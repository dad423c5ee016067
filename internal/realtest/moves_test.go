//go:build realkafka

package realtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kgdiag/kgdiag/locate"
)

// moves is how often TestWatchThroughManyMoves moves the coordinator.
const moves = 50

// TestWatchThroughManyMoves moves the group's offsets partition from broker to broker, each
// time while the group rebalances, and holds watch to the records that the coordinators wrote:
// every generation told once. No broker goes away: a move alone takes a second.
func TestWatchThroughManyMoves(t *testing.T) {
	if !long() {
		t.Skip("scripts/test --full: fifty moves take minutes")
	}
	t.Parallel()
	c := own(t, "4.1.1", "3", "--offsets-partitions", "8")
	topic, group := name("moves"), name("moves")
	c.topic(topic, 4)
	join := func(id string) *kgo.Client {
		cl := c.client(kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic), kgo.ClientID(id), kgo.Balancers(kgo.RangeBalancer()),
			kgo.HeartbeatInterval(300*time.Millisecond), kgo.SessionTimeout(45*time.Second))
		go func() {
			for !cl.PollFetches(t.Context()).IsClientClosed() && t.Context().Err() == nil {
			}
		}()
		return cl
	}
	join("stays")
	c.stable(group, 1)
	known := len(c.generations(group))
	w := watch(t, "-b", c.bootstrap, group)
	partition, err := locate.Partition(group, 8)
	if err != nil {
		t.Fatal(err)
	}
	var visitor *kgo.Client
	for range moves / 2 { // one move as a member joins, one as it leaves
		visitor = join("comes-and-goes")
		c.move(partition)
		c.stable(group, 2)
		visitor.Close()
		c.move(partition)
		c.stable(group, 1)
	}
	generationsMatch(t, w, c, group, known)
	told := w.of("coordinator_moved")
	t.Logf("%d moves, %d of them told; %d generations told, each once", moves, len(told), len(w.generations()))
	if len(told) > moves {
		t.Errorf("%d moves are told of %d", len(told), moves)
	}
	if code := w.interrupt(); code != 0 {
		t.Errorf("exit %d after Ctrl-C, want 0", code)
	}
}

// stable waits until a group is stable with so many members.
func (c *cluster) stable(group string, members int) {
	c.t.Helper()
	adm := kadm.NewClient(c.client())
	defer adm.Close()
	eventually(c.t, patience, fmt.Sprintf("%s is stable with %d members", group, members), func() error {
		ctx, cancel := context.WithTimeout(c.t.Context(), 10*time.Second)
		defer cancel()
		got, err := adm.DescribeGroups(ctx, group)
		if err != nil {
			return err
		}
		if g := got[group]; g.Err != nil || g.State != "Stable" || len(g.Members) != members {
			return fmt.Errorf("%s with %d members: %v", g.State, len(g.Members), g.Err)
		}
		return nil
	})
}

// move makes the second replica of an offsets partition its leader, and with it the
// coordinator of its groups.
func (c *cluster) move(partition int32) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	cl := c.client()
	defer cl.Close()
	now := func() kadm.PartitionDetail {
		topics, err := kadm.NewClient(cl).ListTopicsWithInternal(ctx, locate.OffsetsTopic)
		if err != nil {
			c.t.Fatal(err)
		}
		return topics[locate.OffsetsTopic].Partitions[partition]
	}
	replicas := now().Replicas
	replicas = append(slices.Clone(replicas[1:]), replicas[0])
	var assign kadm.AlterPartitionAssignmentsReq
	assign.Assign(locate.OffsetsTopic, partition, replicas)
	if got, err := kadm.NewClient(cl).AlterPartitionAssignments(ctx, assign); err != nil || got.Error() != nil {
		c.t.Fatalf("the order of the replicas of partition %d: %v, %v", partition, err, got.Error())
	}
	eventually(c.t, patience, fmt.Sprintf("broker %d leads partition %d", replicas[0], partition), func() error {
		got, err := kadm.NewClient(cl).ElectLeaders(ctx, kadm.ElectPreferredReplica, kadm.TopicsSet{locate.OffsetsTopic: {partition: {}}})
		if err != nil {
			return err
		}
		if err := got[locate.OffsetsTopic][partition].Err; err != nil && !errors.Is(err, kerr.ElectionNotNeeded) {
			return err
		}
		if d := now(); d.Leader != replicas[0] {
			return fmt.Errorf("broker %d does", d.Leader)
		}
		return nil
	})
}
