//go:build realkafka

package scale

import (
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// changes has one member after another join a group and leave it, for a time, two groups
// a second. It gives when each generation was asked for, by group and generation.
func (c *cluster) changes(lasting time.Duration, groups int) map[string]time.Time {
	out := map[string]time.Time{}
	var mu sync.Mutex
	note := func(group string, generation int32, at time.Time) {
		mu.Lock()
		defer mu.Unlock()
		out[fmt.Sprintf("%s/%d", group, generation)] = at
	}
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	end := time.Now().Add(lasting)
	var wg sync.WaitGroup
	for i := 0; time.Now().Before(end); i++ {
		<-tick.C
		wg.Go(func() { c.joinAndLeave(fmt.Sprintf("change-%02d", i%groups), note) })
	}
	wg.Wait()
	return out
}

// joinAndLeave is the short life of a member of a classic group.
func (c *cluster) joinAndLeave(group string, note func(string, int32, time.Time)) {
	by := c.cl.Broker(int(c.leaders[c.partition(group)]))
	join := kmsg.NewPtrJoinGroupRequest()
	join.Group, join.SessionTimeoutMillis, join.RebalanceTimeoutMillis, join.ProtocolType = group, 10_000, 10_000, "consumer"
	p := kmsg.NewJoinGroupRequestProtocol()
	p.Name, p.Metadata = "range", (&kmsg.ConsumerMemberMetadata{Version: 1, Topics: []string{topic}}).AppendTo(nil)
	join.Protocols = append(join.Protocols, p)
	joined, err := join.RequestWith(c.t.Context(), by)
	if err == nil && joined.ErrorCode == kerr.MemberIDRequired.Code {
		join.MemberID = joined.MemberID
		joined, err = join.RequestWith(c.t.Context(), by)
	}
	if err == nil {
		err = kerr.ErrorForCode(joined.ErrorCode)
	}
	if err != nil {
		c.t.Logf("join of %s: %v", group, err) // its coordinator is taking up the log
		return
	}
	c.sync(by, group, joined, note)
	wait(c.t.Context(), time.Second)
	leave := kmsg.NewPtrLeaveGroupRequest()
	leave.Group = group
	m := kmsg.NewLeaveGroupRequestMember()
	m.MemberID = joined.MemberID
	leave.Members = append(leave.Members, m)
	at := time.Now()
	if _, err := leave.RequestWith(c.t.Context(), by); err == nil {
		note(group, joined.Generation+1, at)
	}
}

// sync is the moment in which the group's new generation is written.
func (c *cluster) sync(by *kgo.Broker, group string, joined *kmsg.JoinGroupResponse, note func(string, int32, time.Time)) {
	req := kmsg.NewPtrSyncGroupRequest()
	req.Group, req.Generation, req.MemberID = group, joined.Generation, joined.MemberID
	protocol, kind := "range", "consumer"
	req.Protocol, req.ProtocolType = &protocol, &kind
	a := kmsg.NewSyncGroupRequestGroupAssignment()
	a.MemberID, a.MemberAssignment = joined.MemberID, (&kmsg.ConsumerMemberAssignment{Topics: []kmsg.ConsumerMemberAssignmentTopic{{Topic: topic, Partitions: []int32{0, 1}}}}).AppendTo(nil)
	req.GroupAssignment = append(req.GroupAssignment, a)
	at := time.Now()
	if resp, err := req.RequestWith(c.t.Context(), by); err == nil && resp.ErrorCode == 0 {
		note(group, joined.Generation, at)
	}
}
