package collect

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/offsetlog"
)

// emptyLog is a log that holds nothing of any group; open are the groups for which a
// search of it goes on after its end.
type emptyLog struct{ open []string }

func (l *emptyLog) Survey(context.Context, []int32, ...time.Time) (*offsetlog.Survey, error) {
	return nil, nil
}

func (l *emptyLog) LatestMetadata(_ context.Context, req offsetlog.LatestRequest) (*offsetlog.Latest, error) {
	for _, groups := range req.Groups {
		for _, g := range groups {
			if !req.Done(g, nil) {
				l.open = append(l.open, g)
			}
		}
	}
	return nil, nil
}

func (l *emptyLog) ClockGaps() []inspect.Gap { return nil }

// Of many groups the log is searched to its beginning for those with members alone, and one
// Gap tells of the others; of few, or of groups that were named, for all.
func TestGenerationsOfManyGroups(t *testing.T) {
	for name, c := range map[string]struct {
		groups int
		sel    Selection
		open   int
		gap    string
	}{
		"all of many":   {30, Selection{All: true}, 3, "generation of 27 groups without members"},
		"all of few":    {12, Selection{All: true}, 12, ""},
		"many by name":  {30, Selection{Groups: []string{"group-01"}}, 30, ""},
		"many by state": {30, Selection{States: []string{"Empty"}}, 3, "generation of 27 groups without members"},
	} {
		log := &emptyLog{}
		r := &run{Collector: &Collector{opts: Options{Log: log}}, m: &Metadata{}, sel: c.sel, facts: &inspect.Case{}, drafts: map[string]*draft{}, survey: func() *offsetlog.Survey { return nil }}
		for i := range c.groups {
			d := &draft{group: inspect.Group{ID: fmt.Sprintf("group-%02d", i), Type: inspect.Classic, ProtocolType: "consumer", State: "Empty"}}
			if i%10 == 0 {
				d.group.State, d.group.Members = "Stable", []inspect.Member{{MemberID: "m"}}
			}
			r.drafts[d.group.ID] = d
		}
		r.readLog(t.Context())()
		if slices.Sort(log.open); len(log.open) != c.open || !slices.Contains(log.open, "group-00") {
			t.Errorf("%s: the search goes on for %v, want %d groups", name, log.open, c.open)
		}
		got := ""
		for _, g := range r.facts.Gaps {
			if g.Fact == inspect.FactGeneration {
				got = g.What
			}
		}
		if !strings.HasPrefix(got, c.gap) || (got == "") != (c.gap == "") {
			t.Errorf("%s: gap %q, want %q", name, got, c.gap)
		}
	}
}
