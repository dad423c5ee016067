package past

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/clientlog"
	"github.com/kgdiag/kgdiag/inspect/collect"
)

func at(s int64) inspect.Time { return inspect.AtMillis(1_764_000_000_000 + 1000*s) }

// A look back reads a partition in several spans: together they are one, complete since
// the oldest gap-free moment.
func TestSpansOfOnePartitionAreOneLog(t *testing.T) {
	window := inspect.PartitionLog{Partition: 7, From: 500, CompleteFrom: 500, CompleteSince: at(50), Records: 10}
	older := inspect.PartitionLog{Partition: 7, From: 100, CompleteFrom: 120, CompleteSince: at(12), Records: 5}
	got := mergeLogs([]inspect.PartitionLog{window, {Partition: 3, From: 1, Records: 1}, older})
	if len(got) != 2 || got[0].Partition != 3 {
		t.Fatalf("got %+v", got)
	}
	if l := got[1]; l.From != 100 || l.CompleteFrom != 120 || !l.CompleteSince.Equal(at(12).Time) || l.Records != 15 {
		t.Errorf("got %+v", l)
	}
	window.CompleteFrom, window.CompleteSince = 600, at(60) // a hole in the window itself
	if l := mergeLogs([]inspect.PartitionLog{window, older})[0]; l.From != 100 || l.CompleteFrom != 600 || !l.CompleteSince.Equal(at(60).Time) {
		t.Errorf("a hole was forgotten: %+v", l)
	}
}

func TestCaseOfOtherGroupsSaysWhatItHolds(t *testing.T) {
	c := &inspect.Case{Groups: []inspect.Group{{ID: "orders"}, {ID: "billing"}}, Gaps: []inspect.Gap{{Group: "billing", Fact: inspect.FactLag}}}
	w := inspect.Window{From: at(0), To: at(60)}
	p, err := FromCase(context.Background(), c, "a.kgcase", Query{Selection: collect.Selection{Groups: []string{"orders", "ordres"}}, Window: w})
	if err != nil {
		t.Fatal(err)
	}
	var absent *AbsentError
	if !errors.As(p.Missing, &absent) || absent.Error() != `group "ordres": not found in a.kgcase (2 groups)` || !slices.Equal(absent.Held, []string{"billing", "orders"}) {
		t.Errorf("missing: %v", p.Missing)
	}
	if !slices.Equal(p.IDs, []string{"orders"}) || len(c.Groups) != 1 || len(c.Gaps) != 0 || c.Window.Length() != time.Minute {
		t.Errorf("ids %v, case %+v", p.IDs, c)
	}
}

func TestLogsAreReadAgainAsTheyGrow(t *testing.T) {
	name := filepath.Join(t.TempDir(), "app.log")
	line := "2026-11-21 12:00:00,000 INFO [Consumer clientId=c, groupId=g] (Re-)joining group\n"
	write := func(text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(line)
	f, err := FollowLogs(context.Background(), []string{name}, clientlog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	first, news := f.Said()
	if !news || len(first) == 0 {
		t.Fatalf("first: %d events, news %v", len(first), news)
	}
	if again, news := f.Said(); news || len(again) != len(first) {
		t.Errorf("unchanged: %d events, news %v", len(again), news)
	}
	write(line + line + line)
	if more, news := f.Said(); !news || len(more) <= len(first) {
		t.Errorf("grown: %d events of %d before, news %v", len(more), len(first), news)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if kept, news := f.Said(); news || len(kept) <= len(first) {
		t.Errorf("gone: %d events, news %v: what was read before stands", len(kept), news)
	}
	var bad *inspect.FileError
	if _, err := FollowLogs(context.Background(), []string{name}, clientlog.Options{}); !errors.As(err, &bad) || err.Error() != name+": no such file" {
		t.Errorf("missing file: %v", err)
	}
}
