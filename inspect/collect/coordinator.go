package collect

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/internal/pause"
	"github.com/kgdiag/kgdiag/locate"
)

// lookup is the coordinator of one group, or why it is unknown.
type lookup struct {
	broker int32 // -1 unknown
	err    error
}

// coordinators finds the coordinators of groups with FindCoordinator, which the
// caller has made safe: m shows __consumer_offsets. Any broker can answer; the
// computed leaders are asked first because they are asked for more anyway.
func (c *Collector) coordinators(ctx context.Context, m *Metadata, groups []string) map[string]lookup {
	out := make(map[string]lookup, len(groups))
	open := groups
	for try := 1; len(open) > 0; try++ {
		found, err := c.findOnce(ctx, m, open)
		var again []string
		for _, g := range open {
			l, ok := found[g]
			switch {
			case err != nil:
				l = lookup{-1, err}
			case !ok:
				l = lookup{-1, errNotAnswered}
			}
			out[g] = l
			if l.err != nil && transient(l.err) {
				again = append(again, g)
			}
		}
		open = again
		if err != nil || try == coordinatorTries || (len(open) > 0 && pause.For(ctx, retryPause) != nil) {
			break
		}
	}
	return out
}

// errNotAnswered says that the broker answered, but not about this group, as
// happens for ids that are not valid UTF-8.
var errNotAnswered = errors.New("the broker's answer does not mention the group")

// findOnce asks one broker, and others if that one is slow, for all the groups.
func (c *Collector) findOnce(ctx context.Context, m *Metadata, groups []string) (map[string]lookup, error) {
	return firstAnswer(ctx, c.byLeader(m, groups[0]), func(ctx context.Context, b broker) (map[string]lookup, error) {
		return findAt(ctx, b, groups)
	})
}

// byLeader are all brokers, the computed leader of group first.
func (c *Collector) byLeader(m *Metadata, group string) []broker {
	leader := m.Leader(partitionOf(m, group))
	all := c.brokers(m)
	if i := slices.IndexFunc(all, func(b broker) bool { return b.id == leader }); i > 0 {
		all[0], all[i] = all[i], all[0]
	}
	return all
}

// findAt asks one broker. Brokers up to 2.8 (FindCoordinator below v4) know one id
// a request and would take a batch for the empty id, so the first id is always
// given in both ways and the rest one by one where the answer shows an old broker.
func findAt(ctx context.Context, b broker, groups []string) (map[string]lookup, error) {
	out := make(map[string]lookup, len(groups))
	for _, ids := range chunks(groups) {
		req := kmsg.NewPtrFindCoordinatorRequest()
		req.CoordinatorKey, req.CoordinatorKeys = ids[0], ids
		resp, err := req.RequestWith(ctx, b)
		if err != nil {
			return nil, err
		}
		if resp.Version >= 4 {
			for _, a := range resp.Coordinators {
				out[a.Key] = asLookup(a.NodeID, a.ErrorCode, a.ErrorMessage)
			}
			continue
		}
		out[ids[0]] = asLookup(resp.NodeID, resp.ErrorCode, resp.ErrorMessage)
		if err := findSingly(ctx, b, ids[1:], out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// findSingly asks an old broker id by id.
func findSingly(ctx context.Context, b broker, ids []string, out map[string]lookup) error {
	var mu sync.Mutex
	var failed error
	each(ids, func(id string) {
		req := kmsg.NewPtrFindCoordinatorRequest()
		req.CoordinatorKey, req.CoordinatorKeys = id, []string{id}
		resp, err := req.RequestWith(ctx, b)
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			failed = err
			return
		}
		out[id] = asLookup(resp.NodeID, resp.ErrorCode, resp.ErrorMessage)
	})
	return failed
}

// asLookup reads one answer.
func asLookup(node int32, code int16, message *string) lookup {
	if err := answerError(code, message); err != nil {
		return lookup{-1, err}
	}
	if node < 0 {
		return lookup{-1, kerr.CoordinatorNotAvailable}
	}
	return lookup{node, nil}
}

// partitionOf is the offsets partition of a group; -1 where the topic is not known.
func partitionOf(m *Metadata, group string) int32 {
	n := m.OffsetsPartitions()
	if n == 0 {
		return -1
	}
	p, err := locate.PartitionIn(m.ClusterID, group, n)
	if err != nil {
		return -1 // an id that no broker would accept either
	}
	return p
}
