package watch

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/collect"
	"github.com/kgdiag/kgdiag/inspect/judge"
	"github.com/kgdiag/kgdiag/internal/departures"
	"github.com/kgdiag/kgdiag/internal/golden"
)

var update = flag.Bool("update", false, "write the golden file")

// recordings are the labelled departures that hold what polls saw.
var recordings = []string{"../judge/testdata/departures-holdout-4.jsonl.gz", "../judge/testdata/departures-holdout-5.jsonl.gz",
	"../judge/testdata/departures-holdout-6.jsonl.gz", "../judge/testdata/departures-holdout-7.jsonl.gz",
	"../judge/testdata/departures-holdout-8.jsonl.gz", "../judge/testdata/departures-holdout-9.jsonl.gz"}

// told is what a watch said of the rebalance in which the member with the fault went.
type told struct {
	group    departures.Group
	verdicts []Event            // in the order in which they were told
	past     *inspect.Rebalance // by history, of the case that the watch keeps
	log      *inspect.Rebalance // by history, of what can be read afterwards: the log, and the leaders
}

// stability counts how verdicts fared.
type stability struct {
	groups, told, sure, turned int
	differs, less              int      // from history of the case, and of the log
	late                       int      // first verdict later than promised
	broken                     []string // promises that were not kept
	wrong                      int      // last verdict, at medium or above
	lines                      []string
}

// promised is how long after a departure watch has a verdict; where the rebalance itself
// lasts as long, afterwards is how long after the record that ends it.
const (
	promised   = 20 * time.Second
	afterwards = unknownAfter + judgeAfter
)

// TestVerdictsDoNotWaver replays recordings of real groups, records and polls in the
// order of their times, and looks at what watch tells of the departure: whether a cause
// of medium confidence or above is later another one, and whether the last word is what
// history says of the same records.
func TestVerdictsDoNotWaver(t *testing.T) {
	var s stability
	for _, file := range recordings {
		groups, err := departures.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range groups {
			if len(g.Observations) > 0 && len(g.Departures) > 0 {
				s.add(replay(t, g))
			}
		}
	}
	for _, what := range s.broken {
		t.Error(what)
	}
	slices.Sort(s.lines)
	// A row of the table in docs/accuracy.md, which the test of inspect/judge writes.
	head := fmt.Sprintf("| now | %d | %d | %d | %d | %d | %d | %d | %d |\n", s.groups, s.told, s.sure, s.turned, s.late, s.differs, s.less, s.wrong)
	compare(t, "testdata/stability.golden", head+strings.Join(s.lines, ""))
}

