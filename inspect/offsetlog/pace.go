package offsetlog

import (
	"context"
	"sync"
	"time"

	"github.com/kgdiag/kgdiag/internal/pause"
)

// pacer spaces the fetches of scans in time, so that together they read no more bytes a
// second than a rate; a rate of 0 is no bound.
type pacer struct {
	mu   sync.Mutex
	free time.Time // when all that was taken is paid for
}

// take waits until n bytes may be asked for. Nothing is saved up while nobody reads.
func (p *pacer) take(ctx context.Context, rate, n int64) error {
	if rate <= 0 {
		return nil
	}
	p.mu.Lock()
	now := time.Now()
	start := now
	if p.free.After(now) {
		start = p.free
	}
	p.free = start.Add(lasts(n, rate))
	p.mu.Unlock()
	return pause.For(ctx, start.Sub(now))
}

// settle corrects what was taken by what came: a broker sends a whole batch at least, and
// often less than it may.
func (p *pacer) settle(rate, taken, came int64) {
	if rate <= 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = p.free.Add(lasts(came-taken, rate))
}

// lasts is how long n bytes take at a rate.
func lasts(n, rate int64) time.Duration {
	return time.Duration(float64(n) / float64(rate) * float64(time.Second))
}
