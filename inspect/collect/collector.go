package collect

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/offsetlog"
	"github.com/kgdiag/kgdiag/internal/hedge"
)

const (
	// DefaultPerBroker is how long one request to one broker may take.
	DefaultPerBroker = 5 * time.Second
	// DefaultParallel is how many requests are under way at once; in a cluster of more
	// brokers one for each of them: it is the brokers that are spared.
	DefaultParallel = 16
	// MostParallel is how many there are at most in a large cluster.
	MostParallel = 64

	// chunk is how many groups one describe or offsets request names: enough to
	// make thousands of groups cheap, few enough for an answer within a second.
	chunk = 200
	// hedgeAfter is how long a broker may think before the same question, which
	// any broker can answer, goes to another one as well.
	hedgeAfter = time.Second
	// coordinatorTries and retryPause bound how often a coordinator that is loading
	// or moving is asked again.
	coordinatorTries = 4
	retryPause       = 250 * time.Millisecond
)

// Options tell a Collector how to behave. The zero value is good.
type Options struct {
	// PerBroker is the longest that one request to one broker may take;
	// DefaultPerBroker if zero.
	PerBroker time.Duration
	// Parallel bounds the requests under way at once; DefaultParallel and more if zero.
	Parallel int
	// Now is the clock of GeneratedAt and of the times of answers; time.Now if nil.
	Now func() time.Time
	// Log reads the last metadata records from the offsets topic; an offsetlog.Scanner
	// of the same client if nil.
	Log LogReader
	// Met is the Metadata answer with which the client connected, with the offsets topic
	// in it; it serves in the place of the first request for Metadata. Nil for none.
	Met *kmsg.MetadataResponse
	// Bootstrap and Context are shown as Case.Cluster's.
	Bootstrap string
	Context   string
	// Version is the version of kgdiag that Case.Kgdiag names.
	Version string
}

// Collector reads one cluster through a client that somebody else built and will
// close. It is safe for concurrent use.
type Collector struct {
	cl   *kgo.Client
	opts Options
	sem  chan struct{}

	metMu sync.Mutex
	met   *kmsg.MetadataResponse // not used yet

	sickMu sync.Mutex
	sick   map[int32]sickness
	well   []int32 // brokers that have answered, and were not sick since

	namesMu sync.Mutex
	names   map[[16]byte]string // of topics by id; "" for one that is gone
}

// New makes a Collector that sends its requests through cl. Nothing is sent yet.
func New(cl *kgo.Client, opts Options) *Collector {
	if opts.PerBroker <= 0 {
		opts.PerBroker = DefaultPerBroker
	}
	atOnce := opts.Parallel
	if atOnce <= 0 {
		opts.Parallel, atOnce = DefaultParallel, DefaultParallel
		if opts.Met != nil {
			atOnce = min(max(len(opts.Met.Brokers), atOnce), MostParallel)
		}
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Log == nil {
		opts.Log = &offsetlog.Scanner{Client: cl, Patience: opts.PerBroker}
	}
	return &Collector{cl: cl, opts: opts, met: opts.Met, sem: make(chan struct{}, atOnce), names: map[[16]byte]string{}, sick: map[int32]sickness{}}
}

// now is the present by the Collector's clock.
func (c *Collector) now() inspect.Time { return inspect.At(c.opts.Now()) }

// BrokerError says that one broker did not answer one request.
type BrokerError struct {
	Broker int32  // node id; negative for a bootstrap address
	Addr   string // host:port as Metadata names it; "" unknown
	Err    error
	Limit  time.Duration // the limit that was in force
}

// Error names the broker and what went wrong, in a reader's words.
func (e *BrokerError) Error() string { return e.subject() + " " + brokerTrouble(e.Err, e.Limit) }

// Unwrap is the error of the client.
func (e *BrokerError) Unwrap() error { return e.Err }

// broker is one broker as a kmsg.Requestor with the Collector's limits.
type broker struct {
	c  *Collector
	id int32
	// addr is for messages only.
	addr string
	// limit is in place of Options.PerBroker where it is not zero.
	limit time.Duration
}

// Request sends req to this broker alone, within its limit. A request that
// met a connection which the broker had closed meanwhile is sent once more. The
// error is a *BrokerError, or the context's if that ended first.
func (b broker) Request(ctx context.Context, req kmsg.Request) (kmsg.Response, error) {
	select {
	case b.c.sem <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-b.c.sem }()
	limit := b.c.opts.PerBroker
	if b.limit > 0 {
		limit = b.limit
	}
	allowed, was := b.c.patience(b.id, limit)
	limited, cancel := context.WithTimeout(ctx, allowed)
	defer cancel()
	to := b.c.cl.Broker(int(b.id))
	resp, err := to.Request(limited, req)
	if err != nil && closedMeanwhile(err) && limited.Err() == nil {
		resp, err = to.Request(limited, req)
	}
	if err == nil {
		b.c.isWell(b.id)
		return resp, nil
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil, ctx.Err()
	}
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		b.c.isSick(b.id, was)
	}
	return nil, &BrokerError{Broker: b.id, Addr: b.addr, Err: err, Limit: was}
}

