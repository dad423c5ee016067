package offsetlog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/prose"
)

// Clock bounds how far a broker's clock is ahead of this machine's; a negative time is
// behind. The protocol tells no time but that of records, which their coordinator
// stamps as it writes them. What was read was written before: that is Least. What lies
// behind an end of the log was written after that end was asked for: that is Most, and a
// record that was slow to be replicated can only make it too small, so the largest counts.
type Clock struct {
	Broker      int32 // that leads the partition; -1 one that led it before
	Least, Most *time.Duration
	// Partition and Offset name the batch of the last record that a bound was had from.
	Partition int32
	Offset    int64
}

const (
	// aheadFrom is from when on a clock is told to be ahead: a record was read that long
	// before it was written, by its time.
	aheadFrom = 2 * time.Second
	// behindFrom is the same for one that is behind, which a slow replica can feign.
	behindFrom = 5 * time.Second
	// clockFor is how long a bound holds: a clock may be set.
	clockFor = 2 * time.Minute
)

// Skew is how far the clock is ahead (above zero) or behind; 0 where it is not shown to
// be off. Of what was read as it was written Least is nearly the skew itself.
func (c Clock) Skew() time.Duration {
	behind := c.Most != nil && *c.Most <= -behindFrom
	switch {
	case c.Least != nil && (*c.Least >= aheadFrom || behind && *c.Most-*c.Least <= behindFrom/2):
		return *c.Least
	case behind:
		return *c.Most
	}
	return 0
}

// clocks are those of all brokers that were read from.
type clocks struct {
	mu    sync.Mutex
	of    map[int32]*reckoning
	leads map[int32]int32 // the broker that a partition was read from last
	jumps map[int32]jump  // by partition, the farthest
}

// jump is where the times of a partition go back.
type jump struct {
	by    time.Duration // 0: nowhere
	to    stamp
	moved bool // another leader begins there, else the clock of one was set
}

// from is the jump from one batch to the next; none where time goes on.
func (s stamp) from(last stamp) jump {
	if last.millis == 0 || s.millis >= last.millis {
		return jump{}
	}
	return jump{time.Duration(last.millis-s.millis) * time.Millisecond, s, s.epoch != last.epoch}
}

// back keeps the farthest jump of a partition.
func (c *clocks) back(partition int32, j jump) {
	if j.by < aheadFrom {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.jumps == nil {
		c.jumps = map[int32]jump{}
	}
	if j.by > c.jumps[partition].by {
		c.jumps[partition] = j
	}
}

// reckoning is what is known of one clock.
type reckoning struct {
	least, most bound
}

// bound is one measurement.
type bound struct {
	d         time.Duration
	at        time.Time // by this machine's clock; zero: none
	partition int32
	offset    int64
}

// larger keeps the larger bound, and forgets old ones.
func (b *bound) larger(n bound) {
	if b.at.IsZero() || n.d >= b.d || n.at.Sub(b.at) > clockFor {
		*b = n
	}
}

// note takes a batch that was written by a broker: by the time read, and, where asked is
// not zero, after the time asked.
func (c *clocks) note(broker int32, s stamp, partition int32, asked, read time.Time) {
	if s.millis <= 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of, c.leads = map[int32]*reckoning{}, map[int32]int32{}
	}
	if broker >= 0 {
		c.leads[partition] = broker
	}
	r := c.of[broker]
	if r == nil {
		r = &reckoning{}
		c.of[broker] = r
	}
	written := time.UnixMilli(s.millis)
	r.least.larger(bound{written.Sub(read), read, partition, s.offset})
	if !asked.IsZero() {
		r.most.larger(bound{written.Sub(asked), read, partition, s.offset})
	}
}

// stamp is the time of a batch's newest record.
type stamp struct {
	millis int64 // 0: none
	offset int64
	epoch  int32
}

// by is the broker that stamped it: the leader if it is of the leader's epoch.
func (s stamp) by(l leader) int32 {
	if l.epoch >= 0 && s.epoch >= 0 && s.epoch != l.epoch {
		return -1
	}
	return l.broker
}

