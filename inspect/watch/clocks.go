package watch

import (
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

const (
	// skewStep is by how much the skew of a clock must change to count: it is measured
	// anew with each record, and what is told is not to tremble.
	skewStep = time.Second
	// skewAgain is after which time a clock that still is off is told of again.
	skewAgain = time.Hour
)

// heedClocks takes over what records show of the brokers' clocks, and tells of one that is
// off: from then on the times of polls are told by the clock of the group's coordinator.
func (w *Watcher) heedClocks(now time.Time) []Event {
	if w.cfg.Scanner == nil || !w.info.Log {
		return nil
	}
	skews := map[int32]time.Duration{} // of a partition, however many groups it holds
	for id := range w.books {
		g := w.differ.group(id)
		if g.partition < 0 {
			continue
		}
		skew, asked := skews[g.partition]
		if !asked {
			skew = w.cfg.Scanner.SkewOf(g.partition)
			skews[g.partition] = skew
		}
		if (skew - g.skew).Abs() >= skewStep {
			g.skew = skew
		}
	}
	var out []Event
	for _, gap := range w.cfg.Scanner.ClockGaps() {
		if at, told := w.skewed[gap.What]; told && now.Sub(at) < skewAgain {
			continue
		}
		if w.skewed == nil {
			w.skewed = map[string]time.Time{}
		}
		w.skewed[gap.What] = now
		out = append(out, w.differ.stamp(Event{Type: ClockOff, Time: inspect.At(now), Source: FromLog, Why: gap.What + ": " + gap.Why})...)
	}
	return out
}

// farthest is the skew of the clock that is ahead the most, or behind the least.
func (w *Watcher) farthest() time.Duration {
	var all []time.Duration
	for id := range w.books {
		all = append(all, w.differ.group(id).skew)
	}
	if len(all) == 0 {
		return 0
	}
	return slices.Max(all)
}
