package collect

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/pause"
)

// Listed is one group as a broker's ListGroups names it.
type Listed struct {
	ID           string
	Broker       int32             // that listed it: its coordinator
	ProtocolType string            // "consumer", "connect", …; "" for offset-only groups
	State        string            // "" below ListGroups v4 (Kafka 2.6)
	Type         inspect.GroupType // UnknownType below v5 (Kafka 3.8)
}

// Listing is what several brokers listed.
type Listing struct {
	Groups   map[string]Listed
	Answered []int32         // brokers that answered
	Failed   map[int32]error // brokers that did not
	Versions map[int32]int16 // of ListGroups, by broker

	mu sync.Mutex
}

// typed reports whether the broker names the types of its groups.
func (l *Listing) typed(id int32) bool { return l.Versions[id] >= 5 }

// list asks each of the brokers for the groups that it coordinates, of all states or of
// those named. Groups that the principal may not DESCRIBE are left out by the broker
// without a word.
func (c *Collector) list(ctx context.Context, brokers []broker, states ...string) *Listing {
	l := newListing()
	c.hear(ctx, brokers, l, states...)
	return l
}

// newListing is one that nobody has answered yet.
func newListing() *Listing {
	return &Listing{Groups: map[string]Listed{}, Failed: map[int32]error{}, Versions: map[int32]int16{}}
}

// hear adds to l what the brokers list. It may be called several times at once.
func (c *Collector) hear(ctx context.Context, brokers []broker, l *Listing, states ...string) {
	each(brokers, func(b broker) {
		resp, err := c.listOne(ctx, b, states)
		l.mu.Lock()
		defer l.mu.Unlock()
		if err != nil {
			l.Failed[b.id] = err
			return
		}
		l.Answered = append(l.Answered, b.id)
		l.Versions[b.id] = resp.Version
		for _, g := range resp.Groups {
			l.Groups[g.Group] = Listed{ID: g.Group, Broker: b.id, ProtocolType: g.ProtocolType,
				State: g.GroupState, Type: inspect.GroupType(lower(g.GroupType))}
		}
	})
}

// asked reports whether a broker has answered, or failed to.
func (l *Listing) asked(id int32) bool {
	_, failed := l.Failed[id]
	return failed || slices.Contains(l.Answered, id)
}

// listOne asks one broker, again while it loads its partitions.
func (c *Collector) listOne(ctx context.Context, b broker, states []string) (*kmsg.ListGroupsResponse, error) {
	req := kmsg.NewPtrListGroupsRequest()
	req.StatesFilter = states // from v4 on (Kafka 2.6); older brokers list all, without a state
	for try := 1; ; try++ {
		resp, err := req.RequestWith(ctx, b)
		if err == nil {
			err = kerr.ErrorForCode(resp.ErrorCode)
		}
		if err == nil {
			return resp, nil
		}
		loading := errors.Is(err, kerr.CoordinatorLoadInProgress) || errors.Is(err, kerr.CoordinatorNotAvailable)
		if !loading || try == coordinatorTries || pause.For(ctx, retryPause) != nil {
			return nil, err
		}
	}
}

// ListAll lists the groups of every broker of the cluster: what --all-groups,
// shell completion and the offer of a nearest id start from. With states it asks for the
// groups in one of them; brokers before Kafka 2.6 then still list all.
func (c *Collector) ListAll(ctx context.Context, m *Metadata, states ...string) *Listing {
	return c.list(ctx, c.brokers(m), states...)
}