// Clocks are the clocks of the brokers whose records were read of late, by broker.
func (s *Scanner) Clocks() []Clock {
	s.clocks.mu.Lock()
	defer s.clocks.mu.Unlock()
	var out []Clock
	now := time.Now()
	for broker, r := range s.clocks.of {
		c := Clock{Broker: broker}
		for _, b := range []struct {
			bound
			into **time.Duration
		}{{r.most, &c.Most}, {r.least, &c.Least}} {
			if !b.at.IsZero() && now.Sub(b.at) <= clockFor {
				d := b.d
				*b.into, c.Partition, c.Offset = &d, b.partition, b.offset
			}
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Clock) int { return int(a.Broker) - int(b.Broker) })
	return out
}

// SkewOf is the skew of the broker that a partition was read from last; 0 where none is
// shown.
func (s *Scanner) SkewOf(partition int32) time.Duration {
	s.clocks.mu.Lock()
	broker, ok := s.clocks.leads[partition]
	s.clocks.mu.Unlock()
	if !ok {
		return 0
	}
	for _, c := range s.Clocks() {
		if c.Broker == broker {
			return c.Skew()
		}
	}
	return 0
}

// Glance waits for a record to be written to one of the partitions, at most so long: a clock
// that is behind shows in nothing else. What was not seen says nothing, so there is no error.
func (s *Scanner) Glance(ctx context.Context, partitions []int32, most time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	from := make(map[int32]int64, len(partitions))
	for _, p := range partitions {
		from[p] = -1
	}
	_ = s.Follow(ctx, FollowRequest{From: from, Filter: Filter{Commits: true}, Wait: most}, func(inspect.Record) error { return errSeen })
}

// errSeen ends a Glance.
var errSeen = errors.New("seen")

// ClockGaps say of each clock that is off by how much, and what shows it; and where the
// times of a partition go back, since two clocks wrote it.
func (s *Scanner) ClockGaps() []inspect.Gap {
	var out []inspect.Gap
	for _, c := range s.Clocks() {
		skew := c.Skew()
		g := inspect.Gap{Fact: inspect.FactClock, What: fmt.Sprintf("clock of broker %d", c.Broker), Needs: "clocks that agree (NTP)"}
		if c.Broker < 0 {
			g.What = fmt.Sprintf("clock of a broker that led %s-%d before", s.topic(), c.Partition)
		}
		switch {
		case skew > 0:
			g.Why = fmt.Sprintf("at least %s ahead of this machine's: a record of %s-%d is stamped so much later than it was read; times here are the broker's", told(skew), s.topic(), c.Partition)
		case skew < 0:
			g.Why = fmt.Sprintf("about %s behind this machine's: a record of %s-%d was written after the log's end was asked for, and is stamped so much before; times here are the broker's", told(-skew), s.topic(), c.Partition)
		default:
			continue
		}
		out = append(out, g)
	}
	s.clocks.mu.Lock()
	defer s.clocks.mu.Unlock()
	for _, p := range slices.Sorted(maps.Keys(s.clocks.jumps)) {
		j := s.clocks.jumps[p]
		g := inspect.Gap{Fact: inspect.FactClock, What: fmt.Sprintf("clocks of the brokers that led %s-%d", s.topic(), p), Needs: "clocks that agree (NTP)",
			Why: fmt.Sprintf("the records' times go back by %s at offset %d, where another leader begins: a span of time across it is off by at least that", told(j.by), j.to.offset)}
		if !j.moved {
			g.What = fmt.Sprintf("clock of the broker that led %s-%d", s.topic(), p)
			g.Why = fmt.Sprintf("the records' times go back by %s at offset %d: the clock was set, and a span of time across it is off by that", told(j.by), j.to.offset)
		}
		out = append(out, g)
	}
	return out
}

// told is a skew as text says it.
func told(d time.Duration) string { return prose.Span(d.Round(time.Second)) }
