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

// A member that joins anew, and is in no record yet, has the timeouts that its client had;
// what was read of one is kept, and another client's are not taken.
func TestFillFromRecords(t *testing.T) {
	text := func(session, rebalance *inspect.Millis) string {
		if session == nil {
			return "-"
		}
		return fmt.Sprint(session.Duration(), " ", rebalance.Duration())
	}
	member := func(id, client, host string, session, rebalance time.Duration) inspect.GroupMember {
		return inspect.GroupMember{MemberID: id, ClientID: client, Host: host, Session: *inspect.Ms(session), Rebalance: *inspect.Ms(rebalance)}
	}
	metadata := func(generation int32, members ...inspect.GroupMember) inspect.Record {
		return inspect.Record{Type: inspect.RecGroupMetadata, Group: "g", Metadata: &inspect.GroupMetadata{ProtocolType: "consumer", Generation: generation, Members: members}}
	}
	c := &inspect.Case{
		Groups: []inspect.Group{{ID: "g", Type: inspect.Classic, Members: []inspect.Member{
			{MemberID: "a-1", ClientID: "a", Host: "h"}, {MemberID: "b-2", ClientID: "b", Host: "h"}, {MemberID: "c-1", ClientID: "c", Host: "h"},
			{MemberID: "d-1", ClientID: "d", Host: "h", Session: inspect.Ms(7 * time.Second), Rebalance: inspect.Ms(7 * time.Second)}}}},
		Records: []inspect.Record{
			metadata(4, member("b-1", "b", "h", 10*time.Second, time.Minute), member("c-0", "c", "elsewhere", 10*time.Second, time.Minute)),
			metadata(5, member("a-1", "a", "h", 20*time.Second, 90*time.Second), member("d-0", "d", "h", time.Second, time.Second)),
			{Type: inspect.RecGroupMetadata, Group: "g", Tombstone: true},
		},
	}
	FillFromRecords(c)
	for i, want := range []string{"20s 1m30s", "10s 1m0s", "-", "7s 7s"} {
		if m := c.Groups[0].Members[i]; text(m.Session, m.Rebalance) != want {
			t.Errorf("%s: %s, want %s", m.MemberID, text(m.Session, m.Rebalance), want)
		}
	}
	if g := c.Groups[0]; g.Generation == nil || *g.Generation != 5 {
		t.Errorf("generation %v, want 5", g.Generation)
	}
}
