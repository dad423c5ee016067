package watch

import (
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/assume"
	"github.com/kgdiag/kgdiag/inspect/membership"
)

const (
	// enoughAdvances of a partition must have been seen before silence means anything:
	// a consumer that keeps its offsets elsewhere never commits.
	enoughAdvances = 3
	// keptAdvances are kept of a partition, for its beat.
	keptAdvances = 8
	// leastSilence is the shortest silence that is told (a third of the rebalance timeout
	// where that is less), beatsMissed the number of commits that must have failed to
	// come, and silentShare the share of the rebalance timeout that must have passed.
	leastSilence = 5 * time.Second
	beatsMissed  = 3
	silentShare  = 10
	// unknownSilence is leastSilence where the rebalance timeout is not known.
	unknownSilence = 30 * time.Second
	// riskShare is the share of the rebalance timeout after which a silent member is at
	// risk of being put out.
	riskShare = 2
	// endsEvery is how often the ends of a silent member's partitions are asked for.
	endsEvery = time.Second
)

// progress is how a group's commits on one partition advance.
type progress struct {
	offset int64
	times  [keptAdvances]int64 // when the last advances were, in ms; the n-th at n%keptAdvances
	seen   int                 // advances
}

// last is when the latest advance was.
func (p *progress) last() time.Time { return time.UnixMilli(p.times[(p.seen-1)%keptAdvances]).UTC() }

// silence is one member that has not committed for a while.
type silence struct {
	since   time.Time
	asked   time.Time // when the ends of its logs were last asked for
	ends    map[membership.TopicPartition]int64
	growing bool
	told    bool
	atRisk  bool
}

// risks watches the members of one group for silence: no commit that advances,
// while the lag grows, measured against the rebalance timeout. Pure.
type risks struct {
	parts  map[membership.TopicPartition]*progress
	silent map[string]*silence
	// assumed is the poll interval of a member of which none was read; nil where the log
	// tells it.
	assumed func(*membership.Member) assume.Value
}

func newRisks() *risks {
	return &risks{parts: map[membership.TopicPartition]*progress{}, silent: map[string]*silence{}}
}

// commit takes a commit; at is when it arrived, or its own time if it is of the past.
func (k *risks) commit(r *inspect.Record, at time.Time) {
	if r.Commit == nil {
		return
	}
	key := membership.TopicPartition{Topic: r.Topic, Partition: r.TopicPartition}
	p := k.parts[key]
	if p == nil {
		p = &progress{offset: -1}
		k.parts[key] = p
	}
	if r.Commit.Offset == p.offset {
		return // a timer's commit of what was committed before is no sign of work
	}
	p.offset = r.Commit.Offset
	p.times[p.seen%keptAdvances] = at.UnixMilli()
	p.seen++
}

// beat is the median time between the last advances; 0 unknown.
func (p *progress) beat() time.Duration {
	var gaps []time.Duration
	for i := max(1, p.seen-keptAdvances+1); i < p.seen; i++ {
		gaps = append(gaps, time.Duration(p.times[i%keptAdvances]-p.times[(i-1)%keptAdvances])*time.Millisecond)
	}
	if len(gaps) == 0 {
		return 0
	}
	slices.Sort(gaps)
	return gaps[len(gaps)/2]
}

// described reports whether a poll of late saw the group at rest.
func (g *group) described(now time.Time) bool {
	return g.seen != nil && g.seen.State == "Stable" && now.Add(g.skew).Sub(g.seen.To.Time) <= 2*SlowEvery+time.Second
}

// assess looks at all members of a group at rest. It gives events, and the partitions
// whose ends it wants to know.
func (k *risks) assess(g *group, now time.Time) (events []Event, want []inspect.TopicPartitions) {
	if !g.described(now) {
		return nil, nil
	}
	present := map[string]bool{}
	for i := range g.seen.Members {
		om := &g.seen.Members[i]
		m := g.read.Members[om.MemberID]
		if m == nil || len(om.Assignment) == 0 {
			continue
		}
		present[m.ID] = true
		e, w := k.assessMember(g, m, om.Assignment, now)
		events, want = append(events, e...), append(want, w...)
	}
	for id := range k.silent {
		if !present[id] {
			delete(k.silent, id) // gone: the rebalance tells
		}
	}
	return events, want
}

