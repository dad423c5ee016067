package collect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/pause"
	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/locate"
)

// LocateQuery says which ids to locate.
type LocateQuery struct {
	// IDs are groups, or transactional ids; each must pass locate.Validate.
	IDs           []string
	Transactional bool
	// AskAll asks every broker for every id; else an id's leader, the controller, the
	// bootstrap broker and some more are asked, at most maxVerifiers; about very many
	// ids (sampleAbove) the leaders, and the others about a sample.
	AskAll bool

	everyID bool // no sampling
}

// Agreement says whether the brokers' answers are what the hash and Metadata say.
type Agreement string

// The agreements.
const (
	Agrees     Agreement = "agrees"     // every broker that answered named the computed leader
	Disagrees  Agreement = "disagrees"  // some did not; Location.Reason may say why
	Unverified Agreement = "unverified" // no broker answered the question
)

// Reason is why an answer is not as computed.
type Reason string

// The reasons; "" where none could be told.
const (
	// ReasonElection: the leader changed while kgdiag was asking.
	ReasonElection Reason = "election"
	// ReasonNoLeader: the partition has no leader, so nobody coordinates.
	ReasonNoLeader Reason = "no_leader"
	// ReasonPartitionCount: a broker still counts the partitions that the topic had
	// when the broker started (GroupCoordinatorService.startup reads them once).
	ReasonPartitionCount Reason = "partition_count"
	// ReasonRedpanda: the cluster places groups as Redpanda does.
	ReasonRedpanda Reason = "redpanda"
	// ReasonDenied: the principal may not DESCRIBE the id.
	ReasonDenied Reason = "not_authorised"
)

// Answer is what one broker said of one id.
type Answer struct {
	Broker      int32 // that was asked; -1 a bootstrap address that Metadata does not list
	Coordinator int32 // -1 with Err
	Err         error // a *kerr.Error where the broker refused, a *BrokerError where it did not answer
}

// Location is where one id lives and what the brokers say about it.
type Location struct {
	locate.Placement
	// Coordinator is what the brokers answered, the majority where they differ and
	// the computed leader in a tie; -1 where none answered.
	Coordinator int32
	Agreement   Agreement
	Reason      Reason
	// Why explains Reason in a sentence without a full stop; "" without one.
	Why     string
	Answers []Answer // by broker id
}

// Located is the answer to a LocateQuery.
type Located struct {
	Metadata *Metadata
	// Topic describes the topic behind the coordinators; nil where TopicErr says
	// why: ErrNoOffsetsTopic, ErrNoTransactionsTopic, or a *kerr.Error.
	Topic     *locate.Description
	TopicErr  error
	Locations []Location // in the order of the query, or by id
	// Listing is what the brokers listed, for an InverseQuery; else nil.
	Listing *Listing
	Gaps    []inspect.Gap
}

// ErrNoTransactionsTopic says that the cluster has no __transaction_state: no
// transaction has ever been there. FindCoordinator would create it.
var ErrNoTransactionsTopic = errors.New(locate.TransactionsTopic + " does not exist: no producer has ever used a transactional id here")

// Describe reads Metadata and turns the topic behind the coordinators into a
// Description, or TopicErr. Nothing is created: Metadata is asked with
// AllowAutoTopicCreation false. The error is the client's.
func (c *Collector) Describe(ctx context.Context, transactional bool) (*Located, error) {
	m, err := c.Metadata(ctx, locate.TransactionsTopic)
	if err != nil {
		return nil, err
	}
	out := &Located{Metadata: m}
	out.Topic, out.TopicErr = m.describe(transactional)
	return out, nil
}

// Locate places ids by the hash, then asks the brokers. FindCoordinator is sent
// only once Metadata has shown the topic, which it would else create. The error is
// the client's, or an id's (locate.Validate).
func (c *Collector) Locate(ctx context.Context, q LocateQuery) (*Located, error) {
	for _, id := range q.IDs {
		if err := locate.Validate(id); err != nil {
			return nil, fmt.Errorf("id %q: %w", id, err)
		}
	}
	out, err := c.Describe(ctx, q.Transactional)
	if err != nil || out.Topic == nil {
		return out, err
	}
	out.judge(q.IDs, c.askVerifiers(ctx, out, q, q.IDs))
	if len(q.IDs) > sampleAbove && slices.ContainsFunc(out.Locations, func(loc Location) bool { return loc.Agreement == Disagrees }) {
		q.everyID = true
		out.judge(q.IDs, c.askVerifiers(ctx, out, q, q.IDs))
	}
	c.secondLook(ctx, out, q)
	c.findReasons(ctx, out, q)
	out.gaps(q)
	return out, ctx.Err()
}

// describe makes a Description of one of the two topics.
func (m *Metadata) describe(transactional bool) (*locate.Description, error) {
	name, missing := locate.OffsetsTopic, ErrNoOffsetsTopic
	if transactional {
		name, missing = locate.TransactionsTopic, ErrNoTransactionsTopic
	}
	t, ok := m.Topics[name]
	switch {
	case !ok, errors.Is(t.Err, kerr.UnknownTopicOrPartition):
		return nil, missing
	case t.Err != nil && len(t.Partitions) == 0:
		return nil, t.Err
	case len(t.Partitions) == 0:
		return nil, fmt.Errorf("%s: the broker's answer shows no partitions", name)
	}
	d := &locate.Description{Cluster: m.ClusterID, Topic: name}
	for i, p := range t.Partitions {
		if int(p.Partition) != i {
			return nil, fmt.Errorf("%s: the broker's answer leaves out partition %d", name, i)
		}
		d.Partitions = append(d.Partitions, locate.PartitionState{Partition: p.Partition, Leader: p.Leader,
			Replicas: p.Replicas, ISR: p.ISR, Offline: p.Offline})
	}
	for _, b := range m.Brokers {
		d.Brokers = append(d.Brokers, locate.Broker{ID: b.ID, Host: b.Host, Port: b.Port, Rack: b.Rack})
	}
	return d, nil
}

