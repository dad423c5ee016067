package collect

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/inspect"
)

// Committed is what one poll saw of a group's committed offsets.
type Committed struct {
	Group string
	// Asked and Answered bound the moment of which Offsets tell.
	Asked, Answered inspect.Time
	Offsets         []CommittedOffset // by topic and partition
	Error           string            // the poll failed; there are no Offsets then
}

// CommittedOffset is the committed offset of one partition.
type CommittedOffset struct {
	Topic     string
	Partition int32
	Offset    int64
}

// Offsets asks once for the committed offsets of every group, in the order of Set. It
// needs DESCRIBE on the group and on its topics: a coordinator leaves out the topics that
// it may not show. One goroutine calls it, and on a Poller of its own: what that learns
// of coordinators is not shared with Poll.
func (p *Poller) Offsets(ctx context.Context) []Committed { return round(ctx, p, p.committed) }

// committed asks every coordinator for the offsets of its groups, and forgets those that
// are none any more.
func (p *Poller) committed(ctx context.Context, groups map[string]polled) map[string]Committed {
	out := make(map[string]Committed, len(groups))
	byBroker := map[int32][]string{}
	for _, id := range slices.Sorted(maps.Keys(groups)) {
		g := groups[id]
		if g.broker < 0 {
			out[id] = notCommitted(id, p.c.now(), p.c.now(), cmp.Or(g.err, errNotAnswered))
			continue
		}
		byBroker[g.broker] = append(byBroker[g.broker], id)
	}
	var mu sync.Mutex
	r := &run{Collector: p.c, m: p.m}
	each(slices.Collect(maps.Keys(byBroker)), func(at int32) {
		b := p.c.broker(p.m, at)
		b.limit = PollLimit
		asked := p.c.now()
		got, failed := r.committed(ctx, b, byBroker[at])
		answered := p.c.now()
		mu.Lock()
		defer mu.Unlock()
		for _, id := range byBroker[at] {
			if err := failed[id]; err != nil && !absent(err) { // a group that is not there has committed nothing
				out[id] = notCommitted(id, asked, answered, err)
				if transient(err) || isBroker(err) && ctx.Err() == nil {
					groups[id] = polled{broker: -1, typ: groups[id].typ, err: err}
					p.looked = time.Time{} // leaders have changed
				}
				continue
			}
			out[id] = Committed{Group: id, Asked: asked, Answered: answered, Offsets: got[id].list()}
		}
	})
	return out
}

// notCommitted is a poll that told nothing.
func notCommitted(id string, asked, answered inspect.Time, err error) Committed {
	why, _ := explain(err, need{})
	return Committed{Group: id, Asked: asked, Answered: answered, Error: why}
}

// list are the offsets in order, without partitions that have none.
func (c commits) list() []CommittedOffset {
	out := make([]CommittedOffset, 0, len(c))
	for p, o := range c {
		if o >= 0 {
			out = append(out, CommittedOffset{p.topic, p.partition, o})
		}
	}
	slices.SortFunc(out, func(a, b CommittedOffset) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return out
}

// committed sends OffsetFetch for many groups, and says of those without an answer why;
// brokers below v8 (up to 2.8) know one group a request.
func (r *run) committed(ctx context.Context, b broker, ids []string) (map[string]commits, map[string]error) {
	failed := map[string]error{}
	resp, err := offsetFetch(ctx, b, ids)
	switch {
	case err != nil:
		for _, id := range ids {
			failed[id] = err
		}
		return nil, failed
	case resp.Version < 8:
		return r.committedSingly(ctx, b, ids)
	}
	r.nameTopics(ctx, resp)
	out := map[string]commits{}
	for i := range resp.Groups {
		g := &resp.Groups[i]
		if err := kerr.ErrorForCode(g.ErrorCode); err != nil {
			failed[g.Group] = err
			continue
		}
		out[g.Group] = r.groupCommits(g)
	}
	return out, failed
}

// committedSingly sends one OffsetFetch a group.
func (r *run) committedSingly(ctx context.Context, b broker, ids []string) (map[string]commits, map[string]error) {
	out, failed := map[string]commits{}, map[string]error{}
	var mu sync.Mutex
	each(ids, func(id string) {
		one, err := offsetFetch(ctx, b, []string{id})
		if err == nil {
			err = kerr.ErrorForCode(one.ErrorCode)
		}
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			failed[id] = err
			return
		}
		c := commits{}
		for _, t := range one.Topics {
			for _, p := range t.Partitions {
				if p.ErrorCode == 0 {
					c[tp{t.Topic, p.Partition}] = p.Offset
				}
			}
		}
		out[id] = c
	})
	return out, failed
}

// offsetFetch asks for all committed offsets of groups. The first id is given in
// the form of old brokers too.
func offsetFetch(ctx context.Context, b broker, ids []string) (*kmsg.OffsetFetchResponse, error) {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group = ids[0]
	for _, id := range ids {
		g := kmsg.NewOffsetFetchRequestGroup()
		g.Group = id
		req.Groups = append(req.Groups, g)
	}
	return req.RequestWith(ctx, b)
}

// nameTopics makes sure that the topics of an answer by id (v10) have names. Where
// that fails the ids stand in the place of the names, which is still an answer.
func (r *run) nameTopics(ctx context.Context, resp *kmsg.OffsetFetchResponse) {
	var unknown [][16]byte
	r.mu.Lock()
	for _, g := range resp.Groups {
		for _, t := range g.Topics {
			if t.Topic == "" && r.m.byID[t.TopicID] == "" && !slices.Contains(unknown, t.TopicID) {
				unknown = append(unknown, t.TopicID)
			}
		}
	}
	r.mu.Unlock()
	if len(unknown) == 0 {
		return
	}
	found, err := r.topicsByID(ctx, unknown)
	if err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range found {
		r.m.addTopic(&found[i])
	}
}

// groupCommits reads one group of an answer of v8 or later.
func (r *run) groupCommits(g *kmsg.OffsetFetchResponseGroup) commits {
	c := commits{}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range g.Topics {
		name := t.Topic
		if name == "" {
			name = r.m.byID[t.TopicID]
		}
		if name == "" {
			name = topicIDText(t.TopicID)
		}
		for _, p := range t.Partitions {
			if p.ErrorCode == 0 {
				c[tp{name, p.Partition}] = p.Offset
			}
		}
	}
	return c
}
