package collect

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/kgdiag/kgdiag/inspect"
)

// OffsetsAt asks the leaders of partitions where their logs were at the moments of the
// queries (ListOffsets by timestamp, high watermark), all at once. What a caller has read
// before is not asked again: the placement of topics in m, which may be nil, and the
// ends of logs in the Offsets of groups. Answers come ordered by topic, partition and
// moment. What could not be asked is a Gap a topic, which needs DESCRIBE on it. The error
// is that of Metadata: then nothing could be asked.
func (c *Collector) OffsetsAt(ctx context.Context, queries []inspect.OffsetQuery, m *Metadata, groups []inspect.Group) ([]inspect.OffsetAt, []inspect.Gap, error) {
	if len(queries) == 0 {
		return nil, nil, nil
	}
	var topics []string
	moments := map[tp][]int64{}
	for _, q := range queries {
		p := tp{q.Topic, q.Partition}
		topics = append(topics, q.Topic)
		moments[p] = append(moments[p], q.At.UnixMilli())
	}
	slices.Sort(topics)
	topics = slices.Compact(topics)
	if m == nil || slices.ContainsFunc(topics, func(t string) bool { _, ok := m.Topics[t]; return !ok }) {
		var err error
		if m, err = c.Metadata(ctx, topics...); err != nil {
			return nil, nil, err
		}
	}
	a := &momentAsker{Collector: c, m: m, moments: moments, known: knownEnds(groups), troubles: map[string]error{}}
	byLeader := map[int32][]tp{}
	for p := range moments {
		if leader, err := m.leader(p.topic, p.partition); err != nil {
			a.trouble(p, err)
		} else {
			byLeader[leader] = append(byLeader[leader], p)
		}
	}
	each(slices.Collect(maps.Keys(byLeader)), func(leader int32) { a.ask(ctx, leader, byLeader[leader]) })
	slices.SortFunc(a.out, func(x, y inspect.OffsetAt) int {
		return cmp.Or(strings.Compare(x.Topic, y.Topic), cmp.Compare(x.Partition, y.Partition), x.At.Compare(y.At.Time))
	})
	return a.out, a.gaps(), nil
}

// momentAsker gathers the answers of OffsetsAt.
type momentAsker struct {
	*Collector
	m       *Metadata
	moments map[tp][]int64 // in milliseconds
	known   map[tp]known   // ends that were read before

	mu       sync.Mutex
	out      []inspect.OffsetAt
	troubles map[string]error // by topic
}

func (a *momentAsker) trouble(p tp, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.troubles[p.topic] == nil {
		a.troubles[p.topic] = err
	}
}

// known are the ends of a log as they were read at a time.
type known struct {
	extent
	at inspect.Time
}

// knownEnds are the ends of logs that were read with the lag of groups.
func knownEnds(groups []inspect.Group) map[tp]known {
	out := map[tp]known{}
	for i := range groups {
		g := &groups[i]
		at := slices.IndexFunc(g.Sources, func(s inspect.Source) bool { return s.Fact == inspect.FactLag })
		for _, o := range g.Offsets {
			if at >= 0 && o.Start != nil && o.End != nil {
				out[tp{o.Topic, o.Partition}] = known{extent{start: *o.Start, end: *o.End}, g.Sources[at].At}
			}
		}
	}
	return out
}

// ask puts all questions to one leader: one request for the first moment of each of its
// partitions, one for the second, and so on, since a request may name a partition once.
// The ends are read before: they must not be newer than an answer that no record has come.
func (a *momentAsker) ask(ctx context.Context, leader int32, ps []tp) {
	b := a.broker(a.m, leader)
	extents := a.edges(ctx, b, ps)
	var rounds [][]tp
	for _, p := range ps {
		for i := range a.moments[p] {
			if i == len(rounds) {
				rounds = append(rounds, nil)
			}
			rounds[i] = append(rounds[i], p)
		}
	}
	var wg sync.WaitGroup
	for i, ps := range rounds {
		wg.Go(func() {
			found := listOffsets(ctx, b, ps, func(p tp) int64 { return a.moments[p][i] })
			for _, p := range ps {
				a.take(p, a.moments[p][i], found[p], extents[p])
			}
		})
	}
	wg.Wait()
}

// edges are the starts and ends of the logs of partitions of one leader.
func (a *momentAsker) edges(ctx context.Context, b broker, ps []tp) map[tp]extent {
	out := map[tp]extent{}
	var open []tp
	for _, p := range ps {
		e, ok := a.known[p]
		if ok && e.at.UnixMilli() > slices.Max(a.moments[p]) {
			out[p] = e.extent
		} else {
			open = append(open, p)
		}
	}
	if len(open) > 0 {
		maps.Copy(out, readExtents(ctx, b, open))
	}
	return out
}

// take keeps one answer.
func (a *momentAsker) take(p tp, at int64, found, log extent) {
	if err := cmp.Or(found.err, log.err); err != nil {
		a.trouble(p, err)
		return
	}
	o := inspect.OffsetAt{Topic: p.topic, Partition: p.partition, At: inspect.AtMillis(at), Offset: found.end, Start: log.start, Asked: a.now()}
	switch {
	case found.end < 0: // no record with that timestamp or a later one
		o.Offset = log.end
	case found.time >= 0:
		o.Next = inspect.AtMillis(found.time)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.out = append(a.out, o)
}

// gaps makes a Gap of each topic that could not be asked.
func (a *momentAsker) gaps() []inspect.Gap {
	var out []inspect.Gap
	for _, topic := range slices.Sorted(maps.Keys(a.troubles)) {
		g := need{fact: inspect.FactOffsetsAt, what: "whether records waited on topic " + topic, acl: "DESCRIBE on Topic " + topic}
		out = append(out, g.gap("", a.troubles[topic]))
	}
	return out
}
