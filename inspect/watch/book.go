package watch

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/judge"
)

const (
	// unknownAfter is how long after a departure, or another rebalance, the honest answer is
	// given that what was seen does not tell its cause.
	unknownAfter = 15 * time.Second
	// judgeAfter is the pause between a change and the verdict on it: the polls of the
	// moment are then in.
	judgeAfter = time.Second
	// judgeShare bounds the time that verdicts take: after one of d, the next waits at
	// least judgeShare*d.
	judgeShare = 20
	// patience is how long a verdict waits for what leaders are asked about it.
	patience = 3 * time.Second
	// maxLooks bounds the looks that one group has before it.
	maxLooks = 100
)

// lookAgain is how long after a rebalance its cause is considered anew: a new owner's
// commits tell whether records had waited, and a member comes back, or does not.
var lookAgain = []time.Duration{5 * time.Second, unknownAfter, 45 * time.Second}

// book is all that a watch has seen of one group: what a verdict rests on, and what a
// case file keeps.
type book struct {
	id        string
	snapshot  *inspect.Group
	asked     time.Time        // when one was asked for that came later than the watch
	records   []inspect.Record // but for commits
	commits   judge.Ledger     // which takes no more for a busy group than for a quiet one
	changes   int              // records of the membership
	forgot    time.Time        // when older ones were dropped last
	offsets   offsets          // of polls, where the log is not read
	dirty     time.Time        // since when a verdict is due; zero none
	again     []time.Time      // when verdicts are due whatever happens, oldest first
	astir     map[*book]bool   // the watch's books of which a verdict is due now or later
	notBefore time.Time
	told      map[string]verdict // by record of the rebalance
	moments   []inspect.OffsetAt // what leaders answered about its departures
	inquired  map[inspect.OffsetQuery]bool
	inquiry   time.Time       // since when an answer is awaited; zero none is
	past      map[string]bool // rebalances that were over when the watch began
	risks     *risks
	drafted   map[draft]bool // departures of which a cause was told so far
}

// verdict is what was told of a rebalance.
type verdict struct {
	cause      inspect.Cause
	basis      inspect.Basis
	confidence inspect.Confidence
	returned   inspect.Returned
}

func newBook(id string, astir map[*book]bool) *book {
	return &book{id: id, astir: astir, inquired: map[inspect.OffsetQuery]bool{}, told: map[string]verdict{}, past: map[string]bool{}, risks: newRisks(), drafted: map[draft]bool{}}
}

// add keeps a record.
func (b *book) add(r *inspect.Record) {
	if b.commits.Add(r) {
		return
	}
	b.records = append(b.records, *r)
	if !commits(r) {
		b.changes++
	}
	if judge.ChangesMembers(r) {
		b.commits.Change(r.Time.Time)
	}
}

// all are the records that are kept, in the order of the log.
func (b *book) all() []inspect.Record {
	out := append(b.commits.Records(), b.records...)
	slices.SortStableFunc(out, inLog)
	return out
}

// inLog orders records by partition and offset.
func inLog(a, b inspect.Record) int {
	return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Offset, b.Offset))
}

// prefix puts records from before the watch in front.
func (b *book) prefix(records []inspect.Record) {
	all := append(records, b.all()...)
	slices.SortStableFunc(all, inLog)
	all = slices.CompactFunc(all, func(a, b inspect.Record) bool { return inLog(a, b) == 0 })
	b.records, b.commits, b.changes = nil, judge.Ledger{}, 0
	for i := range all {
		b.add(&all[i])
	}
}

// read gathers what the book says of the group's departures.
func (w *Watcher) read(b *book, end time.Time) *judge.Reading {
	g := w.differ.group(b.id)
	in := judge.Input{Group: b.id, OffsetsAt: b.moments, Observations: g.polls, Snapshot: b.snapshot, Logs: w.logs, End: inspect.At(end.Add(g.skew)),
		OffsetPolls: b.offsets.runs, Configs: w.cfg.Configs}
	for _, e := range w.said {
		if e.Group == "" || e.Group == b.id {
			in.Events = append(in.Events, e)
		}
	}
	kept := b.commits.Records()
	for _, list := range [][]inspect.Record{kept, b.records} {
		for i := range list {
			in.Records = append(in.Records, &list[i])
		}
	}
	return judge.Read(in, judge.Options{})
}