// replay lets a watch see the group.
func replay(t *testing.T, g departures.Group) told {
	t.Helper()
	c := g.Read()
	start := g.Observations[0].From.Time
	now := start
	w := New(Config{Selection: collect.Selection{Groups: []string{g.Group}}, Now: func() time.Time { return now }})
	w.differ, w.info.Log = NewDiffer(Options{Log: true}), true
	w.watch(g.Group)
	w.books[g.Group].snapshot = &c.Groups[0]
	out := told{group: g}
	tell := func(events []Event) {
		err := w.tell(events, func(e Event) error {
			if e.Type == CauseFound || e.Type == CauseSoFar {
				out.verdicts = append(out.verdicts, e)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	records := slices.Clone(c.Records)
	slices.SortStableFunc(records, func(a, b inspect.Record) int { return a.Time.Compare(b.Time.Time) })
	old, _ := slices.BinarySearchFunc(records, start, func(r inspect.Record, at time.Time) int { return r.Time.Compare(at) })
	for i := range records[:old] { // the differ is seeded by what was, which nobody was told of
		w.differ.Record(&records[i], records[i].Time)
	}
	tell(w.take(input{prefix: &prefix{records: map[string][]inspect.Record{g.Group: slices.Clone(records[:old])}}}))
	records = records[old:]
	polls := g.Observations
	end := polls[len(polls)-1].To.Add(time.Second)
	for ; now.Before(end); now = now.Add(QuickEvery) {
		for len(records) > 0 && !records[0].Time.After(now) {
			tell(w.take(input{records: records[:1]}))
			records = records[1:]
		}
		for len(polls) > 0 && polls[0].To.Before(now) {
			polls = polls[1:]
		}
		if len(polls) > 0 && !polls[0].From.After(now) {
			o := polls[0]
			o.From, o.To = inspect.At(now), inspect.At(now)
			tell(w.take(input{polled: []inspect.Observation{o}, every: QuickEvery}))
		}
		tell(w.tick())
		select {
		case m := <-w.wantMoments:
			m.answers = g.Answer(m.queries)
			tell(w.take(input{moments: &m}))
		default:
		}
	}
	c.OffsetsAt = g.Answer(judge.Questions(c, judge.Options{}))
	out.log = victims(judge.Build(c, judge.Options{})[0], g)
	w.info.Case = c
	out.past = victims(judge.Build(w.Case(), judge.Options{})[0], g)
	return out.only()
}

// victims is the rebalance in which the member with the fault went, nil if none shows it.
func victims(tl inspect.Timeline, g departures.Group) *inspect.Rebalance {
	for i := range tl.Rebalances {
		r := &tl.Rebalances[i]
		gone := slices.ContainsFunc(r.Members.Left, func(d inspect.Departure) bool { return d.ClientID == g.Victim }) ||
			slices.ContainsFunc(r.Members.Replaced, func(s inspect.Replacement) bool { return s.ClientID == g.Victim })
		if gone && r.Time.UnixMilli() >= g.FaultAt {
			return r
		}
	}
	return nil
}

// only keeps the verdicts on that rebalance, and those told of it so far.
func (d told) only() told {
	story := -1
	for _, e := range d.verdicts {
		if d.past != nil && e.Record == d.past.ID {
			story = e.Incident
		}
	}
	d.verdicts = slices.DeleteFunc(d.verdicts, func(e Event) bool {
		return d.past == nil || e.Record != d.past.ID && (e.Type != CauseSoFar || e.Incident != story)
	})
	return d
}

func (s *stability) add(d told) {
	s.groups++
	if len(d.verdicts) == 0 {
		return
	}
	s.told++
	sure, turned := inspect.Cause(""), false
	var words []string
	for _, e := range d.verdicts {
		if sure != "" && e.Cause != sure {
			turned = true
		}
		if e.Confidence == inspect.High || e.Confidence == inspect.Medium {
			sure = e.Cause
		}
		soFar := ""
		if e.Type == CauseSoFar {
			soFar = "so far "
			if e.Confidence == inspect.High || e.Record != "" {
				s.broken = append(s.broken, fmt.Sprintf("%s: told so far with %s confidence, of record %q", d.group.Group, e.Confidence, e.Record))
			}
		}
		words = append(words, fmt.Sprintf("%s%s, %s", soFar, e.Cause, e.Confidence))
	}
	last := d.verdicts[len(d.verdicts)-1]
	note := ""
	count := func(yes bool, n *int, what string) {
		if yes {
			*n++
			note += what
		}
	}
	count(sure != "", &s.sure, "")
	count(turned, &s.turned, " TURNED")
	late := d.verdicts[0].Time.UnixMilli()-d.group.Departures[0].At > promised.Milliseconds()
	count(late, &s.late, " LATE")
	first := d.verdicts[slices.IndexFunc(d.verdicts, func(e Event) bool { return e.Type == CauseFound })].Time
	if first.Sub(d.past.Time.Time) > afterwards {
		s.broken = append(s.broken, fmt.Sprintf("%s: the first verdict came %s after the record that ended its rebalance", d.group.Group, first.Sub(d.past.Time.Time)))
	}
	count(last.Cause != d.past.Cause, &s.differs, fmt.Sprintf(" ITS CASE says %s, %s", d.past.Cause, d.past.Confidence))
	if d.log != nil {
		count(last.Cause != d.log.Cause && last.Confidence != inspect.Low && d.log.Confidence != inspect.Low, &s.less, fmt.Sprintf(" THE LOG says %s, %s", d.log.Cause, d.log.Confidence))
	}
	count(last.Cause != inspect.UnknownCause && !departures.Right(last.Cause, d.group.Truth) && last.Confidence != inspect.Low, &s.wrong, " WRONG")
	s.lines = append(s.lines, fmt.Sprintf("%s: truth %s, said %s%s\n", d.group.Group, d.group.Truth, strings.Join(words, " -> "), note))
}

func compare(t *testing.T, file, got string) {
	t.Helper()
	golden.Compare(t, *update, file, got, "run go test ./inspect/watch -update and look at the difference")
}
