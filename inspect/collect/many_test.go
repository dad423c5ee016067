package collect

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
)

// Thousands of groups, most of them with committed offsets alone, are read in
// requests that name many each.
func TestManyGroups(t *testing.T) {
	const n = 2000
	f := newFake(t)
	adm := kadm.NewClient(f.cl)
	offsets := kadm.Offsets{}
	offsets.AddOffset("work", 0, 1, -1)
	var wg sync.WaitGroup
	work := make(chan int, n)
	for i := range n {
		work <- i
	}
	close(work)
	for range 16 {
		wg.Go(func() {
			for i := range work {
				if err := adm.CommitAllOffsets(t.Context(), fmt.Sprintf("group-%04d", i), offsets); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	before := len(*f.sent.Load())
	start := time.Now()
	c, err := f.c.Collect(within(t, 60*time.Second), Selection{All: true}, Everything())
	if err != nil {
		t.Fatal(err)
	}
	sent := len(*f.sent.Load()) - before
	t.Logf("%d groups in %s, %d requests", len(c.Groups), time.Since(start).Round(time.Millisecond), sent)
	if len(c.Groups) != n || c.Groups[0].Lag == nil && c.Groups[0].Offsets == nil {
		t.Errorf("%d groups, first %+v", len(c.Groups), c.Groups[0])
	}
	if sent > 150 {
		t.Errorf("%d requests for %d groups", sent, n)
	}
}
