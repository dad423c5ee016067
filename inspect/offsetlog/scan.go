package offsetlog

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/pause"
)

// part is one partition of a scan. The splitter and the workers guard next, perByte
// and dead by scan.mu; the rest belongs to the goroutine that delivers.
type part struct {
	id        int32
	low, high int64 // the range to read
	start     int64 // of the log
	end       int64
	asked     time.Time // when the end was asked for

	next     int64   // where the next chunk starts
	perEntry float64 // bytes that an offset takes in a fetch, estimated
	weight   float64 // the same with what is kept of it until it is delivered
	dead     bool

	pos      int64 // delivered up to here
	log      inspect.PartitionLog
	any      bool // a batch has been seen
	hole     bool // the next batch is the first after a hole
	complete int64
	since    int64
	txns     transactions
	err      error
}

// plan resolves the points of a request to offsets. A partition whose edges cannot
// be asked is planned as failed.
func (s *Scanner) plan(ctx context.Context, c *cluster, req *Request) ([]*part, error) {
	ids := req.Partitions
	if ids == nil {
		ids = c.partitions()
	}
	ids, missing := c.known(ids)
	v := req.Survey
	if v == nil {
		s.greet(c, ids)
		v = c.survey(ctx, ids, req.times())
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	parts := make([]*part, 0, len(ids))
	for _, id := range missing {
		parts = append(parts, &part{id: id, err: kerr.UnknownTopicOrPartition, dead: true})
	}
	for _, id := range ids {
		edges, err := v.Edges(id)
		p := &part{id: id, start: edges.Start, end: edges.End, asked: v.asked, perEntry: 128, weight: 256, err: err}
		p.low, p.high = p.start, p.end
		parts = append(parts, p)
	}
	from, to := v.resolver(ctx, c, ids, req.From, req.FromOffsets), v.resolver(ctx, c, ids, req.To, req.ToOffsets)
	for _, p := range parts {
		if p.dead {
			continue
		}
		if p.err == nil {
			p.low, p.err = from(p, p.start)
		}
		if p.err == nil {
			p.high, p.err = to(p, p.end)
		}
		p.low = min(max(p.low, p.start), p.end)
		p.high = max(min(p.high, p.end), p.low)
		p.dead = p.err != nil
	}
	req.trim(parts)
	for _, p := range parts {
		if !p.dead {
			p.next, p.pos, p.complete = p.low, p.low, p.low
		}
	}
	return parts, ctx.Err()
}

// budgetEntry is what an offset is taken to weigh where nothing has been read yet: an
// offset commit in a batch of its own, rather more than less.
const budgetEntry = 200

// trim leaves out the oldest part of each partition, as the budget demands.
func (r *Request) trim(parts []*part) {
	offsets := int64(0)
	for _, p := range parts {
		offsets += p.high - p.low
	}
	if r.Budget <= 0 || offsets*budgetEntry <= r.Budget {
		return
	}
	share := float64(r.Budget) / float64(offsets*budgetEntry)
	for _, p := range parts {
		all := p.high - p.low
		kept := int64(share * float64(all))
		p.low = p.high - kept
		if r.Cut != nil && all > kept {
			r.Cut(p.id, all-kept)
		}
	}
}

// times are the moments that the request names.
func (r *Request) times() []time.Time {
	var out []time.Time
	for _, pt := range []Point{r.From, r.To} {
		if pt.kind == atTime {
			out = append(out, time.UnixMilli(pt.n))
		}
	}
	return out
}

// resolver answers a Point for each partition; times are asked once for all.
func (v *Survey) resolver(ctx context.Context, c *cluster, ids []int32, pt Point, over map[int32]int64) func(*part, int64) (int64, error) {
	var at moment
	if pt.kind == atTime {
		at = v.at(ctx, c, ids, pt.n)
	}
	return func(p *part, edge int64) (int64, error) {
		if o, ok := over[p.id]; ok {
			return o, nil
		}
		switch pt.kind {
		case atOffset:
			return pt.n, nil
		case atLast:
			return p.end - pt.n, nil
		case atTime:
			if at.offsets[p.id] < 0 {
				return p.end, at.errs[p.id]
			}
			return at.offsets[p.id], at.errs[p.id]
		}
		return edge, nil
	}
}

// finish closes the book on a partition.
func (p *part) finish() inspect.PartitionLog {
	l := p.log
	l.Partition, l.LogStart, l.End, l.From, l.To = p.id, p.start, p.end, p.low, p.pos
	if p.err == nil && (p.hole || p.pos < p.high) {
		p.complete, p.since = p.high, 0 // a hole up to the end
	}
	if p.err == nil {
		l.To = p.high
	} else {
		l.Error = p.err.Error()
	}
	l.CompleteFrom, l.CompleteSince = p.complete, inspect.AtMillis(p.since)
	l.Open = p.txns.held()
	return l
}

// chunk is a range of one partition that one worker reads in one go.
type chunk struct {
	p    *part
	span span
	done chan struct{} // closed when found or err is set
	f    *found
	err  error
}

// scan is one run of Scan: a splitter cuts the partitions into chunks, workers read
// them, and the calling goroutine delivers them in order. The chunks in flight are
// bounded, so that memory does not depend on the length of the log.
type scan struct {
	s     *Scanner
	c     *cluster
	req   *Request
	fn    func(inspect.Record) error
	parts []*part

	mu  sync.Mutex
	cur int // partition that is being cut
}

// ballastBytes are allocated for the time of a scan and never touched, so that they
// take address space and no memory. Each fetch leaves a megabyte of garbage, next to
// which what lives is small: without the ballast the collector runs every few
// fetches, and took up to half of a scan's processor time.
const ballastBytes = 12 << 20

// ballast is less where commits are handed out, since those that wait weigh enough,
// and nothing for a short scan.
func (r *scan) ballast() int {
	offsets := int64(0)
	for _, p := range r.parts {
		offsets += p.high - p.low
	}
	switch {
	case offsets < 1<<16:
		return 0
	case r.req.Commits && r.req.CommitsOf == nil:
		return ballastBytes / 4
	}
	return ballastBytes
}

func (r *scan) do(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ballast := make([]byte, r.ballast())
	defer runtime.KeepAlive(ballast)
	n := r.workers()
	order := make(chan *chunk, n)
	work := make(chan *chunk)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel() // before the wait
	lines := 0     // workers that may have a connection of their own; what a scan will read is learnt anew while it runs
	if r.s.Dial != nil && r.bytes() > ownLine {
		lines = r.req.parallel()
	}
	wg.Go(func() { r.split(ctx, order, work) })
	for i := range n {
		wg.Go(func() { r.worker(ctx, i > 0 && i < lines, work) })
	}
	return r.deliver(ctx, order)
}

const (
	// maxWorkers is how many chunks are read at a time at most.
	maxWorkers = 64
	// ownLine is how many bytes a scan must have before it for a further connection to
	// be worth its opening.
	ownLine = 4 << 20
)

// workers is how many chunks are read at a time: as many as the request says, or, where
// it leaves that open, as many as weigh no more than four full ones. Many small
// partitions are then asked for at once, which at a distance is what counts.
func (r *scan) workers() int {
	base := r.req.parallel()
	if r.req.Parallel > 0 {
		return base
	}
	full, chunks, weight := float64(r.s.chunkBytes()), 0, 0.0
	for _, p := range r.parts {
		if !p.dead && p.low < p.high {
			w := p.weight * float64(p.high-p.low)
			chunks, weight = chunks+1+int(w/full), weight+w
		}
	}
	if chunks <= base {
		return max(chunks, 1)
	}
	fit := int(float64(base) * full * float64(chunks) / weight)
	return min(max(base, fit), chunks, maxWorkers)
}

// bytes is about how many bytes the scan will read.
func (r *scan) bytes() float64 {
	sum := 0.0
	for _, p := range r.parts {
		sum += p.perEntry * float64(p.high-p.low)
	}
	return sum
}

// split cuts chunks until all partitions are cut.
func (r *scan) split(ctx context.Context, order, work chan<- *chunk) {
	defer close(order)
	defer close(work)
	for {
		c := r.nextChunk()
		if c == nil {
			return
		}
		select {
		case order <- c:
		case <-ctx.Done():
			return
		}
		select {
		case work <- c:
		case <-ctx.Done():
			return
		}
	}
}

// nextChunk cuts about one fetch off the current partition.
func (r *scan) nextChunk() *chunk {
	r.mu.Lock()
	defer r.mu.Unlock()
	for ; r.cur < len(r.parts); r.cur++ {
		p := r.parts[r.cur]
		if p.dead || p.next >= p.high {
			continue
		}
		size := int64(float64(r.s.chunkBytes()) / max(p.weight, 0.01))
		from := p.next
		p.next = min(from+max(size, 64), p.high)
		return &chunk{p: p, span: span{from, p.next, p.low, p.high}, done: make(chan struct{})}
	}
	return nil
}

// learn tells the splitter what a chunk showed: how large entries are, and where the
// log goes on if the chunk ended in a hole.
func (r *scan) learn(c *chunk) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := c.p
	if c.err != nil {
		p.dead = true
		return
	}
	offsets := float64(c.span.to - c.span.from)
	blend := func(old, seen float64) float64 { return max((old+seen)/2, old/8) }
	p.perEntry = blend(p.perEntry, float64(c.f.bytes)/offsets)
	p.weight = blend(p.weight, max(float64(c.f.bytes), float64(int64(len(c.f.items))*itemBytes))/offsets)
	if c.f.beyond > p.next {
		p.next = min(c.f.beyond, p.high)
	}
}

