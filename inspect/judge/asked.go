package judge

import (
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/membership"
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

// askedFor says what the leaders' answers show: 1 records waited soon after the last
// commit or all the time, -1 none came until the member was out, 0 not asked, or neither.
func (g *group) askedFor(e *evidence) int {
	none, asked := true, false
	for _, k := range e.idle {
		own := g.ownCommits(e.departure, k)
		at, was := g.askedAt(k, e.lastAt)
		out, is := g.askedAt(k, e.hi)
		if len(own) == 0 || !was || !is || out.Start > own[len(own)-1].offset {
			continue
		}
		asked = true
		position := own[len(own)-1].offset
		if out.Offset <= position+markerStep {
			continue
		}
		none = false
		began := e.lastAt
		if at.Offset <= position+markerStep {
			began = at.Next.Time
		}
		if !began.IsZero() && began.Sub(e.lastAt) <= max(e.cad.longest, slack) {
			return 1
		}
	}
	if asked && none {
		return -1
	}
	return 0
}

// askedAt is the answer about a partition at a moment.
func (g *group) askedAt(k membership.TopicPartition, at time.Time) (inspect.OffsetAt, bool) {
	i := slices.IndexFunc(g.in.OffsetsAt, func(o inspect.OffsetAt) bool {
		return o.Partition == k.Partition && o.Topic == k.Topic && o.At.Sub(at).Abs() <= time.Millisecond
	})
	if i < 0 {
		return inspect.OffsetAt{}, false
	}
	return g.in.OffsetsAt[i], true
}
