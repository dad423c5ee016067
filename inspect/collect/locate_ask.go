package collect

import (
	"context"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// maxVerifiers is how many brokers are asked about one id.
	maxVerifiers = 12
	// verifierWait is how long a broker may keep us waiting once every id has an
	// answer from another.
	verifierWait = time.Second
	// locateChunk bounds the ids in one FindCoordinator request, and locateBytes
	// their length: a broker answers both within some tens of milliseconds.
	locateChunk = 1000
	locateBytes = 1 << 20
	// sampleAbove is the number of ids beyond which verifiers are asked about that
	// many of them only: a broker reads its metadata afresh for each id, and 10,000
	// cost it a second. If the sample shows a disagreement, all are asked about.
	sampleAbove = 500
	// singleParallel is how many requests of one id are under way at an old broker.
	singleParallel = 8
	// batchVersion is the first FindCoordinator that takes many ids (KIP-699).
	batchVersion = 4
)

// said is one answer on its way to the collector of answers.
type said struct {
	id string
	Answer
}

// askVerifiers asks several brokers about ids and waits for all of them, but for no
// longer than verifierWait once every id has an answer; who is late gets an error.
func (c *Collector) askVerifiers(ctx context.Context, l *Located, q LocateQuery, ids []string) map[string][]Answer {
	plan := c.plan(l, q, ids)
	asking, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make(chan said, locateChunk)
	var wg sync.WaitGroup
	for b, of := range plan {
		wg.Go(func() { c.askOne(asking, c.verifier(l.Metadata, b), q.Transactional, of, answers) })
	}
	go func() { wg.Wait(); close(answers) }()

	out := make(map[string][]Answer, len(ids))
	good := 0
	var late <-chan time.Time
	for open := true; open; {
		select {
		case a, ok := <-answers:
			if open = ok; !ok {
				break
			}
			if a.Err == nil && !slices.ContainsFunc(out[a.id], func(o Answer) bool { return o.Err == nil }) {
				good++
			}
			out[a.id] = append(out[a.id], a.Answer)
			if good == len(ids) && late == nil {
				timer := time.NewTimer(verifierWait)
				defer timer.Stop()
				late = timer.C
			}
		case <-late:
			cancel()
			open = false
			go drain(answers)
		}
	}
	c.blameTheLate(l.Metadata, plan, out)
	return out
}

// drain lets the askers that were given up end.
func drain(answers <-chan said) {
	for range answers { //nolint:revive // emptying is the purpose
	}
}

// blameTheLate adds an error for each broker and id without an answer.
func (c *Collector) blameTheLate(m *Metadata, plan map[int32][]string, out map[string][]Answer) {
	for b, of := range plan {
		shown := shownAs(m, b)
		for _, id := range of {
			if slices.ContainsFunc(out[id], func(a Answer) bool { return a.Broker == shown }) {
				continue
			}
			out[id] = append(out[id], Answer{Broker: shown, Coordinator: -1,
				Err: &BrokerError{Broker: shown, Addr: c.verifier(m, b).addr, Err: context.DeadlineExceeded, Limit: verifierWait}})
		}
	}
}

// plan says which brokers to ask about which ids: each leader about its own, and
// the controller, the bootstrap broker and some more about all of them, or about a
// sample where there are very many.
func (c *Collector) plan(l *Located, q LocateQuery, ids []string) map[int32][]string {
	common := c.common(l.Metadata, q.AskAll)
	sampled := len(ids) > sampleAbove && !q.everyID
	step := 1
	if sampled {
		step = len(ids)/sampleAbove + 1
	}
	plan := make(map[int32][]string, len(common))
	for i, id := range ids {
		leader := int32(-1)
		if p, err := l.Topic.Place(id); err == nil && l.Topic.LeaderAlive(p.State) {
			leader = p.State.Leader
		}
		for _, b := range common {
			if i%step == 0 || b == leader || leader < 0 {
				plan[b] = append(plan[b], id)
			}
		}
		if leader >= 0 && !slices.Contains(common, leader) {
			plan[leader] = append(plan[leader], id)
		}
	}
	return plan
}