// sickness is a broker that let a request run out of time.
type sickness struct {
	until time.Time
	limit time.Duration // that it had
}

const (
	// sickFor is how long a broker that did not answer in time is met with little
	// patience, so that it costs a run its limit once and not once a request.
	sickFor = 10 * time.Second
	// sickPatience is how long it may take then.
	sickPatience = 300 * time.Millisecond
)

// patience is how long a broker may take now, and the limit that an error names: for
// a sick one, that which it has overrun before.
func (c *Collector) patience(id int32, limit time.Duration) (allowed, named time.Duration) {
	c.sickMu.Lock()
	defer c.sickMu.Unlock()
	if s, ok := c.sick[id]; ok && time.Now().Before(s.until) && limit > sickPatience {
		return sickPatience, s.limit
	}
	return limit, limit
}

// isSick notes that a broker did not answer within limit.
func (c *Collector) isSick(id int32, limit time.Duration) {
	c.sickMu.Lock()
	defer c.sickMu.Unlock()
	c.sick[id] = sickness{time.Now().Add(sickFor), limit}
	c.well = slices.DeleteFunc(c.well, func(x int32) bool { return x == id })
}

// isWell notes that a broker has answered.
func (c *Collector) isWell(id int32) {
	c.sickMu.Lock()
	defer c.sickMu.Unlock()
	delete(c.sick, id)
	if id >= 0 && len(c.well) < mostWell && !slices.Contains(c.well, id) {
		c.well = append(c.well, id)
	}
}

// mostWell is how many brokers are remembered to have answered.
const mostWell = 3

// answering are brokers that have answered lately.
func (c *Collector) answering() []int32 {
	c.sickMu.Lock()
	defer c.sickMu.Unlock()
	return slices.Clone(c.well)
}

// closedMeanwhile reports whether err is an idle connection that the other side
// had closed, which says nothing about the health of the broker.
func closedMeanwhile(err error) bool {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return false
	}
	return errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.As(err, &op)
}

// each runs f for every item at once and waits for all; the Collector's semaphore
// bounds the requests, not the goroutines, which are cheap.
func each[T any](items []T, f func(T)) {
	var wg sync.WaitGroup
	for _, item := range items {
		wg.Go(func() { f(item) })
	}
	wg.Wait()
}

// chunks cuts ids into pieces of at most chunk.
func chunks(ids []string) [][]string {
	var out [][]string
	for len(ids) > chunk {
		out, ids = append(out, ids[:chunk:chunk]), ids[chunk:]
	}
	if len(ids) > 0 {
		out = append(out, ids)
	}
	return out
}

// firstAnswer asks brokers that can all answer the same question, as hedge.First
// does. It gives the first answer, or the error of the first broker.
func firstAnswer[B, T any](ctx context.Context, brokers []B, ask func(context.Context, B) (T, error)) (T, error) {
	answer, errs := hedge.First(ctx, brokers, hedgeAfter, ask)
	switch {
	case len(brokers) == 0:
		return answer, errNoBroker
	case errs == nil:
		return answer, nil
	case ctx.Err() != nil:
		return answer, ctx.Err()
	}
	return answer, errs[0]
}

// errNoBroker says that there is nobody to ask.
var errNoBroker = errors.New("no broker is known")
