package collect

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/inspect"
)

// tp is one partition of one topic.
type tp struct {
	topic     string
	partition int32
}

// commits are the committed offsets of one group, -1 for a partition without one.
type commits map[tp]int64

// shareStart is what DescribeShareGroupOffsets says of one partition.
type shareStart struct {
	offset int64 // share-partition start offset; -1 none
	lag    int64 // v1 (KIP-1226, Kafka 4.2); -1 unknown
}

// readLag reads committed offsets from the coordinators, then the ends of the logs
// from the partitions' leaders. The function that it gives back fills Offsets and
// the lags of groups and members.
func (r *run) readLag(ctx context.Context) (apply func()) {
	committed, shares := r.readCommits(ctx)
	wanted := map[tp]bool{}
	for id, d := range r.drafts {
		if d.err != nil {
			continue
		}
		for p := range committed[id] {
			wanted[p] = true
		}
		for p := range shares[id] {
			wanted[p] = true
		}
		for p := range owners(&d.group) {
			wanted[p] = true
		}
	}
	ends := r.readEnds(ctx, wanted)
	at := r.now()
	return func() {
		for id, d := range r.drafts {
			if d.err == nil {
				d.setLag(committed[id], shares[id], ends)
				r.noteEnds(&d.group, ends)
				setSource(&d.group, inspect.Source{Fact: inspect.FactLag, From: "coordinator and partition leaders", At: at})
			}
		}
	}
}

// owners maps each assigned partition to its member.
func owners(g *inspect.Group) map[tp]string {
	out := map[tp]string{}
	for i := range g.Members {
		for _, a := range g.Members[i].Assignment {
			for _, p := range a.Partitions {
				out[tp{a.Topic, p}] = g.Members[i].MemberID
			}
		}
	}
	return out
}

// readCommits asks every coordinator for the offsets of its groups.
func (r *run) readCommits(ctx context.Context) (map[string]commits, map[string]map[tp]shareStart) {
	committed, shares := map[string]commits{}, map[string]map[tp]shareStart{}
	var mu sync.Mutex
	byBroker := map[int32][]string{}
	byShare := map[int32][]string{}
	for id, d := range r.drafts {
		switch {
		case d.err != nil || d.group.Coordinator == nil:
		case d.group.Type == inspect.Share:
			byShare[d.group.Coordinator.ID] = append(byShare[d.group.Coordinator.ID], id)
		case r.early.commits[id] != nil:
			committed[id] = r.early.commits[id]
		default:
			byBroker[d.group.Coordinator.ID] = append(byBroker[d.group.Coordinator.ID], id)
		}
	}
	each(slices.Collect(maps.Keys(byBroker)), func(b int32) {
		each(chunks(slices.Sorted(slices.Values(byBroker[b]))), func(ids []string) {
			got, failed := r.committed(ctx, r.broker(r.m, b), ids)
			for id, err := range failed {
				r.lagGap(id, err)
			}
			mu.Lock()
			defer mu.Unlock()
			maps.Copy(committed, got)
		})
	})
	each(slices.Collect(maps.Keys(byShare)), func(b int32) {
		got := r.fetchShareStarts(ctx, r.broker(r.m, b), byShare[b])
		mu.Lock()
		defer mu.Unlock()
		maps.Copy(shares, got)
	})
	return committed, shares
}

// lagGap says that a group's offsets were not read.
func (r *run) lagGap(group string, err error) {
	r.gap(need{fact: inspect.FactLag, what: "committed offsets and lag",
		acl: "DESCRIBE on Group " + group + " and on its topics"}.gap(group, err))
}