// common are the brokers asked about every id. One place is left for the leader.
func (c *Collector) common(m *Metadata, all bool) []int32 {
	var out []int32
	limit := maxVerifiers - 1
	if all || len(m.Brokers) <= maxVerifiers {
		limit = len(m.Brokers) + 1
	}
	add := func(id int32) {
		if len(out) < limit && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	if _, ok := m.Broker(m.Controller); ok {
		add(m.Controller)
	}
	add(c.bootstrap(m))
	for _, b := range m.Brokers {
		add(b.ID)
	}
	return out
}

// bootstrap is the broker behind the first bootstrap address. Where Metadata lists
// no broker of that address (a load balancer, a port-forward), it is the negative
// id under which the client keeps the address: the only way in, perhaps.
func (c *Collector) bootstrap(m *Metadata) int32 {
	addresses, _ := c.cl.OptValue("SeedBrokers").([]string)
	for _, b := range m.Brokers {
		if slices.Contains(addresses, net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port)))) {
			return b.ID
		}
	}
	return firstSeed
}

// firstSeed is the id that kgo gives the first bootstrap address; SeedBrokers
// offers the broker, but not its id.
const firstSeed = -1 << 31

// verifier is a broker or, for a negative id, the first bootstrap address.
func (c *Collector) verifier(m *Metadata, id int32) broker {
	if id >= 0 {
		return c.broker(m, id)
	}
	return broker{c: c, id: id}
}

// shownAs is the id under which a broker's answer is shown.
func shownAs(_ *Metadata, id int32) int32 { return max(id, -1) }

// askOne asks one broker about ids, chunk by chunk, and sends each answer on its
// way; it ends when ctx does. After a broker that does not answer at all, the rest
// of the ids are not tried.
func (c *Collector) askOne(ctx context.Context, b broker, transactional bool, ids []string, answers chan<- said) {
	for _, some := range idChunks(ids) {
		resp, err := findCoordinators(ctx, b, transactional, some...)
		if err != nil {
			if ctx.Err() == nil {
				for _, id := range ids {
					answers <- said{id, Answer{Broker: max(b.id, -1), Coordinator: -1, Err: err}}
				}
			}
			return
		}
		if resp.Version >= batchVersion {
			for _, r := range resp.Coordinators {
				answers <- heard(b, r.Key, r.NodeID, r.ErrorCode, r.ErrorMessage)
			}
		} else {
			answers <- heard(b, some[0], resp.NodeID, resp.ErrorCode, resp.ErrorMessage)
			c.askSingly(ctx, b, transactional, some[1:], answers)
		}
		ids = ids[len(some):]
	}
}

// askSingly asks a broker that knows one id a request.
func (c *Collector) askSingly(ctx context.Context, b broker, transactional bool, ids []string, answers chan<- said) {
	next := make(chan string)
	var wg sync.WaitGroup
	for range singleParallel {
		wg.Go(func() {
			for id := range next {
				resp, err := findCoordinators(ctx, b, transactional, id)
				switch {
				case err == nil:
					answers <- heard(b, id, resp.NodeID, resp.ErrorCode, resp.ErrorMessage)
				case ctx.Err() == nil:
					answers <- said{id, Answer{Broker: max(b.id, -1), Coordinator: -1, Err: err}}
				}
			}
		})
	}
feed:
	for _, id := range ids {
		select {
		case next <- id:
		case <-ctx.Done():
			break feed
		}
	}
	close(next)
	wg.Wait()
}

// findCoordinators sends one request. The first id is given in both ways: a broker
// below v4 reads the one field, and would take an empty one for the empty id.
func findCoordinators(ctx context.Context, b broker, transactional bool, ids ...string) (*kmsg.FindCoordinatorResponse, error) {
	req := kmsg.NewPtrFindCoordinatorRequest()
	req.CoordinatorKey, req.CoordinatorKeys = ids[0], ids
	if transactional {
		req.CoordinatorType = 1
	}
	return req.RequestWith(ctx, b)
}

// heard is an answer that a broker gave.
func heard(b broker, id string, node int32, code int16, message *string) said {
	a := Answer{Broker: max(b.id, -1), Coordinator: node, Err: answerError(code, message)}
	switch {
	case a.Err != nil:
		a.Coordinator = -1
	case node < 0:
		a.Coordinator, a.Err = -1, kerr.CoordinatorNotAvailable
	}
	return said{id, a}
}

// idChunks cuts ids into requests.
func idChunks(ids []string) [][]string {
	var out [][]string
	start, size := 0, 0
	for i, id := range ids {
		if i > start && (i-start == locateChunk || size+len(id) > locateBytes) {
			out, start, size = append(out, ids[start:i]), i, 0
		}
		size += len(id)
	}
	if start < len(ids) {
		out = append(out, ids[start:])
	}
	return out
}
