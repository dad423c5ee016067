package collect

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/kgdiag/kgdiag/inspect"
)

// Ends asks the leaders of partitions for the ends of their logs (ListOffsets, high
// watermark). Partitions that could not be asked are missing from the answer. The
// error is that of Metadata: then nothing could be asked.
func (c *Collector) Ends(ctx context.Context, of []inspect.TopicPartitions) (map[string]map[int32]int64, error) {
	var topics []string
	for _, t := range of {
		topics = append(topics, t.Topic)
	}
	slices.Sort(topics)
	m, err := c.Metadata(ctx, slices.Compact(topics)...)
	if err != nil {
		return nil, err
	}
	byLeader := map[int32][]tp{}
	for _, t := range of {
		for _, pm := range m.Topics[t.Topic].Partitions {
			if pm.Leader >= 0 && slices.Contains(t.Partitions, pm.Partition) {
				byLeader[pm.Leader] = append(byLeader[pm.Leader], tp{t.Topic, pm.Partition})
			}
		}
	}
	out := map[string]map[int32]int64{}
	var mu sync.Mutex
	each(slices.Collect(maps.Keys(byLeader)), func(leader int32) {
		ends := listOffsets(ctx, c.broker(m, leader), byLeader[leader], always(latest))
		mu.Lock()
		defer mu.Unlock()
		for p, e := range ends {
			if e.err != nil || e.end < 0 {
				continue
			}
			if out[p.topic] == nil {
				out[p.topic] = map[int32]int64{}
			}
			out[p.topic][p.partition] = e.end
		}
	})
	return out, nil
}
