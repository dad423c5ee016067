package judge

import (
	"cmp"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

func sortBook(b *book) {
	slices.SortStableFunc(b.c.Records, func(x, y inspect.Record) int {
		return cmp.Or(x.Time.Compare(y.Time.Time), cmp.Compare(x.Offset, y.Offset))
	})
	for i := range b.c.Records {
		b.c.Records[i].Offset = int64(1000 + i)
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestOrderAndRepetitionDoNotMatter: records may come shuffled and twice.
func TestOrderAndRepetitionDoNotMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, l := range readLabelled(t)[:40] {
		c := l.Alone()
		want := asJSON(t, Build(c, Options{}))
		c.Records = append(c.Records, c.Records[:len(c.Records)/3]...)
		rng.Shuffle(len(c.Records), func(i, j int) { c.Records[i], c.Records[j] = c.Records[j], c.Records[i] })
		if got := asJSON(t, Build(c, Options{})); got != want {
			t.Errorf("%s: shuffled records give another timeline", l.Group)
		}
	}
}

// TestStableOverReReads: what a longer window adds does not change the id of a
// rebalance, nor the cause of one that is long over.
func TestStableOverReReads(t *testing.T) {
	for _, l := range readLabelled(t) {
		whole := l.Alone()
		full := map[string]inspect.Rebalance{}
		for _, r := range Build(whole, Options{})[0].Rebalances {
			full[r.ID] = r
		}
		first, last := whole.Records[0].Time, whole.Records[len(whole.Records)-1].Time
		for _, part := range []float64{0.5, 0.7, 0.9} {
			cut := first.Add(time.Duration(part * float64(last.Sub(first.Time))))
			c := l.Alone()
			c.Records = keep(c.Records, func(r inspect.Record) bool { return !r.Time.After(cut) })
			for _, r := range Build(c, Options{})[0].Rebalances {
				was, ok := full[r.ID]
				if !ok {
					t.Errorf("%s at %g: rebalance %s is gone in the longer window", l.Group, part, r.ID)
					continue
				}
				if cut.Sub(r.Time.Time) > 35*time.Second && was.Cause != r.Cause {
					t.Errorf("%s at %g: rebalance %s was %s and is %s in the longer window", l.Group, part, r.ID, r.Cause, was.Cause)
				}
			}
		}
	}
}

// TestBuildLeavesTheCaseAlone: the input is not changed.
func TestBuildLeavesTheCaseAlone(t *testing.T) {
	l := readLabelled(t)[5]
	c := l.Alone()
	before := asJSON(t, c)
	Build(c, Options{})
	if asJSON(t, c) != before {
		t.Error("Build changed the Case")
	}
}

// FuzzBuild feeds records whose fields were scrambled: whatever an old, new or
// broken writer leaves behind must neither panic nor invent negative durations.
func FuzzBuild(f *testing.F) {
	for i := range uint64(60) {
		f.Add(i, i*7)
	}
	all := readLabelled(f)
	f.Fuzz(func(t *testing.T, a, b uint64) {
		rng := rand.New(rand.NewPCG(a, b))
		c := all[rng.IntN(len(all))].Alone()
		scramble(rng, c)
		for _, tl := range Build(c, Options{}) {
			checkSane(t, tl)
			inspect.WhatIf(tl, inspect.Overrides{PollInterval: inspect.Ms(time.Duration(rng.Int64N(int64(time.Hour)))),
				Session: inspect.Ms(time.Minute), Static: rng.IntN(2) == 0})
		}
	})
}

func scramble(rng *rand.Rand, c *inspect.Case) {
	if rng.IntN(2) == 0 {
		c.Groups = nil
	}
	odds := 1 + rng.IntN(30)
	for i := range c.Records {
		if rng.IntN(odds) != 0 {
			continue
		}
		scrambleRecord(rng, &c.Records[i])
	}
	if rng.IntN(3) == 0 {
		rng.Shuffle(len(c.Records), func(i, j int) { c.Records[i].Offset, c.Records[j].Offset = c.Records[j].Offset, c.Records[i].Offset })
	}
	if rng.IntN(3) == 0 {
		c.Logs = []inspect.PartitionLog{{Partition: c.Records[0].Partition, CompleteFrom: c.Records[rng.IntN(len(c.Records))].Offset}}
	}
}

func scrambleRecord(rng *rand.Rand, r *inspect.Record) {
	switch rng.IntN(12) {
	case 0:
		r.Time = inspect.Time{}
	case 1:
		r.Time = inspect.At(r.Time.Add(time.Duration(rng.Int64N(int64(2*time.Hour))) - time.Hour))
	case 2:
		r.Tombstone = !r.Tombstone
	case 3:
		r.Commit, r.Metadata, r.Epoch, r.MemberOf, r.Current, r.TargetFor = nil, nil, nil, nil, nil, nil
	case 4:
		r.Type = inspect.RecordType(rng.IntN(30) - 2)
	case 5:
		r.LeaderEpoch = int32(rng.IntN(4)) - 1
	case 6:
		r.Member = ""
	case 7:
		if r.Metadata != nil {
			r.Metadata.Generation = rng.Int32() - 1<<30
			r.Metadata.StateTime = inspect.Time{}
		}
	case 8:
		if r.Metadata != nil && len(r.Metadata.Members) > 0 {
			m := &r.Metadata.Members[rng.IntN(len(r.Metadata.Members))]
			m.Session, m.Rebalance, m.MemberID, m.ClientID = 0, -5, "", ""
			m.Assigned = nil
		}
	case 9:
		if r.Epoch != nil {
			r.Epoch.Epoch = -r.Epoch.Epoch
		}
	case 10:
		if r.Current != nil {
			r.Current.Epoch, r.Current.State = inspect.StaticLeaveEpoch, int8(rng.IntN(5))
		}
	case 11:
		if r.Commit != nil {
			r.Commit.Offset = rng.Int64() - 1<<62
		}
	}
}

func checkSane(t *testing.T, tl inspect.Timeline) {
	t.Helper()
	ids := map[string]bool{}
	for _, r := range tl.Rebalances {
		if ids[r.ID] {
			t.Errorf("two rebalances with id %s", r.ID)
		}
		ids[r.ID] = true
		if r.Cause == "" || r.Confidence == "" || r.Basis == "" || r.Rivals == nil || r.Evidence == nil {
			t.Errorf("rebalance %s lacks a part of its verdict: %+v", r.ID, r)
		}
		for _, m := range []*inspect.Millis{r.Stopped, r.StoppedAtMost, r.Rebalancing, r.SyncTime, r.Converged, r.Stall, r.Step} {
			if m != nil && *m < 0 {
				t.Errorf("rebalance %s has a negative duration", r.ID)
			}
		}
		for _, d := range r.Members.Left {
			if d.LeftBetween[1].Before(d.LeftBetween[0].Time) {
				t.Errorf("rebalance %s: departure ends before it begins", r.ID)
			}
			if d.Silent != nil && (d.Silent[0] < 0 || d.Silent[1] < d.Silent[0]) {
				t.Errorf("rebalance %s: silence %v", r.ID, d.Silent)
			}
		}
	}
	for _, s := range tl.Spans {
		if !s.To.After(s.From.Time) {
			t.Errorf("span of %s is empty", s.Lane)
		}
	}
}

// thinnedBy are the ways to keep few commits.
var thinnedBy = map[string]func([]inspect.Record) []inspect.Record{
	"Thinner": func(in []inspect.Record) []inspect.Record {
		var th Thinner
		for _, r := range in {
			th.Add(r)
		}
		return th.Records()
	},
	"Ledger": func(in []inspect.Record) []inspect.Record {
		ledgers, out := map[string]*Ledger{}, []inspect.Record(nil)
		for i := range in {
			r := &in[i]
			l := ledgers[r.Group]
			if l == nil {
				l = &Ledger{}
				ledgers[r.Group] = l
			}
			if l.Add(r) {
				continue
			}
			if out = append(out, *r); ChangesMembers(r) {
				l.Change(r.Time.Time)
			}
		}
		for _, l := range ledgers {
			out = append(out, l.Records()...)
		}
		return out
	},
}

// TestThinnedIsTheSame: what a Thinner or a Ledger drops changes no verdict, and a busy
// group shrinks.
func TestThinnedIsTheSame(t *testing.T) {
	kept, all := map[string]int{}, 0
	same := func(name string, c *inspect.Case) {
		whole := Build(c, Options{})[0]
		all += len(c.Records)
		for by, thinned := range thinnedBy {
			thin := *c
			thin.Records = thinned(c.Records)
			kept[by] += len(thin.Records)
			got := Build(&thin, Options{})[0]
			for i, r := range whole.Rebalances {
				g := got.Rebalances[i]
				if g.ID != r.ID || g.Cause != r.Cause {
					t.Errorf("%s: %s was %s %s, thinned by a %s %s %s", name, r.ID, r.Cause, r.Confidence, by, g.Cause, g.Confidence)
				}
			}
		}
	}
	for _, l := range readLabelled(t) {
		same(l.Group, l.Alone())
	}
	for seed := range uint64(60) {
		c, sc := simulate(seed, false)
		same(sc.name, c)
	}
	if kept["Thinner"] > all/2 {
		t.Errorf("kept %v of %d records", kept, all)
	}
	t.Logf("kept %v of %d", kept, all)
}
