package watch

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/collect"
	"github.com/kgdiag/kgdiag/inspect/membership"
	"github.com/kgdiag/kgdiag/internal/pause"
)

const (
	// manyOffsets is from how many partitions with an offset on the slower pace is
	// enough: an answer grows with them.
	manyOffsets = 200
	// manyOffsetsEvery is that pace.
	manyOffsetsEvery = time.Second
	// mostOffsetRuns bounds the runs of polls that are kept of a group.
	mostOffsetRuns = 1000
)

// pollOffsets polls the committed offsets of the named groups: where the log cannot be
// read, two answers that differ are a commit in between.
func (w *Watcher) pollOffsets(ctx context.Context, in chan<- input) {
	p := w.cfg.Collector.NewPoller(w.cfg.Selection.Groups...)
	for ctx.Err() == nil {
		began := w.cfg.Now()
		seen, n := p.Offsets(ctx), 0
		if ctx.Err() != nil || send(ctx, in, input{committed: seen}) != nil {
			return
		}
		for i := range seen {
			n += len(seen[i].Offsets)
		}
		every := QuickEvery
		if n >= manyOffsets {
			every = manyOffsetsEvery
		}
		_ = pause.For(ctx, every-w.cfg.Now().Sub(began)) // the loop asks ctx itself
	}
}

// takeCommitted works the answers of one round in.
func (w *Watcher) takeCommitted(seen []collect.Committed, now time.Time) {
	for i := range seen {
		b := w.books[seen[i].Group]
		if b == nil {
			continue
		}
		for _, r := range b.offsets.take(&seen[i]) {
			b.add(&r)
			b.risks.commit(&r, now)
		}
	}
}

// offsets is what polls have seen of one group's committed offsets. Pure.
type offsets struct {
	at    map[membership.TopicPartition]int64
	asked inspect.Time // when the last poll that told something was sent; zero none
	n     int64        // commits so far
	runs  []inspect.OffsetPolls
}

// take compares an answer with the one before it. A commit of the same offset again
// shows nothing, nor do several commits more than one.
func (k *offsets) take(c *collect.Committed) []inspect.Record {
	k.run(c)
	if c.Error != "" {
		return nil
	}
	var out []inspect.Record
	now := make(map[membership.TopicPartition]int64, len(c.Offsets))
	for _, o := range c.Offsets {
		key := membership.TopicPartition{Topic: o.Topic, Partition: o.Partition}
		now[key] = o.Offset
		if was, had := k.at[key]; k.asked.IsZero() || had && was == o.Offset {
			continue
		}
		out = append(out, inspect.Record{Type: inspect.RecOffsetCommit, Partition: -1, Offset: k.n, Time: c.Answered, LeaderEpoch: -1, Version: -1,
			Group: c.Group, Topic: o.Topic, TopicPartition: o.Partition,
			Commit: &inspect.OffsetCommit{Offset: o.Offset, LeaderEpoch: -1, Time: c.Answered, After: k.asked}})
		k.n++
	}
	k.at, k.asked = now, c.Asked
	return out
}

// run counts a poll to the run that it belongs to.
func (k *offsets) run(c *collect.Committed) {
	if n := len(k.runs); n > 0 && k.runs[n-1].Error == c.Error {
		k.runs[n-1].To = c.Answered
		k.show(c)
		return
	}
	k.runs = append(k.runs, inspect.OffsetPolls{Group: c.Group, From: c.Asked, To: c.Answered, Error: c.Error})
	k.show(c)
	if len(k.runs) > mostOffsetRuns {
		k.runs = slices.Clone(k.runs[mostOffsetRuns/10:])
	}
}

// show notes the topics of an answer in the last run.
func (k *offsets) show(c *collect.Committed) {
	topics := &k.runs[len(k.runs)-1].Topics
	for _, o := range c.Offsets {
		if at, had := slices.BinarySearch(*topics, o.Topic); !had {
			*topics = slices.Insert(*topics, at, o.Topic)
		}
	}
}

// notShown are Gaps about topics that members own and of which no answer had an offset.
func (k *offsets) notShown(polls membership.Polls) []inspect.Gap {
	if !slices.ContainsFunc(k.runs, func(r inspect.OffsetPolls) bool { return r.Error == "" }) {
		return nil
	}
	shown := map[string]bool{}
	for _, r := range k.runs {
		for _, t := range r.Topics {
			shown[t] = true
		}
	}
	var out []inspect.Gap
	for i := range polls {
		for _, m := range polls[i].Members {
			for _, t := range m.Assignment {
				if !shown[t.Topic] {
					shown[t.Topic] = true
					out = append(out, inspect.Gap{Group: k.runs[0].Group, Fact: inspect.FactCommits, What: "commits on topic " + t.Topic,
						Why: "polls show no offset of it: nothing was committed there, or it may not be described", Needs: "DESCRIBE on Topic " + t.Topic})
				}
			}
		}
	}
	return out
}

// gaps are the polls that told nothing, a Gap for each reason.
func (k *offsets) gaps() []inspect.Gap {
	first, last := map[string]inspect.OffsetPolls{}, map[string]inspect.Time{}
	for _, r := range k.runs {
		if _, had := first[r.Error]; !had {
			first[r.Error] = r
		}
		last[r.Error] = r.To
	}
	delete(first, "")
	var out []inspect.Gap
	for _, why := range slices.Sorted(maps.Keys(first)) {
		out = append(out, inspect.Gap{Group: first[why].Group, Fact: inspect.FactCommits, Why: why,
			What: "some polls of the committed offsets from " + clock(first[why].From) + " to " + clock(last[why])})
	}
	return out
}

// clock is a time of day in UTC.
func clock(t inspect.Time) string { return t.UTC().Format("15:04:05 UTC") }

// sawMembers tells the book of a group whose commits polls see that they see other members
// than before: no record does.
func (w *Watcher) sawMembers(o *inspect.Observation) {
	b, last := w.books[o.Group], w.differ.group(o.Group).seen
	if b == nil || o.Error != "" {
		return
	}
	same := func(a, b inspect.ObservedMember) bool { return a.MemberID == b.MemberID }
	if last == nil || !slices.EqualFunc(last.Members, o.Members, same) {
		b.commits.Change(o.From.Time)
	}
}
