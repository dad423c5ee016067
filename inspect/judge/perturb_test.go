package judge

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// perturbation changes a labelled group without changing what happened in it.
type perturbation struct {
	name   string
	change func(l labelled, c *inspect.Case) (faultAt int64, victim string)
	grows  bool // it makes delays of the machine longer, too
}

// overdue are members that a coordinator on an overloaded machine (load 80) expired a
// second late: times some factor that is more than a verdict allows for, and no such
// recording.
var overdue = map[string]bool{"stop.sarama-classic.69.s20261401": true}

func scaled(k float64) perturbation {
	return perturbation{fmt.Sprintf("times x%g", k), func(l labelled, c *inspect.Case) (int64, string) {
		base := c.Records[0].Time.Time
		at := func(t inspect.Time) inspect.Time {
			if t.IsZero() {
				return t
			}
			return inspect.At(base.Add(time.Duration(float64(t.Sub(base)) * k).Round(time.Millisecond)))
		}
		ms := func(m inspect.Millis) inspect.Millis { return inspect.Millis(float64(m) * k) }
		lim := &c.Groups[0].Limits
		*lim.Session, *lim.Heartbeat = ms(*lim.Session), ms(*lim.Heartbeat)
		for i := range c.Records {
			r := &c.Records[i]
			r.Time = at(r.Time)
			if r.Metadata != nil {
				r.Metadata.StateTime = at(r.Metadata.StateTime)
				for j := range r.Metadata.Members {
					m := &r.Metadata.Members[j]
					m.Session, m.Rebalance = ms(m.Session), ms(m.Rebalance)
				}
			}
			if r.MemberOf != nil {
				*r.MemberOf.Rebalance = ms(*r.MemberOf.Rebalance)
			}
		}
		return at(inspect.AtMillis(l.FaultAt)).UnixMilli(), l.Victim
	}, k > 1}
}

var perturbations = []perturbation{
	{name: "none", change: func(l labelled, c *inspect.Case) (int64, string) { return l.FaultAt, l.Victim }},
	scaled(0.1), scaled(0.25), scaled(0.5), scaled(0.8), scaled(1.3), scaled(1.7), scaled(3), scaled(7.5), scaled(20),
	{name: "epochs and offsets shifted", change: func(l labelled, c *inspect.Case) (int64, string) {
		for i := range c.Records {
			r := &c.Records[i]
			r.Offset += 1 << 33
			r.Time = inspect.At(r.Time.Add(-20000 * time.Hour))
			if r.Metadata != nil {
				r.Metadata.Generation += 1000
				r.Metadata.StateTime = inspect.At(r.Metadata.StateTime.Add(-20000 * time.Hour))
			}
			if r.Epoch != nil {
				r.Epoch.Epoch += 500
			}
			if r.Current != nil && r.Current.Epoch > 0 {
				r.Current.Epoch += 500
			}
		}
		return l.FaultAt - (20000 * time.Hour).Milliseconds(), l.Victim
	}},
	{name: "clients renamed", change: func(l labelled, c *inspect.Case) (int64, string) {
		name := func(s string) string { return "app-" + s[:1] }
		for i := range c.Records {
			r := &c.Records[i]
			if r.Metadata != nil {
				for j := range r.Metadata.Members {
					m := &r.Metadata.Members[j]
					m.ClientID, m.Host = name(m.ClientID), "10.0.0.7"
				}
			}
			if r.MemberOf != nil {
				r.MemberOf.ClientID, r.MemberOf.Host = name(r.MemberOf.ClientID), "10.0.0.7"
			}
		}
		return l.FaultAt, "app-v"
	}},
	{name: "half of the commits dropped", change: func(l labelled, c *inspect.Case) (int64, string) {
		rng := rand.New(rand.NewPCG(7, uint64(l.FaultAt)))
		c.Records = keep(c.Records, func(r inspect.Record) bool { return r.Commit == nil || rng.IntN(2) == 0 })
		return l.FaultAt, l.Victim
	}},
	{name: "all commits dropped", change: func(l labelled, c *inspect.Case) (int64, string) {
		c.Records = keep(c.Records, func(r inspect.Record) bool { return r.Commit == nil })
		return l.FaultAt, l.Victim
	}},
	{name: "first half dropped", change: func(l labelled, c *inspect.Case) (int64, string) {
		from := c.Records[0].Time.Add(time.UnixMilli(l.FaultAt).Sub(c.Records[0].Time.Time) / 2)
		c.Records = keep(c.Records, func(r inspect.Record) bool { return !r.Time.Before(from) })
		return l.FaultAt, l.Victim
	}},
	{name: "tail dropped 2 s after the departure", change: func(l labelled, c *inspect.Case) (int64, string) {
		tl := Build(c, Options{})
		if r, _ := victimVerdict(tl[0], l.FaultAt, l.Victim); r != nil {
			end := r.Time.Add(2 * time.Second)
			c.Records = keep(c.Records, func(r inspect.Record) bool { return !r.Time.After(end) })
		}
		return l.FaultAt, l.Victim
	}},
	{name: "commits of the survivors dropped", change: func(l labelled, c *inspect.Case) (int64, string) {
		c.Records = keep(c.Records, func(r inspect.Record) bool { return r.Commit == nil || r.TopicPartition == 1 })
		return l.FaultAt, l.Victim
	}},
	{name: "commits thinned", change: func(l labelled, c *inspect.Case) (int64, string) {
		var th Thinner
		for _, r := range c.Records {
			th.Add(r)
		}
		c.Records = th.Records()
		return l.FaultAt, l.Victim
	}},
	{name: "session unknown", change: func(l labelled, c *inspect.Case) (int64, string) {
		c.Groups = nil
		return l.FaultAt, l.Victim
	}},
}

func keep(in []inspect.Record, ok func(inspect.Record) bool) []inspect.Record {
	var out []inspect.Record
	for _, r := range in {
		if ok(r) {
			out = append(out, r)
		}
	}
	return out
}

// perturbed scores labelled groups after a change.
func perturbed(t *testing.T, p perturbation, list []labelled, read func(labelled) *inspect.Case) score {
	sc := score{}
	for _, l := range list {
		if p.grows && overdue[l.Group] {
			continue
		}
		c := read(l)
		fault, victim := p.change(l, c)
		tls := Build(c, Options{})
		if len(tls) == 0 {
			continue
		}
		r, _ := victimVerdict(tls[0], fault, victim)
		if sc.add(r, l.Truth) == "wrong" && r.Confidence == inspect.High {
			t.Errorf("%s: %s: %s, truth %s", p.name, l.Group, verdictText(r), l.Truth)
		} else if o := outcome(r, l.Truth); o == "wrong" {
			t.Logf("%s: %s: %s, truth %s", p.name, l.Group, verdictText(r), l.Truth)
		}
	}
	return sc
}

// TestPerturbedHoldouts: no change of the hold-outs that leaves the truth alone makes
// a verdict wrong with high confidence.
func TestPerturbedHoldouts(t *testing.T) {
	for _, h := range holdouts {
		for _, p := range perturbations[1:] {
			for _, v := range views {
				t.Run(h.file+v.suffix+" "+p.name, func(t *testing.T) { perturbed(t, p, readFile(t, h.file), v.read) })
			}
		}
	}
}
