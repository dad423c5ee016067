package diagnose

import (
	"fmt"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// BenchmarkTriageOfManyGroups is the judgement alone: 20,000 groups that have committed
// offsets and nothing else.
func BenchmarkTriageOfManyGroups(b *testing.B) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	c := &inspect.Case{Window: inspect.Window{From: inspect.At(now.Add(-time.Hour)), To: inspect.At(now)}}
	var ids []string
	for i := range 20_000 {
		id := fmt.Sprintf("group-%05d", i)
		ids = append(ids, id)
		c.Groups = append(c.Groups, inspect.Group{ID: id, Type: inspect.Classic, State: "Empty"})
		c.Timelines = append(c.Timelines, inspect.Timeline{Group: id, Type: inspect.Classic})
	}
	b.ReportAllocs()
	for b.Loop() {
		TriageOf(c, ids, Options{})
	}
}
