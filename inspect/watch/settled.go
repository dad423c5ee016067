package watch

import (
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

const (
	// settleAfter is how long after the first word about a cause it is settled: by then the
	// next owner's commits, and most returns, are in.
	settleAfter = time.Minute
	// correctWithin is for how long a settled cause can still be corrected.
	correctWithin = time.Hour
)

// Settled is a cause that is settled: who hands it on need not take it back a second
// later.
type Settled struct {
	Event
	// Corrects is the cause that was settled before; "" for the first word.
	Corrects inspect.Cause
}

// Settler holds causes back until they are settled: at once where they are stated or of
// high confidence, else when a minute has passed. The zero Settler is ready. It is pure,
// and not safe for concurrent use.
type Settler struct {
	held    map[string]held
	settled map[string]settledCause
}

// settledCause is what was handed on, and when: no more is kept of it, since an hour of a
// cluster that never rests holds thousands.
type settledCause struct {
	cause inspect.Cause
	at    time.Time
}

// held is the latest word about a cause, and since when there is one.
type held struct {
	Event
	since time.Time
}

// Add takes an event; now is kgdiag's clock. Other events than causes, and what was over
// when the watch began, are left alone.
func (s *Settler) Add(e *Event, now time.Time) {
	if e.Type != CauseFound || e.Past {
		return
	}
	if s.held == nil {
		s.held, s.settled = map[string]held{}, map[string]settledCause{}
	}
	key := e.Group + "\x00" + e.Record
	if was, ok := s.settled[key]; ok && was.cause == e.Cause {
		delete(s.held, key)
		return
	}
	h, ok := s.held[key]
	if !ok {
		h.since = now
	}
	h.Event = *e
	s.held[key] = h
}

// Due are the causes that are settled by now, in the order of their events; all that are
// held where the watch is over.
func (s *Settler) Due(now time.Time, over bool) []Settled {
	var out []Settled
	for key, h := range s.held {
		sure := h.Basis == inspect.Stated || h.Confidence == inspect.High
		if !over && !sure && now.Sub(h.since) < settleAfter {
			continue
		}
		x := Settled{Event: h.Event, Corrects: s.settled[key].cause}
		s.settled[key] = settledCause{x.Cause, now}
		delete(s.held, key)
		out = append(out, x)
	}
	for key, x := range s.settled {
		if now.Sub(x.at) > correctWithin {
			delete(s.settled, key)
		}
	}
	slices.SortFunc(out, func(a, b Settled) int { return a.Time.Compare(b.Time.Time) })
	return out
}
