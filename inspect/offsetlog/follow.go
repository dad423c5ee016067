package offsetlog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/pause"
)

// FollowRequest is what to tail.
type FollowRequest struct {
	// From is where to start in each partition: the PartitionLog.To of a scan goes on
	// where it ended. -1 is the end at the time of the call.
	From map[int32]int64
	Filter
	// Ready, if set, is called once, when every partition's start is known: records
	// written after it are handed on.
	Ready func()
	// Handed, if set, is called when all wanted records of an answer have been handed on: who
	// collects them need not wait. Its error ends Follow like that of fn.
	Handed func() error
	// Trouble, if set, is told of what Follow goes through, by the goroutine that
	// called it: a leader that is gone or has changed (Follow tries again, without
	// end), and what it had to leave out (Lost).
	Trouble func(Trouble)
	// Wait is how long a broker may hold a fetch while there is nothing new; 0 means
	// 500 ms.
	Wait time.Duration
}

// Trouble is something that Follow met in a partition.
type Trouble struct {
	Partition int32
	Offset    int64
	Err       error
	// Lost is how many offsets were passed over: the log's start or end had moved, or a
	// batch was corrupt. 0 where Follow merely tries again.
	Lost int64
	// Next is where Follow goes on, with Lost: before Offset if an unclean election took
	// the end of the log back.
	Next int64
}

// Follow hands on each record that the filter wants, as it is written, until the
// context ends or fn answers an error: it answers that error, or the context's. fn
// is called by the calling goroutine. The order is that of Scan; so is the treatment
// of transactions, except that one whose records lie before From is not seen.
//
// A change of leader loses and repeats nothing: records are read up to the high
// watermark only, each partition goes on at the offset after the last batch that
// was handed on, and a leader must know the epoch that the metadata named. Only an
// unclean election can take back what was read; then the end of the log lies before
// the offset, which Trouble tells.
//
// Follow itself fails only if the topic cannot be read at all: no such topic, no
// permission, no such partition.
func (s *Scanner) Follow(ctx context.Context, req FollowRequest, fn func(inspect.Record) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f := &follower{s: s, c: s.newCluster(), req: &req, fn: fn, answers: make(chan answer), busy: make(map[int32]bool), asked: make(map[int32]time.Time)}
	if err := f.start(ctx); err != nil {
		return err
	}
	if req.Ready != nil {
		req.Ready()
	}
	err := f.run(ctx)
	cancel()
	for range f.busy { // let the requests in flight end
		<-f.answers
	}
	return err
}

// follower is one run of Follow. All of it belongs to the calling goroutine; only
// the requests run beside it.
type follower struct {
	s       *Scanner
	c       *cluster
	req     *FollowRequest
	fn      func(inspect.Record) error
	cursors map[int32]*cursor
	busy    map[int32]bool      // brokers with a request in flight
	asked   map[int32]time.Time // when they were asked last
	answers chan answer
	w       *walker
	turn    int // rotates the order of the partitions, since a fetch fills from the front
}

// cursor is where a partition is read.
type cursor struct {
	next  int64
	txns  transactions
	retry time.Time // not to be asked before
	tries int
	// tip is when a fetch was asked for that had nothing after next; zero: not known.
	tip time.Time
}

// answer is what a broker said to one request.
type answer struct {
	broker      int32
	asked, read time.Time
	wants       []want
	resp        *kmsg.FetchResponse
	err         error
}

func (f *follower) start(ctx context.Context) error {
	if err := f.c.refresh(ctx); err != nil {
		return err
	}
	f.w = newWalker(&f.req.Filter)
	f.cursors = make(map[int32]*cursor)
	ids := slices.Sorted(maps.Keys(f.req.From))
	known, missing := f.c.known(ids)
	if len(missing) > 0 {
		return &PartitionError{missing[0], kerr.UnknownTopicOrPartition}
	}
	var ask []int32
	for _, p := range known {
		f.cursors[p] = &cursor{next: f.req.From[p]}
		if f.req.From[p] < 0 {
			ask = append(ask, p)
		}
	}
	asked := time.Now()
	ends, errs := f.c.offsets(ctx, ask, endOfLog)
	for _, p := range ask {
		if errs[p] != nil {
			return &PartitionError{p, errs[p]}
		}
		f.cursors[p].next, f.cursors[p].tip = ends[p], asked
	}
	return ctx.Err()
}

// gather is how long a broker is left alone between two fetches. A busy log has something
// new at any time: asked again at once, a broker would send it record by record.
const gather = 60 * time.Millisecond

// tick is how often partitions without a leader are looked at again.
const tick = 100 * time.Millisecond

func (f *follower) run(ctx context.Context) error {
	defer f.w.inflate.close()
	timer := time.NewTicker(tick)
	defer timer.Stop()
	for {
		f.ask(ctx)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			if err := f.relocate(ctx); err != nil {
				return err
			}
		case a := <-f.answers:
			delete(f.busy, a.broker)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := f.take(ctx, a); err != nil {
				return err
			}
		}
	}
}

