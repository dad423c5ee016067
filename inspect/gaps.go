package inspect

import "slices"

// GapsOf are the gaps of one group, or with "" those that concern all.
func GapsOf(gaps []Gap, group string) []Gap {
	return gapsWhere(gaps, func(g Gap) bool { return g.Group == group })
}

// HistoryGaps are the gaps that matter to a look back.
func HistoryGaps(gaps []Gap) []Gap {
	return gapsWhere(gaps, func(g Gap) bool { return g.Fact != FactLag && g.Fact != FactTopics })
}

// Unlisted are the gaps about brokers that did not say which groups they coordinate:
// there may be groups of which nothing is known.
func Unlisted(gaps []Gap) []Gap {
	return gapsWhere(gaps, func(g Gap) bool { return g.Fact == FactGroups })
}

// NoHistory are the gaps about groups whose past was not read, or not whole.
func NoHistory(gaps []Gap) []Gap {
	return gapsWhere(gaps, func(g Gap) bool { return g.Fact == FactHistory })
}

// ClockGaps are those about clocks that are off: the times of all groups are by them.
func ClockGaps(gaps []Gap) []Gap {
	return gapsWhere(gaps, func(g Gap) bool { return g.Fact == FactClock })
}

// WithClocks are gaps in which those about clocks are the ones that were measured last.
func WithClocks(gaps, clocks []Gap) []Gap {
	return append(slices.DeleteFunc(slices.Clone(gaps), func(g Gap) bool { return g.Fact == FactClock }), clocks...)
}

func gapsWhere(gaps []Gap, ok func(Gap) bool) []Gap {
	var out []Gap
	for _, g := range gaps {
		if ok(g) {
			out = append(out, g)
		}
	}
	return out
}

// GapReason is why several things could not be read.
type GapReason struct {
	What       []string // each once
	Why, Needs string
	Label      string // of Gap.Label
}

// Label is what a line about the gap begins with.
func (g Gap) Label() string {
	if g.Fact == FactClock {
		return "clocks differ"
	}
	return "not read"
}

// GapsByReason joins the gaps that have one reason, in the order of their first.
func GapsByReason(gaps []Gap) []GapReason {
	var out []GapReason
	for _, g := range gaps {
		i := slices.IndexFunc(out, func(r GapReason) bool { return r.Why == g.Why && r.Needs == g.Needs })
		if i < 0 {
			i = len(out)
			out = append(out, GapReason{Why: g.Why, Needs: g.Needs, Label: g.Label()})
		}
		if !slices.Contains(out[i].What, g.What) {
			out[i].What = append(out[i].What, g.What)
		}
	}
	return out
}