// judge fills Locations from the answers.
func (l *Located) judge(ids []string, answers map[string][]Answer) {
	l.Locations = make([]Location, 0, len(ids))
	for _, id := range ids {
		p, err := l.Topic.Place(id)
		if err != nil {
			continue // every id was validated, and the topic has partitions
		}
		loc := Location{Placement: p, Answers: answers[id]}
		loc.weigh()
		l.Locations = append(l.Locations, loc)
	}
}

// weigh sets Coordinator and Agreement from the answers.
func (loc *Location) weigh() {
	slices.SortFunc(loc.Answers, func(a, b Answer) int { return int(a.Broker) - int(b.Broker) })
	votes, named := map[int32]int{}, false
	for _, a := range loc.Answers {
		named = named || a.Err == nil && a.Broker >= 0
	}
	for _, a := range loc.Answers {
		// Behind a bootstrap address is one of the others: it votes only for want of them.
		if a.Err == nil && (a.Broker >= 0 || !named) {
			votes[a.Coordinator]++
		}
	}
	loc.Coordinator = -1
	for who, n := range votes {
		best := votes[loc.Coordinator]
		switch {
		case n > best,
			n == best && who == loc.State.Leader,
			n == best && loc.Coordinator != loc.State.Leader && who < loc.Coordinator:
			loc.Coordinator = who
		}
	}
	switch {
	case len(votes) == 0:
		loc.Agreement = Unverified
	case len(votes) == 1 && votes[loc.State.Leader] > 0:
		loc.Agreement = Agrees
	default:
		loc.Agreement = Disagrees
	}
}

// unsettled reports whether asking again may give a better answer: brokers differ,
// or one of them said that the coordinator is not available just now.
func (loc *Location) unsettled() bool {
	return loc.Agreement == Disagrees || slices.ContainsFunc(loc.Answers, func(a Answer) bool {
		return a.Err != nil && transient(a.Err)
	})
}

// secondLook asks again about what an election in progress would explain: Metadata
// first, then the brokers.
func (c *Collector) secondLook(ctx context.Context, out *Located, q LocateQuery) {
	open := map[string]int{}
	var ids []string
	for i := range out.Locations {
		if loc := &out.Locations[i]; loc.unsettled() {
			open[loc.ID] = i
			ids = append(ids, loc.ID)
		}
	}
	if len(ids) == 0 || pause.For(ctx, retryPause) != nil {
		return
	}
	again, err := c.Describe(ctx, q.Transactional)
	if err != nil || again.Topic == nil {
		return
	}
	again.judge(ids, c.askVerifiers(ctx, again, q, ids))
	for _, now := range again.Locations {
		old := &out.Locations[open[now.ID]]
		if len(now.Answers) == 0 {
			continue
		}
		if was := old.State.Leader; was != now.State.Leader {
			now.Reason = ReasonElection
			now.Why = "the leader changed while kgdiag was asking, from " + brokerName(was) + " to " + brokerName(now.State.Leader)
		}
		*old = now
	}
	out.Metadata, out.Topic = again.Metadata, again.Topic
}

// brokerName is a broker id in a sentence.
func brokerName(id int32) string {
	if id < 0 {
		return "no broker"
	}
	return fmt.Sprintf("broker %d", id)
}

// gaps turns what could not be verified into Gaps, one a reason.
func (l *Located) gaps(q LocateQuery) {
	kind, acl := "group", "DESCRIBE on the Group resource"
	if q.Transactional {
		kind, acl = "transactional id", "DESCRIBE on the TransactionalId resource"
	}
	need := need{fact: inspect.FactCoordinator, what: "the brokers' own answer to FindCoordinator", acl: acl}
	silent := map[int32]error{}
	var deniedIDs []string
	var deniedErr error
	for i := range l.Locations {
		loc := &l.Locations[i]
		for _, a := range loc.Answers {
			switch {
			case a.Err == nil:
			case denied(a.Err):
				deniedErr = a.Err
			case isBroker(a.Err):
				silent[a.Broker] = a.Err
			}
		}
		if loc.Agreement == Unverified && slices.ContainsFunc(loc.Answers, func(a Answer) bool { return a.Err != nil && denied(a.Err) }) {
			loc.Reason, loc.Why = ReasonDenied, "the principal may not DESCRIBE the "+kind
			deniedIDs = append(deniedIDs, loc.ID)
		}
	}
	if len(deniedIDs) > 0 {
		g := need.gap("", deniedErr)
		g.What += " about " + someOf(kind, deniedIDs)
		l.Gaps = append(l.Gaps, g)
	}
	for _, b := range sortedKeys(silent) {
		l.Gaps = append(l.Gaps, inspect.Gap{Fact: inspect.FactCoordinator, What: "the answer of " + brokerName(b) + " to FindCoordinator",
			Why: silent[b].Error()})
	}
}

// someOf names ids of a kind, the first three and the number of the rest.
func someOf(kind string, ids []string) string {
	if len(ids) > 1 {
		kind += "s"
	}
	quoted := make([]string, len(ids))
	for i, id := range ids {
		quoted[i] = strconv.Quote(id)
	}
	return kind + " " + prose.Few(quoted, 3)
}

// sortedKeys are the keys of m in order.
func sortedKeys[V any](m map[int32]V) []int32 {
	keys := make([]int32, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
