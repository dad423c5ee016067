//go:build realkafka

package realtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/judge"
	"github.com/kgdiag/kgdiag/inspect/offsetlog"
	"github.com/kgdiag/kgdiag/locate"
)

// alter sets configurations of the offsets topic.
func (c *cluster) alter(set map[string]string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 30*time.Second)
	defer cancel()
	var list []kadm.AlterConfig
	for k, v := range set {
		list = append(list, kadm.AlterConfig{Op: kadm.SetConfig, Name: k, Value: kadm.StringPtr(v)})
	}
	rs, err := kadm.NewClient(c.client()).AlterTopicConfigs(ctx, list, locate.OffsetsTopic)
	if err != nil || rs[0].Err != nil {
		c.t.Fatalf("configs %v: %v %v", set, err, rs)
	}
}

// clean lets the log cleaner run at once on all but the newest moment of the log.
// Tombstones and markers go too.
func (c *cluster) clean() {
	c.alter(map[string]string{"segment.ms": "300", "min.cleanable.dirty.ratio": "0.001", "delete.retention.ms": "0"})
}

// keep ends the cleaning: the newest segment grows, and is never cleaned.
func (c *cluster) keep() { c.alter(map[string]string{"segment.ms": "604800000"}) }

// churn makes n members join the group one after the other, commit, and leave. It
// gives the newest generation that any of them has been in.
func (c *cluster) churn(group, topic string, n int) {
	c.t.Helper()
	for i := range n {
		ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
		assigned := make(chan struct{})
		var once sync.Once
		cl := c.client(kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic), kgo.ClientID(fmt.Sprintf("comes-%d", i)), kgo.Balancers(kgo.RangeBalancer()),
			kgo.SessionTimeout(6*time.Second), kgo.HeartbeatInterval(300*time.Millisecond), kgo.DisableAutoCommit(),
			kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, got map[string][]int32) {
				if len(got[topic]) > 0 {
					once.Do(func() { close(assigned) })
				}
			}))
		cl.PollFetches(ctx)
		select {
		case <-assigned:
		case <-ctx.Done():
			c.t.Fatalf("member %d of %s got nothing", i, group)
		}
		if err := cl.CommitUncommittedOffsets(ctx); err != nil {
			c.t.Fatal(err)
		}
		cl.Close()
		cancel()
	}
}

// server is a KIP-848 member made of heartbeats alone.
type server struct {
	c         *cluster
	cl        *kgo.Client
	group, id string
	epoch     int32
	reads     []string // a new subscription, for the next heartbeat
}

func (s *server) beat(epoch int32) {
	s.c.t.Helper()
	ctx, cancel := context.WithTimeout(s.c.t.Context(), 30*time.Second)
	defer cancel()
	req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	req.Group, req.MemberID, req.MemberEpoch, req.RebalanceTimeoutMillis = s.group, s.id, epoch, 20000
	if epoch == 0 {
		req.SubscribedTopicNames, req.Topics = []string{"work"}, []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	}
	if s.reads != nil {
		req.SubscribedTopicNames, s.reads = s.reads, nil
	}
	resp, err := req.RequestWith(ctx, s.cl)
	if err == nil {
		err = kerr.ErrorForCode(resp.ErrorCode)
	}
	if err != nil {
		s.c.t.Fatalf("%s: heartbeat %d: %v", s.id, epoch, err)
	}
	s.epoch = resp.MemberEpoch
	if resp.Assignment != nil && epoch >= 0 { // owns what it was given, at once
		req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
		req.Group, req.MemberID, req.MemberEpoch, req.RebalanceTimeoutMillis = s.group, s.id, s.epoch, -1
		req.Topics = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
		for _, t := range resp.Assignment.Topics {
			o := kmsg.NewConsumerGroupHeartbeatRequestTopic()
			o.TopicID, o.Partitions = t.TopicID, t.Partitions
			req.Topics = append(req.Topics, o)
		}
		if resp, err := req.RequestWith(ctx, s.cl); err == nil {
			s.epoch = resp.MemberEpoch
		}
	}
}

// converge beats until the group has converged.
func converge(members ...*server) {
	for range 3 {
		for _, m := range members {
			m.beat(m.epoch)
		}
	}
}

// eatenSince waits until the cleaner has eaten records that are newer than a moment.
func (c *cluster) eatenSince(moment time.Time) {
	c.t.Helper()
	eventually(c.t, patience, "the cleaner eats on", func() error {
		if at := c.completeFrom(); !at.After(moment) {
			return fmt.Errorf("the log is complete from %s on", at)
		}
		return nil
	})
}

