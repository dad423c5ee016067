package hedge

import (
	"context"
	"time"
)

// First asks the items one after another, each as soon as the one before has failed
// or has not answered for stagger, and gives the first answer. Where none answers it
// gives the error of each, in the order of the items. When it returns, the context of
// the questions that are still open has ended; a question has to heed that.
func First[B, T any](ctx context.Context, items []B, stagger time.Duration, ask func(context.Context, B) (T, error)) (T, []error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		i   int
		v   T
		err error
	}
	results := make(chan result, len(items))
	timer := time.NewTimer(stagger)
	defer timer.Stop()
	started, ended := 0, 0
	next := func() {
		if started == len(items) {
			return
		}
		i := started
		started++
		timer.Reset(stagger)
		go func() {
			v, err := ask(ctx, items[i])
			results <- result{i, v, err}
		}()
	}
	errs := make([]error, len(items))
	for next(); ended < len(items); {
		select {
		case r := <-results:
			if r.err == nil {
				return r.v, nil
			}
			errs[r.i] = r.err
			ended++
			next()
		case <-timer.C:
			next()
		}
	}
	var none T
	return none, errs
}