// waits reports whether leaders are still to answer what was asked.
func (b *book) waits(now time.Time) bool { return !b.inquiry.IsZero() && now.Sub(b.inquiry) < patience }

// inquire asks the leaders whether records waited when members went.
func (w *Watcher) inquire(b *book, r *judge.Reading, now time.Time) {
	m := moments{group: b.id}
	for _, q := range r.Questions(w.info.At.Add(w.differ.group(b.id).skew)) {
		if !b.inquired[q] {
			m.queries = append(m.queries, q)
		}
	}
	if len(m.queries) > 0 && b.inquiry.IsZero() {
		select {
		case w.wantMoments <- m:
			b.inquiry = now
			for _, q := range m.queries {
				b.inquired[q] = true
			}
		default: // others are asked about: the next look asks
		}
	}
}

// answered keeps what leaders said, and has it judged at once.
func (b *book) answered(list []inspect.OffsetAt) {
	b.moments, b.inquiry, b.notBefore = append(b.moments, list...), time.Time{}, time.Time{}
	b.again = append([]time.Time{{}}, b.again...)
	b.astir[b] = true
}

// met reports whether the snapshot is of a later time than the watch's start.
func (b *book) met() bool { return b.snapshot != nil && !b.asked.IsZero() }

// stir asks for a verdict.
func (b *book) stir(now time.Time) {
	if b.dirty.IsZero() {
		b.dirty = now
		b.astir[b] = true
	}
}

// changed asks for a verdict on a rebalance of now, and for further looks at it up to
// the time when its members' longest timeout has passed.
func (b *book) changed(now time.Time, longest time.Duration) {
	b.stir(now)
	for _, d := range append(lookAgain[:len(lookAgain):len(lookAgain)], longest+judgeAfter) {
		b.lookIn(now, d)
	}
	if len(b.again) > maxLooks { // a storm is looked at often enough as it is
		b.again = slices.Clone(b.again[len(b.again)-maxLooks:])
	}
}

// lookIn asks for a look at a later moment.
func (b *book) lookIn(now time.Time, wait time.Duration) {
	at := now.Add(wait)
	if i, found := slices.BinarySearchFunc(b.again, at, time.Time.Compare); !found {
		b.again = slices.Insert(b.again, i, at)
	}
	b.astir[b] = true
}

// due reports whether it is time for a verdict.
func (b *book) due(now time.Time) bool {
	if now.Before(b.notBefore) {
		return false
	}
	return !b.dirty.IsZero() && now.Sub(b.dirty) >= judgeAfter || len(b.again) > 0 && !now.Before(b.again[0])
}

// looked drops the looks that a verdict of now makes good.
func (b *book) looked(now time.Time) {
	b.dirty = time.Time{}
	b.again = slices.DeleteFunc(b.again, func(at time.Time) bool { return !at.After(now) })
	if len(b.again) == 0 {
		delete(b.astir, b)
	}
}

// judge tells what is new about the causes of rebalances since the watch began. A
// cause may be refined: with the member's return, say.
func (w *Watcher) judge(b *book, now time.Time) []Event {
	began := w.cfg.Now()
	b.looked(now)
	var reading *judge.Reading
	if !b.waits(now) {
		reading = w.read(b, now)
		w.inquire(b, reading, now)
	}
	if b.waits(now) {
		b.lookIn(b.inquiry, patience)
		return nil
	}
	tl := reading.Timeline()
	var out []Event
	for i := range tl.Rebalances {
		r := &tl.Rebalances[i]
		v := verdict{r.Cause, r.Basis, r.Confidence, r.Returned}
		incident := w.incidents[b.id+"\x00"+r.ID]
		if b.past[r.ID] || incident.number == 0 || r.Cause == "" || b.told[r.ID] == v {
			continue
		}
		if wait := unknownAfter - now.Sub(incident.told) - sinceLeft(r); r.Cause == inspect.UnknownCause && wait > 0 {
			b.lookIn(now, wait) // more may come to be known
			continue
		}
		b.told[r.ID] = v
		out = append(out, w.differ.stamp(w.causeEvent(b, r, incident.number))...)
	}
	b.notBefore = now.Add(judgeShare * w.cfg.Now().Sub(began))
	return out
}