// history is what the tests read of `kgdiag history -o json`.
type history struct {
	Window struct {
		CompleteSince time.Time `json:"complete_since"`
	} `json:"window"`
	Groups []struct {
		Group         string              `json:"group"`
		CompleteSince time.Time           `json:"complete_since"`
		Rebalances    []inspect.Rebalance `json:"rebalances"`
	} `json:"groups"`
}

// TestHistoryOverARealCleaner lets the broker's log cleaner eat the history of groups
// that rebalance again and again, under a scan and before it, and wants of kgdiag that
// it says from when on the log is whole, invents no generation that nobody skipped, and
// tells no departure with confidence whose evidence is gone.
func TestHistoryOverARealCleaner(t *testing.T) {
	t.Parallel()
	c := own(t, "4.1.1", "1", "--offsets-partitions", "1", "--set", "log.cleaner.backoff.ms=100", "--set", "group.min.session.timeout.ms=1000",
		"--set", "log.cleaner.delete.retention.ms=0")
	const classic, epochs = "eaten", "eaten-epochs"
	c.topic("work", 4)
	c.topic("rest", 1)
	c.produce("work", 100)
	stays := start(t, c.bootstrap, client{Kind: franzGo, Group: classic, Topics: "work", ClientID: "stays", Assignor: "range", Session: 6000, Heartbeat: 300, Commit: "record"})
	stays.assigned(4)
	cl := c.client()
	rock := &server{c: c, cl: cl, group: epochs, id: "4f5PFd7mQPyTfwBrmzJsnA"}
	rock.beat(0)
	for i := range 8 {
		m := &server{c: c, cl: cl, group: epochs, id: fmt.Sprintf("comes-and-goes-%d", i)}
		m.beat(0)
		converge(rock, m)
		m.beat(-1)
		converge(rock)
	}
	c.churn(classic, "work", 8)
	eventually(t, patience, "the one that stays holds everything again", func() error {
		if all := stays.seen(); len(all[len(all)-1].Partitions) != 4 {
			return fmt.Errorf("its last word is %v", all[len(all)-1])
		}
		return nil
	})

	under := c.scanUnderCleaner(classic)
	wantNothingSkipped(t, under)
	var jumps int
	for _, r := range under.Rebalances {
		if slices.Contains(r.Notes, "earlier generations are compacted away") {
			if jumps++; r.Confidence != inspect.Low {
				t.Errorf("generation %d, across the hole: %s, %s", r.Generation, r.Cause, r.Confidence)
			}
		}
	}
	if jumps == 0 {
		t.Errorf("the scan during which the cleaner ran met no hole: the test tells nothing\n%+v", under.Rebalances)
	}

	// What the cleaner has left of the past, and a departure across its edge: the member
	// and its last commits are in the cleaned part, its eviction is not.
	spec := client{Kind: franzGo, Group: classic, Topics: "work", ClientID: "dies", Assignor: "range", Session: 8000, Heartbeat: 300, Commit: "record"}
	dies := start(t, c.bootstrap, spec)
	dies.assigned(2)
	second := &server{c: c, cl: cl, group: epochs, id: "leaves-after-the-edge"}
	second.beat(0)
	converge(rock, second)
	ghost := &server{c: c, cl: cl, group: epochs, id: "eaten-as-a-whole"} // its epochs are the newest, and not of second's making
	ghost.beat(0)
	converge(rock, second, ghost)
	ghost.beat(-1)
	converge(rock, second)
	second.reads = []string{"work", "rest"} // writes the record of a join anew
	converge(rock, second)
	c.eatenSince(time.Now())
	at := stays.count()
	dies.kill()
	c.eatenSince(time.Now().Add(1500 * time.Millisecond)) // its last commits are, and what was on its way when it was killed
	c.keep()
	second.beat(-1)
	converge(rock)
	stays.again(at, 4)
	c.churn(classic, "work", 1)

	text := kgdiag(t, "history", "--since", "1h", "-b", c.bootstrap, classic, epochs).wants(t, 0)
	t.Log(text)
	if n := strings.Count(text.stdout, "the log is complete since"); n != 2 {
		t.Errorf("the text says %d times since when the log is complete, want once for each group", n)
	}
	var doc history
	kgdiag(t, "history", "--since", "1h", "-b", c.bootstrap, "-o", "json", classic, epochs).wants(t, 0).decode(t, &doc)
	complete := c.completeFrom()
	for _, g := range doc.Groups {
		wantNothingSkipped(t, &inspect.Timeline{Rebalances: g.Rebalances})
		if !g.CompleteSince.Equal(complete) {
			t.Errorf("%s: complete since %s, the newest hole ends at %s", g.Group, g.CompleteSince, complete)
		}
	}
	wantHonestClassic(t, doc.Groups[0].Rebalances)
	wantHonestEpochs(t, doc.Groups[1].Rebalances, second)
}

