package pause

import (
	"context"
	"time"
)

// For waits for d, not at all where that is not positive, or until ctx ends: the error is
// then ctx's.
func For(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
