package offsetlog

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/locate"
)

// Scanner reads the partitions of an offsets topic. Its fields are set before the
// first call; its methods may then be called concurrently. It sends Metadata,
// ListOffsets and Fetch requests only, none of them routed by coordinator, and
// never lets the topic be created.
type Scanner struct {
	// Client sends the requests. It belongs to the caller.
	Client *kgo.Client
	// Dial opens a further client for a range that is read beside others, since one
	// client has one fetch connection to a broker, on which the broker answers one
	// request after the other. The scan closes it. Nil: all ranges share Client.
	Dial func() (*kgo.Client, error)
	// Warm is told which brokers will be fetched from before long, once each: the client
	// opens the connection for it with the first fetch, which waits. Nil: nobody is.
	Warm func(broker int32)
	// Topic is read instead of __consumer_offsets if it is not "".
	Topic string
	// FetchBytes is how much one fetch asks of a partition; 0 means 1 MiB. It bounds
	// memory: a scan holds about 2*Parallel of them.
	FetchBytes int32
	// Patience is how long a partition may make no progress (no leader, broker gone,
	// connection refused) before it is given up; 0 means 15 s.
	Patience time.Duration
	// Rate bounds what all scans together read, in bytes a second; 0 is no bound. Follow
	// is not held to it: it reads what is being written, and would fall behind.
	Rate int64

	pace    pacer
	knownMu sync.Mutex
	known   *cluster       // as it was found last
	greeted map[int32]bool // brokers to which a connection for fetching was opened

	clocks clocks
}

func (s *Scanner) topic() string {
	if s.Topic == "" {
		return locate.OffsetsTopic
	}
	return s.Topic
}

func (s *Scanner) fetchBytes() int32 {
	if s.FetchBytes <= 0 {
		return 1 << 20
	}
	return max(s.FetchBytes, 1<<12)
}

// chunkBytes is how much one fetch of a scan asks for: where its rate is bounded no more
// than a quarter of a second's worth, so that a slow scan does not read in bursts.
func (s *Scanner) chunkBytes() int32 {
	if s.Rate <= 0 {
		return s.fetchBytes()
	}
	return int32(min(int64(s.fetchBytes()), max(s.Rate/4, 1<<12)))
}

func (s *Scanner) patience() time.Duration {
	if s.Patience <= 0 {
		return 15 * time.Second
	}
	return s.Patience
}

// Point is a place in every partition of a request. The zero Point is the edge: the
// log's start for From, its end (the high watermark when the scan starts) for To.
type Point struct {
	kind pointKind
	n    int64
}

type pointKind uint8

const (
	atEdge pointKind = iota
	atOffset
	atTime
	atLast
)

// AtOffset is offset n of each partition.
func AtOffset(n int64) Point { return Point{atOffset, n} }

// AtTime is the first record of time t or later. The coordinator stamps records as
// it writes them, so their times ascend but for a change of coordinator between
// brokers whose clocks differ.
func AtTime(t time.Time) Point { return Point{atTime, t.UnixMilli()} }

// Last is n offsets before the end, or the log's start if it has fewer.
func Last(n int64) Point { return Point{atLast, n} }

// Request is what a Scan is to read.
type Request struct {
	// Partitions to read, in this order; nil means all of the topic.
	Partitions []int32
	Filter
	// From is the first, To the first no longer read.
	From, To Point
	// FromOffsets and ToOffsets override From and To for the partitions they name.
	FromOffsets, ToOffsets map[int32]int64
	// Budget bounds the bytes that are read, about: where the range may hold more, only
	// the newest part of each partition is read. 0 is no bound. Cut, if set, is told of
	// each partition how many offsets were left out.
	Budget int64
	Cut    func(partition int32, offsets int64)
	// Parallel is how many ranges are read at a time; 0 means 4.
	Parallel int
	// Survey spares the scan its own questions about the partitions; nil: it asks.
	Survey *Survey
	// Progress, if set, is called from time to time (about once a FetchBytes) by the
	// goroutine that called Scan.
	Progress func(Progress)
}

func (r *Request) parallel() int {
	if r.Parallel <= 0 {
		return 4
	}
	return r.Parallel
}

// Progress is how far a scan has got.
type Progress struct {
	Offsets int64 // done
	Total   int64 // in all partitions of the request
	Records int64
	Bytes   int64
}

// PartitionError is the failure of one partition, while others were read.
type PartitionError struct {
	Partition int32
	Err       error
}

// Error names the partition.
func (e *PartitionError) Error() string {
	return fmt.Sprintf("offsets partition %d: %v", e.Partition, e.Err)
}

// Unwrap is the cause.
func (e *PartitionError) Unwrap() error { return e.Err }

// Scan reads the request's partitions and hands each record that the filter wants
// to fn, which is called by one goroutine, Scan's own. Partition by partition the
// records come in the order of their offsets, with one exception: what was written
// in a transaction comes when its commit marker is met, which is when it counts,
// and not at all if it was aborted or is still open at the end (PartitionLog.Open).
//
// The answer holds what was covered of each partition, in the order of the request,
// failed ones included. The error joins a [*PartitionError] for each partition that
// could not be read to its end; fn's error and the context's end the scan at once.
// Corrupt batches, unknown record types and compaction gaps are no errors: they are
// counted in the inspect.PartitionLog.
func (s *Scanner) Scan(ctx context.Context, req Request, fn func(inspect.Record) error) ([]inspect.PartitionLog, error) {
	c, err := s.located(ctx)
	if err != nil {
		return nil, err
	}
	parts, err := s.plan(ctx, c, &req)
	if err != nil {
		return nil, err
	}
	run := &scan{s: s, c: c, req: &req, parts: parts, fn: fn}
	err = run.do(ctx)
	logs := make([]inspect.PartitionLog, 0, len(parts))
	var failed []error
	for _, p := range parts {
		logs = append(logs, p.finish())
		if p.err != nil {
			failed = append(failed, &PartitionError{p.id, p.err})
		}
	}
	if err != nil {
		return logs, err
	}
	return logs, errors.Join(failed...)
}