// worker reads chunks, over a connection of its own where one is wanted; until that stands,
// over the first client's.
func (r *scan) worker(ctx context.Context, wanted bool, work <-chan *chunk) {
	w := newWalker(&r.req.Filter)
	defer w.inflate.close()
	cl := r.s.Client
	var own chan *kgo.Client
	var line *kgo.Client // of this worker alone, once it is open
	defer func() {
		if line != nil {
			line.Close()
		}
	}()
	for c := range work {
		if wanted { // not before there is work for it
			wanted, own = false, make(chan *kgo.Client, 1)
			go r.openLine(ctx, own)
		}
		select {
		case extra, ok := <-own:
			if own = nil; ok {
				line, cl = extra, extra
			}
		default:
		}
		c.f, c.err = r.read(ctx, cl, w, c)
		r.learn(c)
		close(c.done)
	}
	if own != nil {
		go func() {
			if extra, ok := <-own; ok {
				extra.Close()
			}
		}()
	}
}

// openLine hands over a further client, or closes the channel where there is none.
func (r *scan) openLine(ctx context.Context, to chan<- *kgo.Client) {
	if extra, err := r.s.dial(ctx); err == nil {
		to <- extra
		return
	}
	close(to)
}

// dial opens a further client and lets it learn the brokers. If that fails, the
// first client serves.
func (s *Scanner) dial(ctx context.Context) (*kgo.Client, error) {
	cl, err := s.Dial()
	if err != nil {
		return nil, err
	}
	if _, err := askMetadata(ctx, cl, s.topic()); err != nil {
		cl.Close()
		return nil, err
	}
	return cl, nil
}