// assessMember looks at one member.
func (k *risks) assessMember(g *group, m *membership.Member, owned []inspect.TopicPartitions, now time.Time) (events []Event, want []inspect.TopicPartitions) {
	last, beat, known := k.lastAdvance(owned)
	if !known {
		return nil, nil
	}
	if last.Before(g.closed.Time) {
		last = g.closed.Time // it has had its partitions since then
	}
	limit, from := k.limit(m)
	after := max(min(leastSilence, limit/3), beatsMissed*beat, limit/silentShare)
	if limit == 0 {
		after = max(unknownSilence, beatsMissed*beat)
	}
	quiet := now.Sub(last)
	s := k.silent[m.ID]
	if quiet < after/2 { // from here on the ends of its logs are watched
		if s != nil {
			delete(k.silent, m.ID)
			if s.told {
				return []Event{k.event(g, m, MemberSpoke, now, last.Sub(s.since))}, nil
			}
		}
		return nil, nil
	}
	if s == nil {
		s = &silence{since: last}
		k.silent[m.ID] = s
	}
	if !s.growing && now.Sub(s.asked) >= endsEvery {
		s.asked = now
		want = owned
	}
	if s.growing && !s.told && quiet >= after {
		s.told = true
		e := k.event(g, m, MemberSilent, now, quiet)
		for _, t := range owned {
			e.Partitions += len(t.Partitions)
		}
		events = append(events, e)
	}
	if s.told && !s.atRisk && m.Client.Family.PollInterval() && limit > 0 && quiet >= limit/riskShare {
		s.atRisk = true
		e := k.event(g, m, MemberAtRisk, now, quiet)
		e.OutAt = inspect.At(last.Add(limit))
		e.Limit, e.Assumed = ms(limit), from
		events = append(events, e)
	}
	return events, want
}

// limit is the time that a member has between two polls, 0 unknown, and the setting with
// where it is from, if no record told it.
func (k *risks) limit(m *membership.Member) (limit time.Duration, from string) {
	if m.Rebalance != nil || k.assumed == nil {
		return inspect.Or(m.Rebalance, 0), ""
	}
	if v := k.assumed(m); v.Value > 0 {
		return v.Value.Duration(), v.String()
	}
	return 0, ""
}

// lastAdvance is when the owner of partitions last made progress on any, and its
// beat: the quickest of its partitions'.
func (k *risks) lastAdvance(owned []inspect.TopicPartitions) (last time.Time, beat time.Duration, known bool) {
	for _, t := range owned {
		for _, n := range t.Partitions {
			p := k.parts[membership.TopicPartition{Topic: t.Topic, Partition: n}]
			if p == nil || p.seen < enoughAdvances {
				continue
			}
			known = true
			if at := p.last(); at.After(last) {
				last = at
			}
			if b := p.beat(); beat == 0 || b < beat {
				beat = b
			}
		}
	}
	return last, beat, known
}

// ends takes the ends of logs that were asked for. Twice asked and further away the
// second time, with something left to do: the lag grows.
func (k *risks) ends(g *group, found map[string]map[int32]int64) {
	if g.seen == nil {
		return
	}
	for i := range g.seen.Members {
		om := &g.seen.Members[i]
		s := k.silent[om.MemberID]
		if s == nil || s.growing {
			continue
		}
		now := map[membership.TopicPartition]int64{}
		for _, t := range om.Assignment {
			for _, n := range t.Partitions {
				if end, ok := found[t.Topic][n]; ok {
					now[membership.TopicPartition{Topic: t.Topic, Partition: n}] = end
				}
			}
		}
		s.growing = k.grew(s.ends, now)
		if s.ends == nil && len(now) > 0 {
			s.ends = now
		}
	}
}

// grew reports whether a partition with something left to do has more than before.
func (k *risks) grew(before, now map[membership.TopicPartition]int64) bool {
	for key, end := range now {
		if was, had := before[key]; had && end > was && k.parts[key] != nil && end > k.parts[key].offset {
			return true
		}
	}
	return false
}

// event is an event about a member.
func (k *risks) event(g *group, m *membership.Member, kind Kind, now time.Time, quiet time.Duration) Event {
	w := who(m, g.read.Members)
	return Event{Type: kind, Time: inspect.At(now), Group: g.id, Source: FromLog, Member: w.Label, Silent: ms(quiet), Limit: m.Rebalance, Who: &w}
}
