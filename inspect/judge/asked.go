package judge

import (
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
// the member was out. Only departures are asked about whose silence means something and
// whose backlog the log does not show; the newest first.
func Questions(c *inspect.Case, opts Options) []inspect.OffsetQuery {
	var out []inspect.OffsetQuery
	for _, in := range split(c) {
		g := newGroup(*in, opts)
		g.findReturns()
		asked := 0
		for i := len(g.steps) - 1; i >= 0 && asked < mostAsked; i-- {
			for _, d := range g.steps[i].left {
				e := g.weigh(d)
				if !e.silent || e.moved || e.waiting == 1 && e.alone.conf == inspect.High || e.stated != nil {
					continue
				}
				asked++
				for _, k := range e.idle[:min(len(e.idle), fewParts)] {
					for _, at := range []time.Time{e.lastAt, e.hi} {
						out = append(out, inspect.OffsetQuery{Topic: k.Topic, Partition: k.Partition, At: inspect.At(at)})
					}
				}
			}
		}
	}
	return out[:min(len(out), mostInAll)]
}
