package offsetlog

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Four readers share one rate: whatever they ask for and get, the bytes of any stretch of
// time are no more than its share and what was asked for last.
func TestThePaceIsOfAllReadersTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const rate, asked, came, readers, each = 1_000_000, 250_000, 200_000, 4, 25
		var p pacer
		var mu sync.Mutex
		var wg sync.WaitGroup
		began, read := time.Now(), int64(0)
		for range readers {
			wg.Go(func() {
				for range each {
					if err := p.take(t.Context(), rate, asked); err != nil {
						t.Error(err)
						return
					}
					p.settle(rate, asked, came)
					mu.Lock()
					read += came
					if allowed := int64(time.Since(began).Seconds()*rate) + readers*asked; read > allowed {
						t.Errorf("%d bytes after %s, at most %d are allowed", read, time.Since(began), allowed)
					}
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		least := time.Duration(readers*each*came-readers*asked) * time.Second / rate
		if took := time.Since(began); took < least || took > least+time.Second {
			t.Errorf("%d bytes took %s, want about %s", read, took, least)
		}
	})
}

// Time in which nobody reads is no credit, and an end of the context ends the wait.
func TestThePaceSavesNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pacer
		time.Sleep(time.Hour)
		began := time.Now()
		for range 3 {
			if err := p.take(t.Context(), 100, 1000); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took != 20*time.Second {
			t.Errorf("three times 10 s of bytes began after %s, want 20s", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := p.take(ctx, 100, 1000); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want that of the context", err)
		}
		if err := p.take(ctx, 0, 1<<40); err != nil {
			t.Errorf("no rate, and yet %v", err)
		}
	})
}
