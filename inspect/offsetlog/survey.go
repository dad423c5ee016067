package offsetlog

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"
)

// Edges are the ends of one partition.
type Edges struct {
	Start, End int64 // the log's start, and its high watermark
}

// Survey says where partitions start and end, and where they were at some moments. It
// is made by one round trip, and spares each scan that is given it its own questions.
type Survey struct {
	edges map[int32]Edges
	errs  map[int32]error
	times map[int64]moment // by milliseconds
	asked time.Time        // for the edges
}

// moment is where partitions were at one time.
type moment struct {
	offsets map[int32]int64 // -1: no record of that time or later
	errs    map[int32]error
}

// Edges are the ends of a partition, or why they are not known.
func (v *Survey) Edges(partition int32) (Edges, error) {
	e, ok := v.edges[partition]
	switch err := v.errs[partition]; {
	case err != nil:
		return Edges{}, err
	case !ok:
		return Edges{}, errNotSurveyed
	}
	return e, nil
}

// errNotSurveyed is a Survey of other partitions than those that are read.
var errNotSurveyed = errors.New("the ends of the partition were not asked for")

// Edges asks where partitions start and end; nil means all of the topic. The error
// joins a [*PartitionError] for each partition without an answer.
func (s *Scanner) Edges(ctx context.Context, partitions []int32) (map[int32]Edges, error) {
	v, err := s.Survey(ctx, partitions)
	if err != nil {
		return nil, err
	}
	return v.all(slices.Sorted(maps.Keys(v.edges)))
}

// all are the ends of partitions, as of Scanner.Edges.
func (v *Survey) all(partitions []int32) (map[int32]Edges, error) {
	out := make(map[int32]Edges)
	var failed []error
	for _, p := range partitions {
		e, err := v.Edges(p)
		if err != nil {
			failed = append(failed, &PartitionError{p, err})
			continue
		}
		out[p] = e
	}
	return out, errors.Join(failed...)
}

// Survey asks where partitions start and end, nil meaning all of the topic, and for the
// first record of each of the times or later: all at once. The connections for fetching
// are opened meanwhile. The error is for a topic that does not exist or may not be seen.
func (s *Scanner) Survey(ctx context.Context, partitions []int32, times ...time.Time) (*Survey, error) {
	c, err := s.located(ctx)
	if err != nil {
		return nil, err
	}
	if partitions == nil {
		partitions = c.partitions()
	}
	s.greet(c, partitions)
	return c.survey(ctx, partitions, times), ctx.Err()
}

// survey asks for starts, ends and moments at once.
func (c *cluster) survey(ctx context.Context, partitions []int32, times []time.Time) *Survey {
	v := &Survey{edges: make(map[int32]Edges), errs: make(map[int32]error), times: make(map[int64]moment), asked: time.Now()}
	ask := []int64{startOfLog, endOfLog}
	for _, t := range times {
		if at := t.UnixMilli(); !slices.Contains(ask, at) {
			ask = append(ask, at)
		}
	}
	found := make([]moment, len(ask))
	var wg sync.WaitGroup
	for i, at := range ask {
		wg.Go(func() { found[i].offsets, found[i].errs = c.offsets(ctx, partitions, at) })
	}
	wg.Wait()
	for _, p := range partitions {
		v.edges[p] = Edges{found[0].offsets[p], found[1].offsets[p]}
		if v.errs[p] = found[0].errs[p]; v.errs[p] == nil {
			v.errs[p] = found[1].errs[p] // both are of one leader: one of them tells it
		}
	}
	for i, at := range ask[2:] {
		v.times[at] = found[i+2]
	}
	return v
}

// Since is how many offsets were written from one of the survey's times on, in all its
// partitions together; 0 where it does not know, or is nil.
func (v *Survey) Since(t time.Time) (offsets int64) {
	if v == nil {
		return 0
	}
	for p, from := range v.times[t.UnixMilli()].offsets {
		if e, err := v.Edges(p); err == nil && from >= 0 {
			offsets += e.End - from
		}
	}
	return offsets
}

// at is where partitions were at a time, asked for where the survey does not say.
func (v *Survey) at(ctx context.Context, c *cluster, partitions []int32, millis int64) moment {
	if m, ok := v.times[millis]; ok {
		return m
	}
	offsets, errs := c.offsets(ctx, partitions, millis)
	return moment{offsets, errs}
}

// greet has the connections opened on which the leaders of partitions will be fetched
// from, while something else is being asked.
func (s *Scanner) greet(c *cluster, partitions []int32) {
	if s.Warm == nil {
		return
	}
	s.knownMu.Lock()
	defer s.knownMu.Unlock()
	if s.greeted == nil {
		s.greeted = make(map[int32]bool)
	}
	for _, p := range partitions {
		if l, ok := c.leader(p); ok && l.broker >= 0 && !s.greeted[l.broker] {
			s.greeted[l.broker] = true
			s.Warm(l.broker)
		}
	}
}
