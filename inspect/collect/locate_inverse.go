package collect

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/locate"
)

// InverseQuery asks which of the ids that the brokers list live in a partition, at
// a broker, or anywhere.
type InverseQuery struct {
	Selection     Selection // of groups; not used with Transactional
	Transactional bool
	Partition     *int32 // nil any
	// Broker is the coordinator; for one that is down, the ids that would be its own
	// if it were up. nil any.
	Broker *int32
}

// LocateListed lists the ids of every broker (ListGroups, or ListTransactions of
// Kafka 3.0) and places them. Each broker lists what it coordinates, so that the
// listing itself is the brokers' answer. Brokers that do not answer are Gaps: their
// ids are missing from the result, not absent from the cluster. The error is the
// client's.
func (c *Collector) LocateListed(ctx context.Context, q InverseQuery) (*Located, error) {
	out, err := c.Describe(ctx, q.Transactional)
	if err != nil || out.Topic == nil {
		return out, err
	}
	var listing *Listing
	if q.Transactional {
		listing = c.listTransactions(ctx, c.brokers(out.Metadata))
	} else {
		listing = c.ListAll(ctx, out.Metadata)
	}
	out.Listing = listing
	chosen := listing.choose(func(l Listed) bool { return q.Transactional || q.Selection.matches(l) })
	answers := make(map[string][]Answer, len(chosen))
	ids := make([]string, 0, len(chosen))
	for _, l := range chosen {
		ids = append(ids, l.ID)
		answers[l.ID] = []Answer{{Broker: l.Broker, Coordinator: l.Broker}}
	}
	out.judge(ids, answers)
	out.Locations = slices.DeleteFunc(out.Locations, func(loc Location) bool { return !q.wants(out.Topic, &loc) })
	c.findReasons(ctx, out, LocateQuery{Transactional: q.Transactional})
	out.listingGaps(q.Transactional)
	return out, ctx.Err()
}

// wants reports whether the query asks for this location.
func (q InverseQuery) wants(d *locate.Description, loc *Location) bool {
	if q.Partition != nil && loc.Partition != *q.Partition {
		return false
	}
	if q.Broker == nil {
		return true
	}
	if _, up := d.Broker(*q.Broker); up {
		return loc.Coordinator == *q.Broker
	}
	return len(loc.State.Replicas) > 0 && loc.State.Replicas[0] == *q.Broker
}

// choose are the listed ids that keep accepts, by id.
func (l *Listing) choose(keep func(Listed) bool) []Listed {
	var out []Listed
	for _, g := range l.Groups {
		if keep(g) {
			out = append(out, g)
		}
	}
	slices.SortFunc(out, func(a, b Listed) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// IDs are the ids of the listed groups that the selection takes, in order.
func (l *Listing) IDs(sel Selection) []string {
	var ids []string
	for _, g := range l.choose(sel.matches) {
		ids = append(ids, g.ID)
	}
	return ids
}

// listTransactions asks each broker for the transactional ids that it coordinates.
// Ids that the principal may not DESCRIBE are left out by the broker without a word.
func (c *Collector) listTransactions(ctx context.Context, brokers []broker) *Listing {
	l := &Listing{Groups: map[string]Listed{}, Failed: map[int32]error{}, Versions: map[int32]int16{}}
	var mu sync.Mutex
	each(brokers, func(b broker) {
		resp, err := kmsg.NewPtrListTransactionsRequest().RequestWith(ctx, b)
		if err == nil {
			err = kerr.ErrorForCode(resp.ErrorCode)
		}
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			l.Failed[b.id] = err
			return
		}
		l.Answered = append(l.Answered, b.id)
		l.Versions[b.id] = resp.Version
		for _, t := range resp.TransactionStates {
			l.Groups[t.TransactionalID] = Listed{ID: t.TransactionalID, Broker: b.id, State: t.TransactionState}
		}
	})
	return l
}

// listingGaps says which brokers' ids are missing.
func (l *Located) listingGaps(transactional bool) {
	what, n := "groups", need{fact: inspect.FactState, acl: "DESCRIBE on Cluster", version: "0.9"}
	if transactional {
		what, n.acl, n.version = "transactional ids", "DESCRIBE on TransactionalId", "3.0"
	}
	for _, b := range sortedKeys(l.Listing.Failed) {
		n.what = what + " of " + brokerName(b)
		l.Gaps = append(l.Gaps, n.gap("", l.Listing.Failed[b]))
	}
}