// fetchShareStarts sends DescribeShareGroupOffsets (Kafka 4.1) for share groups.
func (r *run) fetchShareStarts(ctx context.Context, b broker, ids []string) map[string]map[tp]shareStart {
	req := kmsg.NewPtrDescribeShareGroupOffsetsRequest()
	for _, id := range ids {
		g := kmsg.NewDescribeShareGroupOffsetsRequestGroup()
		g.GroupID = id
		req.Groups = append(req.Groups, g)
	}
	out := map[string]map[tp]shareStart{}
	n := need{fact: inspect.FactLag, what: "start offsets and lag", version: "4.1"}
	resp, err := req.RequestWith(ctx, b)
	if err != nil {
		for _, id := range ids {
			r.gap(n.gap(id, err))
		}
		return out
	}
	for _, g := range resp.Groups {
		if err := answerError(g.ErrorCode, g.ErrorMessage); err != nil {
			n.acl = "DESCRIBE on Group " + g.GroupID
			r.gap(n.gap(g.GroupID, err))
			continue
		}
		starts := map[tp]shareStart{}
		for _, t := range g.Topics {
			for _, p := range t.Partitions {
				s := shareStart{offset: p.StartOffset, lag: -1}
				if p.ErrorCode == 0 && resp.Version >= 1 {
					s.lag = p.Lag
				}
				starts[tp{t.Topic, p.Partition}] = s
			}
		}
		out[g.GroupID] = starts
		if resp.Version < 1 && len(starts) > 0 {
			r.gap(inspect.Gap{Group: g.GroupID, Fact: inspect.FactLag, What: "lag of the share group",
				Why: "the broker tells start offsets only", Needs: "Kafka 4.2 (KIP-1226)"})
		}
	}
	return out
}

// extent is the log of one partition.
type extent struct {
	start, end int64 // -1 unknown
	time       int64 // of the record at end, in milliseconds; -1 none or not asked for
	err        error
}

// readEnds asks the leaders for the start and the end of the logs, as Apache's
// tools do (read_uncommitted: the high watermark).
func (r *run) readEnds(ctx context.Context, wanted map[tp]bool) map[tp]extent {
	topics := map[string]bool{}
	for p := range wanted {
		topics[p.topic] = true
	}
	r.loadTopics(ctx, slices.Sorted(maps.Keys(topics)))
	out := map[tp]extent{}
	byLeader := map[int32][]tp{}
	for p := range wanted {
		leader, err := r.leaderOf(p)
		if err != nil {
			out[p] = extent{start: -1, end: -1, time: -1, err: err}
			continue
		}
		byLeader[leader] = append(byLeader[leader], p)
	}
	var mu sync.Mutex
	each(slices.Collect(maps.Keys(byLeader)), func(leader int32) {
		got := readExtents(ctx, r.broker(r.m, leader), byLeader[leader])
		mu.Lock()
		defer mu.Unlock()
		maps.Copy(out, got)
	})
	return out
}

// readExtents asks one leader for the starts and the ends of logs, both at once.
func readExtents(ctx context.Context, b broker, ps []tp) map[tp]extent {
	var ends, starts map[tp]extent
	var wg sync.WaitGroup
	wg.Go(func() { ends = listOffsets(ctx, b, ps, always(latest)) })
	wg.Go(func() { starts = listOffsets(ctx, b, ps, always(earliest)) })
	wg.Wait()
	for p, e := range ends {
		e.start = starts[p].end
		ends[p] = e
	}
	return ends
}

// leaderOf is the leader of a partition, from the topics loaded before.
func (r *run) leaderOf(p tp) (int32, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.m.leader(p.topic, p.partition)
}

// The timestamps by which ListOffsets means the ends of a log.
const (
	latest   int64 = -1
	earliest int64 = -2
)

// always asks the same of every partition.
func always(at int64) func(tp) int64 { return func(tp) int64 { return at } }