// wantHonestClassic: the oldest generation that is left came of nobody knows what, and
// the eviction of the member whose commits are eaten has no certain cause.
func wantHonestClassic(t *testing.T, all []inspect.Rebalance) {
	t.Helper()
	if r := all[0]; r.Cause != inspect.UnknownCause || r.PreviousGeneration != nil || !strings.Contains(strings.Join(r.Evidence, " "), "compacted away") {
		t.Errorf("the oldest generation left: %s, %q; want unknown, since what was before is compacted away", r.Cause, r.Evidence)
	}
	i := slices.IndexFunc(all, func(r inspect.Rebalance) bool { return len(r.Members.Left) > 0 && r.Members.Left[0].ClientID == "dies" })
	if i < 0 {
		t.Fatalf("the killed member's departure is not told: %+v", all)
	}
	if r := all[i]; r.Confidence == inspect.High || r.Members.Left[0].Confidence == inspect.High || !strings.Contains(strings.Join(r.Evidence, " "), "compacted away") {
		t.Errorf("across the edge of what was cleaned: %s, %s, %q", r.Cause, r.Confidence, r.Evidence)
	}
}

// wantHonestEpochs: of the members that came and went nobody is left in the log, and
// nothing may be told of them; nor is who stayed told as new.
func wantHonestEpochs(t *testing.T, all []inspect.Rebalance, leaver *server) {
	t.Helper()
	last := all[len(all)-1]
	if len(last.Members.Left) != 1 || last.Members.Left[0].MemberID != leaver.id {
		t.Errorf("the newest epoch: %+v, want the departure of %s", last.Members, leaver.id)
	}
	for _, r := range all[:len(all)-1] {
		if len(r.Members.Left)+len(r.Members.Joined) > 0 || r.Cause != inspect.SubscriptionChanged && r.Cause != inspect.UnknownCause {
			t.Errorf("epoch %d, %s: %s, %s, %+v: nobody of those that are left came or went then", r.Generation, r.ID, r.Cause, r.Confidence, r.Members)
		}
	}
}

// wantNothingSkipped: every join round of this test ended with a sync.
func wantNothingSkipped(t *testing.T, tl *inspect.Timeline) {
	t.Helper()
	for _, r := range tl.Rebalances {
		if r.Skipped > 0 || r.Cause == inspect.AssignmentFailed || r.Cause == inspect.SyncPhaseExpired {
			t.Errorf("generation %d: %d skipped, cause %s (%s): nothing was skipped, the cleaner ate it", r.Generation, r.Skipped, r.Cause, r.Confidence)
		}
	}
}

// scanUnderCleaner reads the log as a whole, and stops after its first record until the
// cleaner has eaten the generations that it has not read yet.
func (c *cluster) scanUnderCleaner(group string) *inspect.Timeline {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	s := &offsetlog.Scanner{Client: c.client(), FetchBytes: 1 << 12}
	kase := &inspect.Case{}
	eaten := false
	logs, err := s.Scan(ctx, offsetlog.Request{Parallel: 1, Filter: offsetlog.Filter{Groups: map[string]bool{group: true}, Commits: true}}, func(r inspect.Record) error {
		if !eaten && r.Metadata != nil {
			eaten = true
			c.clean()
			eventually(c.t, 30*time.Second, "the cleaner eats the first generations", func() error {
				if left := c.generations(group); len(left) > 2 {
					return fmt.Errorf("generations %v are left", left)
				}
				return nil
			})
		}
		kase.Records = append(kase.Records, r)
		return nil
	})
	if err != nil {
		c.t.Fatal(err)
	}
	kase.Logs = logs
	var seen []int32
	for _, r := range kase.Records {
		if r.Metadata != nil {
			seen = append(seen, r.Metadata.Generation)
		}
	}
	c.t.Logf("generations that the scan saw %v; log %+v", seen, logs[0])
	return &judge.Build(kase, judge.Options{})[0]
}

// completeFrom is the time of the first record after the newest hole in the offsets,
// as a plain consumer sees them.
func (c *cluster) completeFrom() time.Time {
	c.t.Helper()
	recs := c.offsetsRecords()
	slices.SortFunc(recs, func(a, b *kgo.Record) int { return int(a.Offset - b.Offset) })
	at := recs[0].Timestamp
	for i := 1; i < len(recs); i++ {
		if recs[i].Offset != recs[i-1].Offset+1 {
			at = recs[i].Timestamp
		}
	}
	return at
}
