package watch

import (
	"os"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/judge"
)

// A group of three Java consumers, of which one overran its poll interval once a minute,
// recorded on Kafka: the watch of its last minutes, told in the order in which things
// came, says of each rebalance what its history says afterwards.
func TestAWatchTellsWhatItsHistorySays(t *testing.T) {
	f, err := os.Open("testdata/overrun-observed.kgcase")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c, err := inspect.ReadCase(f)
	if err != nil {
		t.Fatal(err)
	}
	group := c.Groups[0].ID
	began := c.Observations[0].From.Add(-time.Minute)
	var past []inspect.Record
	d := newDesk(t, true)
	d.w.watch(group)
	d.now = began
	d.w.books[group].snapshot = &c.Groups[0]
	seconds := func(x inspect.Time) float64 { return x.Sub(at(0).Time).Seconds() }
	seen := pollsOf(c.Observations)
	for i := range c.Records {
		r := &c.Records[i]
		if r.Time.Before(began) {
			past = append(past, *r)
			continue
		}
		if past != nil {
			d.tell(d.w.takePrefix(&prefix{records: map[string][]inspect.Record{group: past}, logs: c.Logs}, began))
			past = nil
		}
		for len(seen) > 0 && seen[0].From.Before(r.Time.Time) {
			d.bring(seconds(seen[0].To), input{polled: seen[:1:1], every: QuickEvery})
			seen = seen[1:]
		}
		d.w.groups[r.Group] = true
		d.bring(seconds(r.Time), input{records: []inspect.Record{*r}})
	}
	d.until(seconds(inspect.At(d.now.Add(time.Minute))))
	told := map[string]Event{} // the newest of each rebalance
	done := map[string]Event{}
	for _, e := range d.all {
		switch e.Type {
		case CauseFound:
			told[e.Record] = e
		case RebalanceDone:
			done[e.Record] = e
		}
	}
	compared := 0
	for _, r := range judge.Build(c, judge.Options{})[0].Rebalances {
		if r.Time.Before(c.Observations[0].From.Time) {
			continue
		}
		compared++
		e, v := done[r.ID], told[r.ID]
		if e.Generation == nil || *e.Generation != r.Generation || v.Cause != r.Cause || v.Confidence != r.Confidence {
			t.Errorf("generation %d: watch tells %+v and the cause %s (%s), history %s (%s)", r.Generation, e, v.Cause, v.Confidence, r.Cause, r.Confidence)
			continue
		}
		// All members that stayed committed just before they rejoined, 10 to 30 ms before
		// the record: they had worked on while the coordinator waited for them.
		if *e.Stopped != *r.Stopped || *e.StoppedAtMost != *r.StoppedAtMost || *e.Rebalancing != *r.Rebalancing ||
			r.StoppedAtMost.Duration() > 30*time.Millisecond || r.Rebalancing.Duration() < time.Second {
			t.Errorf("generation %d: paused %v to %v, rebalancing %v says watch, %v to %v and %v history", r.Generation,
				*e.Stopped, *e.StoppedAtMost, *e.Rebalancing, *r.Stopped, *r.StoppedAtMost, *r.Rebalancing)
		}
	}
	if compared != 3 {
		t.Errorf("%d rebalances compared, want those of generations 62 to 64", compared)
	}
}

// pollsOf are the single polls of runs.
func pollsOf(runs []inspect.Observation) []inspect.Observation {
	var out []inspect.Observation
	for _, o := range runs {
		for end := o.To; !o.From.After(end.Time); o.From = inspect.At(o.From.Add(QuickEvery)) {
			o.To = o.From
			out = append(out, o)
		}
	}
	return out
}
