package judge

import (
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// The bounds of what leaders are asked: a few departures, chosen by what they decide.
const (
	mostAsked  = 12  // departures of one group, the newest
	fewParts   = 8   // partitions of a departed member
	mostInAll  = 400 // questions of one case
	markerStep = 1   // a transaction's marker takes an offset, and is no record that waits
)

// Questions are where the partitions of departed members should be asked about, so that
// nobody has to guess whether records waited in a silence: at the last commit, and when
// the member was out; and whether it had polled in time where it may have closed: within
// its poll interval before that. Only departures are asked about whose silence means something and
// whose backlog the log does not show, within the Case's window; the newest first.
func Questions(c *inspect.Case, opts Options) []inspect.OffsetQuery {
	var out []inspect.OffsetQuery
	for _, in := range split(c) {
		out = append(out, Read(*in, opts).Questions(c.Window.From.Time)...)
	}
	return out[:min(len(out), mostInAll)]
}

// Questions are those about the departures of one group since a moment.
func (r *Reading) Questions(since time.Time) []inspect.OffsetQuery {
	var out []inspect.OffsetQuery
	asked := 0
	for _, s := range slices.Backward(r.g.steps) {
		if s.EndAt.Before(since) {
			break
		}
		for _, d := range s.left {
			if asked < mostAsked && d.ev.open() {
				asked++
				out = append(out, d.ev.questions()...)
			}
		}
	}
	return out
}

// open reports a departure on which an answer would shed light.
func (e *evidence) open() bool {
	return e.silent && !e.moved && e.stated == nil && !(e.waiting == 1 && e.alone.conf == inspect.High)
}

func (e *evidence) questions() []inspect.OffsetQuery {
	var out []inspect.OffsetQuery
	moments := []time.Time{e.lastAt, e.hi}
	if e.rebalance > 0 && !e.cad.timer && !e.inTime() && slices.Contains(e.causes, inspect.MemberLeft) {
		moments = append(moments, e.freshSince())
	}
	for _, k := range e.idle[:min(len(e.idle), fewParts)] {
		for _, at := range moments {
			out = append(out, inspect.OffsetQuery{Topic: k.Topic, Partition: k.Partition, At: inspect.At(at)})
		}
	}
	return out
}