// listOffsets asks one leader for the offset that each of its logs had at a timestamp,
// or for one end of them; the answer is in extent.end, and the record's timestamp in
// extent.time. Each partition may be named once: brokers refuse a second time.
func listOffsets(ctx context.Context, b broker, ps []tp, at func(tp) int64) map[tp]extent {
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID = -1
	byTopic := map[string][]kmsg.ListOffsetsRequestTopicPartition{}
	for _, p := range ps {
		rp := kmsg.NewListOffsetsRequestTopicPartition()
		rp.Partition, rp.Timestamp, rp.MaxNumOffsets = p.partition, at(p), 1
		byTopic[p.topic] = append(byTopic[p.topic], rp)
	}
	for topic, parts := range byTopic {
		rt := kmsg.NewListOffsetsRequestTopic()
		rt.Topic, rt.Partitions = topic, parts
		req.Topics = append(req.Topics, rt)
	}
	out := map[tp]extent{}
	resp, err := req.RequestWith(ctx, b)
	if err != nil {
		for _, p := range ps {
			out[p] = extent{start: -1, end: -1, time: -1, err: err}
		}
		return out
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			e := extent{start: -1, end: p.Offset, time: p.Timestamp, err: kerr.ErrorForCode(p.ErrorCode)}
			if e.err != nil {
				e.end = -1
			}
			out[tp{t.Topic, p.Partition}] = e
		}
	}
	return out
}

// noteEnds makes one Gap a group of the log ends that were not read, by topic.
func (r *run) noteEnds(g *inspect.Group, ends map[tp]extent) {
	worst := map[string]error{}
	for _, o := range g.Offsets {
		if e := ends[tp{o.Topic, o.Partition}]; e.err != nil {
			worst[o.Topic] = e.err
		}
	}
	for _, topic := range slices.Sorted(maps.Keys(worst)) {
		r.gap(need{fact: inspect.FactLag, what: "lag on topic " + topic, acl: "DESCRIBE on Topic " + topic}.gap(g.ID, worst[topic]))
	}
}

// setLag joins commits and log ends.
func (d *draft) setLag(committed commits, shares map[tp]shareStart, ends map[tp]extent) {
	owner := owners(&d.group)
	wanted := map[tp]bool{}
	for p := range owner {
		wanted[p] = true
	}
	for p := range committed {
		wanted[p] = true
	}
	for p := range shares {
		wanted[p] = true
	}
	d.group.Offsets = nil
	for p := range wanted {
		pl := inspect.PartitionLag{Topic: p.topic, Partition: p.partition, MemberID: owner[p]}
		if e, ok := ends[p]; ok {
			pl.End, pl.Start = unlessNegative(e.end), unlessNegative(e.start)
		}
		if o, ok := committed[p]; ok {
			pl.Committed = unlessNegative(o)
			if pl.Committed != nil && pl.End != nil {
				lag := *pl.End - o
				pl.Lag = &lag
			}
		}
		if s, ok := shares[p]; ok {
			pl.Committed = cmp.Or(unlessNegative(s.offset), pl.Committed)
			pl.Lag = cmp.Or(unlessNegative(s.lag), pl.Lag)
		}
		d.group.Offsets = append(d.group.Offsets, pl)
	}
	slices.SortFunc(d.group.Offsets, func(a, b inspect.PartitionLag) int {
		return cmp.Or(strings.Compare(a.Topic, b.Topic), int(a.Partition)-int(b.Partition))
	})
	d.sumLag()
}

// unlessNegative is an offset or a lag as the protocol gives it: below zero is unknown.
func unlessNegative(n int64) *int64 {
	if n < 0 {
		return nil
	}
	return &n
}

// sumLag adds up the known lags of the group and of each member. A commit beyond
// the end, after a topic was made anew, is shown but does not lower the sum.
func (d *draft) sumLag() {
	perMember := map[string]*int64{}
	add := func(to **int64, lag int64) {
		if *to == nil {
			*to = new(int64)
		}
		**to += max(lag, 0)
	}
	for i := range d.group.Offsets {
		o := &d.group.Offsets[i]
		if o.Lag == nil {
			continue
		}
		add(&d.group.Lag, *o.Lag)
		if o.MemberID != "" {
			sum := perMember[o.MemberID]
			add(&sum, *o.Lag)
			perMember[o.MemberID] = sum
		}
	}
	for i := range d.group.Members {
		d.group.Members[i].Lag = perMember[d.group.Members[i].MemberID]
	}
}