// ask sends one request to each broker that is idle and leads something.
func (f *follower) ask(ctx context.Context) {
	wants := make(map[int32][]want)
	now := time.Now()
	ids := slices.Sorted(maps.Keys(f.cursors))
	f.turn++
	for i := range ids {
		p := ids[(i+f.turn)%len(ids)]
		cur := f.cursors[p]
		l, ok := f.c.leader(p)
		if !ok || l.broker < 0 || f.busy[l.broker] || now.Before(cur.retry) {
			continue
		}
		wants[l.broker] = append(wants[l.broker], want{p, cur.next, l.epoch, f.s.fetchBytes()})
	}
	wait := f.req.Wait
	if wait <= 0 {
		wait = 500 * time.Millisecond
	}
	for broker, w := range wants {
		due := f.asked[broker].Add(gather)
		f.busy[broker], f.asked[broker] = true, now
		if due.After(now) {
			f.asked[broker] = due
		}
		go func() {
			_ = pause.For(ctx, due.Sub(now)) // the end of ctx ends the fetch too
			resp, err := f.c.fetch(ctx, f.s.Client, broker, wait, w)
			f.answers <- answer{broker, now, time.Now(), w, resp, err}
		}()
	}
}

// relocate asks the metadata again while a partition waits for another try.
func (f *follower) relocate(ctx context.Context) error {
	waiting := false
	for p, cur := range f.cursors {
		l, ok := f.c.leader(p)
		waiting = waiting || cur.tries > 0 || !ok || l.broker < 0
	}
	if !waiting {
		return nil
	}
	err := f.c.refreshSince(ctx, time.Now().Add(-tick))
	if err != nil && ctx.Err() == nil && !moved(err) {
		return err
	}
	return ctx.Err()
}

// take walks an answer and hands its records on.
func (f *follower) take(ctx context.Context, a answer) error {
	if a.err != nil {
		for _, w := range a.wants {
			if err := f.failed(ctx, w.partition, a.err); err != nil {
				return err
			}
		}
		return nil
	}
	got := make(map[int32]bool)
	var err error
	each(a.resp, func(p *kmsg.FetchResponseTopicPartition) {
		cur := f.cursors[p.Partition]
		if cur == nil || err != nil {
			return
		}
		got[p.Partition] = true
		if code := kerr.ErrorForCode(p.ErrorCode); code != nil {
			err = f.failed(ctx, p.Partition, code)
			return
		}
		cur.tries, cur.retry = 0, time.Time{}
		err = f.records(a, p, cur)
	})
	for _, w := range a.wants {
		if !got[w.partition] && err == nil {
			err = f.failed(ctx, w.partition, errNoAnswer)
		}
	}
	if err == nil && f.req.Handed != nil {
		err = f.req.Handed()
	}
	return err
}

func (f *follower) records(a answer, answered *kmsg.FetchResponseTopicPartition, cur *cursor) error {
	p, records := answered.Partition, answered.RecordBatches
	if len(records) == 0 {
		cur.tip = a.asked
		return nil
	}
	const end = 1<<63 - 1
	seen := newFound(cur.next)
	f.w.walk(records, p, span{cur.next, end, cur.next, end}, seen)
	if seen.corrupt > 0 {
		f.tell(Trouble{Partition: p, Offset: cur.next, Err: errors.New("corrupt batch"), Lost: seen.corrupt, Next: seen.next})
	}
	if seen.batches == 0 {
		f.delay(cur)
		f.tell(Trouble{Partition: p, Offset: cur.next, Err: errNothing})
	}
	cur.next = seen.next
	f.s.clocks.back(p, seen.back)
	f.s.clocks.note(a.broker, seen.newest, p, cur.tip, a.read)
	if cur.tip = a.asked; cur.next < answered.HighWatermark {
		cur.tip = time.Time{}
	}
	defer seen.recycle()
	for i := range seen.items {
		if err := cur.txns.pass(&seen.items[i], f.fn); err != nil {
			return err
		}
	}
	return nil
}

func (f *follower) tell(t Trouble) {
	if f.req.Trouble != nil {
		f.req.Trouble(t)
	}
}

func (f *follower) delay(cur *cursor) {
	cur.retry = time.Now().Add(backoff(cur.tries))
	cur.tries++
}

// failed puts a partition off to another try, or gives up what cannot be mended.
func (f *follower) failed(ctx context.Context, p int32, err error) error {
	cur := f.cursors[p]
	if errors.Is(err, kerr.OffsetOutOfRange) {
		return f.outOfRange(ctx, p, cur)
	}
	if !moved(err) {
		return &PartitionError{p, fmt.Errorf("offset %d: %w", cur.next, err)}
	}
	f.delay(cur)
	f.tell(Trouble{Partition: p, Offset: cur.next, Err: err})
	return nil
}

// outOfRange goes on at the edge of the log that the cursor has fallen off.
func (f *follower) outOfRange(ctx context.Context, p int32, cur *cursor) error {
	f.delay(cur)
	t := Trouble{Partition: p, Offset: cur.next, Err: kerr.OffsetOutOfRange}
	if log, err := f.c.survey(ctx, []int32{p}, nil).Edges(p); err == nil {
		switch {
		case cur.next < log.Start:
			t.Lost, cur.next = log.Start-cur.next, log.Start
		case cur.next > log.End && cur.tries > 3: // not a leader that is still catching up
			t.Lost, cur.next = cur.next-log.End, log.End
			cur.txns = transactions{}
		}
		t.Next = cur.next
	}
	f.tell(t)
	return nil
}