// read fetches one chunk, through changes of leader.
func (r *scan) read(ctx context.Context, cl *kgo.Client, w *walker, c *chunk) (*found, error) {
	f := newFound(c.span.from)
	since, tries := time.Now(), 0
	for f.next < c.span.to {
		asked := time.Now()
		before := f.next
		done, err := r.fetchOnce(ctx, cl, w, c, f)
		if done {
			return f, nil
		}
		if f.next > before {
			since, tries = time.Now(), 0
			continue
		}
		if err == nil {
			err = errNothing
		}
		if ctx.Err() != nil {
			return f, ctx.Err()
		}
		if !moved(err) || time.Since(since) > r.s.patience() {
			return f, fmt.Errorf("offset %d: %w", f.next, err)
		}
		if err := pause.For(ctx, backoff(tries)); err != nil {
			return f, err
		}
		tries++
		if err := r.c.refreshSince(ctx, asked); err != nil && !moved(err) {
			return f, err
		}
	}
	return f, nil
}

// errNothing is a fetch below the high watermark that brought no whole batch: the
// new leader has not learnt the watermark yet, or the log is damaged.
var errNothing = errors.New("fetch: no whole batch below the high watermark")

// fetchOnce asks the leader for what is left of a chunk and walks the answer.
func (r *scan) fetchOnce(ctx context.Context, cl *kgo.Client, w *walker, c *chunk, f *found) (done bool, err error) {
	l, ok := r.c.leader(c.p.id)
	switch {
	case !ok:
		return false, kerr.UnknownTopicOrPartition
	case l.err != nil && l.broker < 0:
		return false, l.err
	case l.broker < 0:
		return false, kerr.LeaderNotAvailable
	}
	size := r.size(c, f)
	if err := r.s.pace.take(ctx, r.s.Rate, int64(size)); err != nil {
		return false, err
	}
	resp, err := r.c.fetch(ctx, cl, l.broker, 500*time.Millisecond, []want{{c.p.id, f.next, l.epoch, size}})
	if err != nil {
		return false, err
	}
	read := time.Now()
	defer func() { r.noteClock(c, f, l, read) }()
	got := int64(0)
	each(resp, func(p *kmsg.FetchResponseTopicPartition) { got += int64(len(p.RecordBatches)) })
	r.s.pace.settle(r.s.Rate, int64(size), got)
	err = errNoAnswer
	each(resp, func(p *kmsg.FetchResponseTopicPartition) {
		if p.Partition != c.p.id {
			return
		}
		if err = kerr.ErrorForCode(p.ErrorCode); err != nil {
			return
		}
		if len(p.RecordBatches) == 0 && p.HighWatermark >= c.span.to {
			f.next, f.hole, done = c.span.to, true, true // compaction has taken the rest
			return
		}
		done = w.walk(p.RecordBatches, c.p.id, c.span, f)
	})
	if errors.Is(err, kerr.OffsetOutOfRange) {
		return r.outOfRange(ctx, c, f)
	}
	return done, err
}

