package hedge

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// place answers after a while, or fails.
type place struct {
	name  string
	after time.Duration
	fails bool
}

// questions remembers who was asked when.
type questions struct {
	mu    sync.Mutex
	asked []string
}

func (q *questions) ask(start time.Time) func(context.Context, place) (string, error) {
	return func(ctx context.Context, p place) (string, error) {
		q.mu.Lock()
		q.asked = append(q.asked, fmt.Sprintf("%s@%v", p.name, time.Since(start)))
		q.mu.Unlock()
		timer := time.NewTimer(p.after)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return "", ctx.Err()
		}
		if p.fails {
			return "", errors.New(p.name + " fails")
		}
		return p.name, nil
	}
}

func TestTheNextIsAskedWhenOneFailsOrThinks(t *testing.T) {
	for name, tc := range map[string]struct {
		places []place
		want   string
		asked  string
		took   time.Duration
	}{
		"quick":  {[]place{{"a", time.Second, false}, {"b", 0, false}}, "a", "[a@0s]", time.Second},
		"fails":  {[]place{{"a", time.Second, true}, {"b", time.Second, false}}, "b", "[a@0s b@1s]", 2 * time.Second},
		"thinks": {[]place{{"a", time.Hour, false}, {"b", time.Hour, false}, {"c", time.Second, false}}, "c", "[a@0s b@2s c@4s]", 5 * time.Second},
		"late":   {[]place{{"a", 3 * time.Second, false}, {"b", time.Hour, false}}, "a", "[a@0s b@2s]", 3 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			var q questions
			got, errs := First(t.Context(), tc.places, 2*time.Second, q.ask(start))
			synctest.Wait() // those still asked end with the context
			if got != tc.want || errs != nil || fmt.Sprint(q.asked) != tc.asked || time.Since(start) != tc.took {
				t.Errorf("%s: %q %v, asked %v, in %v", name, got, errs, q.asked, time.Since(start))
			}
		})
	}
}

func TestAllFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q questions
		places := []place{{"a", 3 * time.Second, true}, {"b", 0, true}}
		if _, errs := First(t.Context(), places, time.Second, q.ask(time.Now())); fmt.Sprint(errs) != "[a fails b fails]" {
			t.Errorf("errors %v, want them in the order of the places", errs)
		}
		if _, errs := First(t.Context(), nil, time.Second, q.ask(time.Now())); len(errs) != 0 {
			t.Errorf("nobody to ask: %v", errs)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, errs := First(ctx, []place{{"a", time.Hour, false}}, time.Minute, q.ask(start))
		if len(errs) != 1 || !errors.Is(errs[0], context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("the deadline: %v after %v", errs, time.Since(start))
		}
	})
}
