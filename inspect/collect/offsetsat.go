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
// queries (ListOffsets by timestamp, high watermark), one after another by leader and
// all leaders at once. Answers come ordered by topic, partition and moment. What could
// not be asked is a Gap a topic, which needs DESCRIBE on it. The error is that of
// Metadata: then nothing could be asked.
func (c *Collector) OffsetsAt(ctx context.Context, queries []inspect.OffsetQuery) ([]inspect.OffsetAt, []inspect.Gap, error) {
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
	m, err := c.Metadata(ctx, slices.Compact(topics)...)
	if err != nil {
		return nil, nil, err
	}
	a := &momentAsker{Collector: c, m: m, moments: moments, troubles: map[string]error{}}
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

// ask puts all questions to one leader: a round for the first moment of each of its
// partitions, one for the second, and so on, since a request may name a partition once.
// The ends are read first: they must not be newer than an answer that no record has come.
func (a *momentAsker) ask(ctx context.Context, leader int32, ps []tp) {
	b := a.broker(a.m, leader)
	var starts, ends map[tp]extent
	var wg sync.WaitGroup
	wg.Go(func() { starts = listOffsets(ctx, b, ps, always(earliest)) })
	wg.Go(func() { ends = listOffsets(ctx, b, ps, always(latest)) })
	wg.Wait()
	for round := 0; ; round++ {
		now := slices.DeleteFunc(slices.Clone(ps), func(p tp) bool { return round >= len(a.moments[p]) })
		if len(now) == 0 {
			return
		}
		found := listOffsets(ctx, b, now, func(p tp) int64 { return a.moments[p][round] })
		for _, p := range now {
			a.take(p, a.moments[p][round], found[p], starts[p], ends[p])
		}
	}
}

// take keeps one answer.
func (a *momentAsker) take(p tp, at int64, found, start, end extent) {
	if err := cmp.Or(found.err, end.err); err != nil {
		a.trouble(p, err)
		return
	}
	o := inspect.OffsetAt{Topic: p.topic, Partition: p.partition, At: inspect.AtMillis(at), Offset: found.end, Start: start.end, Asked: a.now()}
	switch {
	case found.end < 0: // no record with that timestamp or a later one
		o.Offset = end.end
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