// noteClock compares the times of what was read with the time of reading.
func (r *scan) noteClock(c *chunk, f *found, l leader, read time.Time) {
	r.s.clocks.note(f.newest.by(l), f.newest, c.p.id, time.Time{}, read)
	r.s.clocks.back(c.p.id, f.back)
	if c.p.high == c.p.end { // and not of a time before
		r.s.clocks.note(f.later.by(l), f.later, c.p.id, c.p.asked, read)
	}
}

// size is how many bytes to ask for: what the rest of the chunk should take, and a
// little more, so that the next chunk's part of the log is not sent twice.
func (r *scan) size(c *chunk, f *found) int32 {
	r.mu.Lock()
	per := c.p.perEntry
	r.mu.Unlock()
	est := 1.05*per*float64(c.span.to-f.next) + 4096
	return int32(min(est, float64(r.s.chunkBytes())))
}

// outOfRange finds out where the log has gone: its start moved past us, which
// skips records and so leaves a hole, or its end fell before us.
func (r *scan) outOfRange(ctx context.Context, c *chunk, f *found) (done bool, err error) {
	starts, errs := r.c.offsets(ctx, []int32{c.p.id}, startOfLog)
	if err := errs[c.p.id]; err != nil {
		return false, err
	}
	start := starts[c.p.id]
	if start <= f.next {
		return false, kerr.OffsetOutOfRange
	}
	f.next, f.hole = min(start, c.span.to), true
	if start >= c.span.to {
		f.beyond = start
	}
	return f.next >= c.span.to, nil
}

// deliver merges the chunks in order and hands their records to fn.
func (r *scan) deliver(ctx context.Context, order <-chan *chunk) error {
	var prog Progress
	for _, p := range r.parts {
		prog.Total += p.high - p.low
	}
	for c := range order {
		select {
		case <-c.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if c.p.err != nil {
			continue // gave up before
		}
		if c.f != nil {
			if err := c.p.merge(c.f, r.fn); err != nil {
				return err
			}
			prog.Records += c.f.records
			prog.Bytes += c.f.bytes
			c.f.recycle()
		}
		if c.err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			c.p.err = c.err
			continue
		}
		prog.Offsets += c.span.to - c.span.from
		if r.req.Progress != nil {
			r.req.Progress(prog)
		}
	}
	return ctx.Err()
}

// merge adds what a chunk holds to the partition's account.
func (p *part) merge(f *found, fn func(inspect.Record) error) error {
	p.log.Records += f.records
	p.log.Bytes += f.bytes
	p.log.Unknown += f.unknown
	p.log.Malformed += f.malformed
	p.log.Corrupt += f.corrupt
	if f.first >= 0 {
		if !p.any || p.hole || f.first > p.pos {
			p.complete, p.since = f.first, f.firstTime
			if !p.any && f.first == p.low {
				p.complete = p.low
			}
		}
		if f.completeFrom >= 0 {
			p.complete, p.since = f.completeFrom, f.completeTime
		}
		p.any, p.hole = true, f.hole
		p.pos = max(p.pos, f.next)
	} else {
		p.hole = p.hole || f.hole
	}
	for i := range f.items {
		if err := p.txns.pass(&f.items[i], fn); err != nil {
			return err
		}
	}
	return nil
}