// sinceLeft is for how long somebody had been gone when a rebalance ended.
func sinceLeft(r *inspect.Rebalance) time.Duration {
	longest := time.Duration(0)
	for i := range r.Members.Left {
		longest = max(longest, r.Time.Sub(r.Members.Left[i].LeftBetween[1].Time))
	}
	return longest
}

// causeEvent is the verdict on one rebalance.
func (w *Watcher) causeEvent(b *book, r *inspect.Rebalance, incident int) Event {
	generation := r.Generation
	e := Event{Type: CauseFound, Time: inspect.At(w.cfg.Now().Add(w.differ.group(b.id).skew)), Happened: r.Time, Group: b.id, Source: FromLog, Record: r.ID, Incident: incident, Generation: &generation,
		Cause: r.Cause, Confidence: r.Confidence, Basis: r.Basis, Returned: r.Returned, Evidence: r.Evidence, Rivals: r.Rivals, Evictions: r.Evictions(nil)}
	for i := range r.Members.Left {
		d := &r.Members.Left[i]
		if d.Cause != r.Cause {
			continue
		}
		e.Member = inspect.MemberName(d.ClientID, d.MemberID, d.InstanceID)
		e.Limit = d.Session
		if r.Cause == inspect.PollIntervalExceeded || r.Cause == inspect.RejoinTimedOut {
			e.Limit = d.Rebalance
		}
		e.BackAfter = d.BackAfter
	}
	e.Stall = r.Stall
	return e
}

// look is a question for what is kept of some groups.
type look struct {
	groups []string // all, if empty
	answer chan *inspect.Case
}

// Look is what a watch under way has kept of some groups, or of all if none is named.
// Its window begins when the log is read from, and is zero until that has been read.
// It may be called from any goroutine while Run runs; the error is the end of ctx.
func (w *Watcher) Look(ctx context.Context, groups ...string) (*inspect.Case, error) {
	l := look{groups, make(chan *inspect.Case, 1)}
	select {
	case w.looks <- l:
		return <-l.answer, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Case is all that the watch has kept, for a case file. Call it when Run has ended.
func (w *Watcher) Case() *inspect.Case { return w.caseOf(nil) }

// caseOf is what is kept of some groups, or of all.
func (w *Watcher) caseOf(groups []string) *inspect.Case {
	c := *w.info.Case
	c.Records, c.Observations, c.OffsetsAt, c.Timelines = nil, nil, nil, nil
	c.Gaps, c.Configs = slices.Clone(c.Gaps), w.cfg.Configs
	c.Window = inspect.Window{From: w.from, To: inspect.At(w.cfg.Now().Add(w.farthest()))}
	if w.cfg.Scanner != nil {
		c.Gaps = inspect.WithClocks(c.Gaps, w.cfg.Scanner.ClockGaps())
	}
	c.Logs = w.logs
	if w.unread != "" {
		c.Gaps = append(c.Gaps, inspect.Gap{Fact: inspect.FactHistory, What: "history", Why: w.unread})
	}
	for _, gap := range w.refused {
		if !slices.Contains(c.Gaps, gap) {
			c.Gaps = append(c.Gaps, gap)
		}
	}
	for _, l := range w.logs {
		if l.CompleteSince.After(c.Window.CompleteSince.Time) {
			c.Window.CompleteSince = l.CompleteSince
		}
	}
	ids := groups
	if len(ids) == 0 {
		ids = slices.Sorted(maps.Keys(w.books))
	}
	wanted := func(id string) bool { return len(groups) == 0 || slices.Contains(groups, id) }
	c.Groups = slices.DeleteFunc(slices.Clone(c.Groups), func(g inspect.Group) bool { // those that came later follow
		return !wanted(g.ID) || w.books[g.ID] != nil && w.books[g.ID].met()
	})
	for _, id := range ids {
		b := w.books[id]
		if b == nil {
			continue
		}
		if b.met() {
			c.Groups = append(c.Groups, *b.snapshot)
		}
		c.Records = append(c.Records, b.all()...)
		c.OffsetsAt = append(c.OffsetsAt, b.moments...)
		c.Observations = append(c.Observations, w.differ.group(id).polls...)
		c.OffsetPolls = append(c.OffsetPolls, b.offsets.runs...)
		c.Gaps = append(append(c.Gaps, b.offsets.gaps()...), b.offsets.notShown(w.differ.group(id).polls)...)
	}
	slices.SortStableFunc(c.Records, inLog)
	return &c
}
