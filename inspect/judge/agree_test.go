package judge_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/judge"
	"github.com/kgdiag/kgdiag/inspect/membership"
	"github.com/kgdiag/kgdiag/inspect/watch"
)

// scene is a group at a moment, as a describe would show it.
type scene struct {
	state   string
	members map[string]inspect.ObservedMember
	epoch   *int32
	bound   *int32
}

// stage plays the records of a group, and shows it to polls. It reads them in its own
// way, so that it shares no fault with what it is to test.
type stage struct {
	scene
	current map[string]*inspect.CurrentAssignment
	commits map[membership.TopicPartition]time.Time
	cues    []cue // of classic groups: what polls see until the next record
}

// committed is the last commit of a member of a classic group.
func (s *stage) committed(m inspect.ObservedMember) (last time.Time) {
	for _, a := range m.Assignment {
		for _, p := range a.Partitions {
			if at := s.commits[membership.TopicPartition{Topic: a.Topic, Partition: p}]; at.After(last) {
				last = at
			}
		}
	}
	return last
}

type cue struct {
	from  time.Time
	scene scene
}

// until makes the scenes between a classic record and the one before: the rebalance
// began some time before its join phase ended, with the departures; who came joined
// half way through.
func (s *stage) until(before time.Time, r *inspect.Record) {
	md, ended := r.Metadata, r.Metadata.StateTime.Time
	next := map[string]inspect.ObservedMember{}
	for _, m := range md.Members {
		next[m.MemberID] = inspect.ObservedMember{MemberID: m.MemberID, ClientID: m.ClientID, Host: m.Host, InstanceID: m.InstanceID, Assignment: m.Assigned}
	}
	sameMembers := maps.EqualFunc(s.members, next, func(inspect.ObservedMember, inspect.ObservedMember) bool { return true })
	after := scene{state: "Stable", members: next, bound: &md.Generation}
	if len(next) == 0 {
		after = scene{state: "Empty", members: next}
	}
	began := ended.Add(-time.Duration(r.Offset*37%2900) * time.Millisecond)
	for id, m := range s.members {
		if _, stays := next[id]; !stays && s.committed(m).After(began) {
			began = s.committed(m) // who commits is still there
		}
	}
	if s.bound != nil && *s.bound == md.Generation || len(next) == 0 || !began.After(before) || !began.Before(ended) || ended.After(r.Time.Time) {
		s.cues = []cue{{r.Time.Time, after}}
		s.scene = after
		return
	}
	going := maps.Clone(s.members)
	maps.DeleteFunc(going, func(id string, _ inspect.ObservedMember) bool { _, stays := next[id]; return !stays })
	all := maps.Clone(going)
	maps.Copy(all, next)
	s.cues = []cue{{began, scene{state: "PreparingRebalance", members: going}}, {began.Add(ended.Sub(began) / 2), scene{state: "PreparingRebalance", members: all}},
		{ended, scene{state: "CompletingRebalance", members: next}}, {r.Time.Time, after}}
	if sameMembers {
		s.cues = slices.Delete(s.cues, 1, 2)
	}
	s.scene = after
}

// epochs plays a record of a KIP-848 group.
func (s *stage) epochs(r *inspect.Record) {
	switch {
	case r.Tombstone && r.Member != "":
		delete(s.members, r.Member)
		delete(s.current, r.Member)
	case r.MemberOf != nil:
		m := r.MemberOf
		s.members[r.Member] = inspect.ObservedMember{MemberID: r.Member, ClientID: m.ClientID, Host: m.Host, InstanceID: m.InstanceID}
	case r.Epoch != nil:
		s.epoch = &r.Epoch.Epoch
	case r.Current != nil:
		s.current[r.Member] = r.Current
	}
	if s.epoch == nil {
		return
	}
	s.state = "Stable"
	for id := range s.members {
		c := s.current[id]
		if c == nil || c.Epoch != *s.epoch || c.State != inspect.MemberStable {
			s.state = "Reconciling"
		}
	}
	if len(s.members) == 0 {
		s.state = "Empty"
	}
	s.cues = []cue{{r.Time.Time, scene{s.state, maps.Clone(s.members), s.epoch, nil}}}
}

// before are the KIP-848 members that were there before the first record: theirs does
// not name them. A watch knows them from its first snapshot.
func before(records []inspect.Record) *inspect.Group {
	first := map[string]bool{}
	g := &inspect.Group{ID: records[0].Group, Type: inspect.Consumer}
	for i := range records {
		r := &records[i]
		if r.Member != "" && !first[r.Member] {
			first[r.Member] = true
			if r.MemberOf == nil {
				g.Members = append(g.Members, inspect.Member{MemberID: r.Member})
			}
		}
		for k := range g.Members {
			if m := &g.Members[k]; m.MemberID == r.Member && r.MemberOf != nil && m.ClientID == "" {
				m.ClientID, m.Host, m.InstanceID, m.Topics = r.MemberOf.ClientID, r.MemberOf.Host, r.MemberOf.InstanceID, r.MemberOf.Topics
			}
		}
	}
	return g
}

// cuesOf are the scenes of a whole log.
func cuesOf(records []inspect.Record) []cue {
	s := &stage{scene: scene{members: map[string]inspect.ObservedMember{}}, current: map[string]*inspect.CurrentAssignment{},
		commits: map[membership.TopicPartition]time.Time{}}
	for _, m := range before(records).Members {
		s.members[m.MemberID] = inspect.ObservedMember{MemberID: m.MemberID, ClientID: m.ClientID, Host: m.Host, InstanceID: m.InstanceID}
	}
	var out []cue
	var last time.Time
	for i := range records {
		r := &records[i]
		s.cues = nil
		switch {
		case r.Commit != nil:
			s.commits[membership.TopicPartition{Topic: r.Topic, Partition: r.TopicPartition}] = r.Time.Time
			continue
		case r.Type == inspect.RecGroupMetadata && r.Metadata != nil:
			s.until(last, r)
		case r.Type == inspect.RecGroupMetadata:
			continue
		default:
			s.epochs(r)
		}
		last = r.Time.Time
		out = append(out, s.cues...)
	}
	return out
}

// polls looks at the scenes four times a second around each, and now and then else.
func polls(group string, cues []cue) []inspect.Observation {
	var out []inspect.Observation
	if len(cues) == 0 {
		return nil
	}
	now := 0
	for at := cues[0].from.Add(83 * time.Millisecond); now < len(cues); {
		for now+1 < len(cues) && !cues[now+1].from.After(at) {
			now++
		}
		s := cues[now].scene
		o := inspect.Observation{Group: group, From: inspect.At(at), To: inspect.At(at), State: s.state, Epoch: s.epoch, GenerationBound: s.bound, Coordinator: 1}
		for _, id := range slices.Sorted(maps.Keys(s.members)) {
			o.Members = append(o.Members, s.members[id])
		}
		out = append(out, o)
		step := 250 * time.Millisecond
		if now+1 == len(cues) {
			if at.Sub(cues[now].from) > 6*time.Second {
				break
			}
		} else if at.Sub(cues[now].from) > 6*time.Second && cues[now+1].from.Sub(at) > 6*time.Second {
			step = 2 * time.Second
		}
		at = at.Add(step)
	}
	return out
}

// told are the rebalances that a watch tells of the same records and polls.
func told(records []inspect.Record, seen []inspect.Observation, log bool, every time.Duration) []watch.Event {
	d := watch.NewDiffer(watch.Options{Log: log})
	if len(records) > 0 {
		if s := before(records); len(s.Members) > 0 {
			d.Seed(s)
		}
	}
	var events []watch.Event
	poll := func(until time.Time) {
		for len(seen) > 0 && !seen[0].From.After(until) {
			events = append(events, d.Observe(&seen[0], every)...)
			seen = seen[1:]
		}
	}
	for i := range records {
		r := &records[i]
		poll(r.Time.Add(-time.Nanosecond))
		events = append(events, d.Tick(r.Time)...)
		events = append(events, d.Record(r, r.Time)...)
	}
	poll(time.Unix(1<<40, 0))
	if len(events) > 0 {
		events = append(events, d.Tick(inspect.At(events[len(events)-1].Time.Add(time.Hour)))...)
	}
	return events
}

// line is what both must agree on of one rebalance.
func line(id string, generation int32, joined, left, replaced []string, members int, cause ...any) string {
	for _, l := range [][]string{joined, left, replaced} {
		slices.Sort(l)
	}
	return fmt.Sprint(id, " gen ", generation, " +", joined, " -", left, " ~", replaced, " of ", members, " ", cause)
}

// ofWatch are the lines of a watch, in order; with the name by which it calls each member.
func ofWatch(events []watch.Event) (lines []string, names map[string]string) {
	names = map[string]string{}
	for _, e := range events {
		for _, w := range slices.Concat(e.Joined, e.Left) {
			names[w.MemberID] = w.Label
		}
		if e.Type != watch.MemberReplaced && (e.Type != watch.RebalanceDone || e.Cooperative) {
			continue
		}
		var joined, left, replaced []string
		for _, w := range e.Joined {
			joined = append(joined, w.MemberID)
		}
		for _, w := range e.Left {
			left = append(left, w.MemberID)
		}
		for _, s := range e.Replaced {
			names[s.NewMemberID] = s.Label
			if e.Type == watch.MemberReplaced {
				replaced = append(replaced, s.OldMemberID+"→"+s.NewMemberID)
				continue
			}
			joined, left = append(joined, s.NewMemberID), append(left, s.OldMemberID)
		}
		lines = append(lines, line(e.Record, *e.Generation, joined, left, replaced, *e.Members, pointed(e.PreviousGeneration), e.Skipped))
	}
	return lines, names
}

// ofHistory are the same lines of a history.
func ofHistory(tl inspect.Timeline) (lines []string, names map[string]string) {
	names = map[string]string{}
	for _, r := range tl.Rebalances {
		if r.Cause == inspect.GroupDeleted {
			continue
		}
		var joined, left, replaced []string
		for _, j := range r.Members.Joined {
			joined = append(joined, j.MemberID)
			names[j.MemberID] = inspect.MemberName(j.ClientID, j.MemberID, j.InstanceID)
		}
		for _, l := range r.Members.Left {
			left = append(left, l.MemberID)
			names[l.MemberID] = inspect.MemberName(l.ClientID, l.MemberID, l.InstanceID)
		}
		for _, s := range r.Members.Replaced {
			replaced = append(replaced, s.OldMemberID+"→"+s.NewMemberID)
			names[s.NewMemberID] = inspect.MemberName(s.ClientID, s.NewMemberID, s.InstanceID)
		}
		generation := r.Generation
		if len(r.Generations) > 0 { // watch tells the first half first
			generation = r.Generations[0]
		}
		lines = append(lines, line(r.ID, generation, joined, left, replaced, r.Members.After, pointed(r.PreviousGeneration), r.Skipped))
	}
	return lines, names
}

func pointed(n *int32) int32 {
	if n == nil {
		return -1
	}
	return *n
}

// agree compares what history and watch say of the same records and polls.
func agree(t *testing.T, name string, c *inspect.Case, log bool) (rebalances, paused, bounded int) {
	t.Helper()
	tl := judge.Build(c, judge.Options{})[0]
	events := told(c.Records, c.Observations, log, 250*time.Millisecond)
	want, names := ofHistory(tl)
	got, labels := ofWatch(events)
	if !slices.Equal(got, want) {
		t.Errorf("%s: watch tells\n  %s\nhistory\n  %s", name, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
		return 0, 0, 0
	}
	for id, label := range labels {
		if n := names[id]; n != "" && label != n && !strings.HasPrefix(label, n+"@") {
			t.Errorf("%s: watch calls %s %s, history %s", name, id, label, n)
		}
	}
	byID := map[string]*inspect.Rebalance{}
	for i := range tl.Rebalances {
		byID[tl.Rebalances[i].ID] = &tl.Rebalances[i]
	}
	var last *inspect.Rebalance
	for _, e := range events {
		r := byID[e.Record]
		if e.Type == watch.Converged && (last.Converged == nil || *last.Converged != *e.Converged || e.Last != "" && !strings.HasPrefix(e.Last, last.ConvergedLast)) {
			t.Errorf("%s %s: converged after %v, %s last, says watch, after %v, %s last, history", name, last.ID,
				inspect.Or(e.Converged, -1), e.Last, inspect.Or(last.Converged, -1), last.ConvergedLast)
		}
		if e.Type == watch.RebalanceDone && r != nil {
			last = r
		}
		if e.Type != watch.RebalanceDone || e.Cooperative || r == nil {
			continue
		}
		if e.GenerationBasis != "epoch" && len(r.Generations) == 0 && (e.Moved != r.Moved || e.Assigned != r.Assigned) {
			t.Errorf("%s %s: watch says %d of %d partitions moved, history %d of %d", name, r.ID, e.Moved, e.Assigned, r.Moved, r.Assigned)
		}
		paused += samePause(t, name, &e, r)
		bounded += sameBounds(t, name, &e, r)
	}
	return len(want), paused, bounded
}

// samePause compares how long members were paused: what they were told at the record
// is what history says. It reports 1 where that has a bound.
func samePause(t *testing.T, name string, e *watch.Event, r *inspect.Rebalance) int {
	t.Helper()
	watched := fmt.Sprint(inspect.Or(e.Stopped, -1), " to ", inspect.Or(e.StoppedAtMost, -1), " ", e.StoppedBasis, ", rebalancing ", inspect.Or(e.Rebalancing, -1))
	told := fmt.Sprint(inspect.Or(r.Stopped, -1), " to ", inspect.Or(r.StoppedAtMost, -1), " ", r.StoppedBasis, ", rebalancing ", inspect.Or(r.Rebalancing, -1))
	if r.Converged == nil && e.GenerationBasis != "epoch" && watched != told {
		t.Errorf("%s %s: watch says paused %s, history %s", name, r.ID, watched, told)
	}
	if r.StoppedAtMost != nil && *r.StoppedAtMost > 0 {
		return 1
	}
	return 0
}

// sameBounds compares when members went: history may know better than the record, but
// not otherwise.
func sameBounds(t *testing.T, name string, e *watch.Event, r *inspect.Rebalance) int {
	t.Helper()
	n := 0
	for _, w := range e.Left {
		for _, l := range r.Members.Left {
			if l.MemberID != w.MemberID || w.LeftBetween == nil {
				continue
			}
			n++
			a, b := *w.LeftBetween, l.LeftBetween
			if a[1].Before(b[0].Time) || b[1].Before(a[0].Time) {
				t.Errorf("%s %s: %s left between %v and %v says watch, between %v and %v history", name, r.ID, l.MemberID, a[0], a[1], b[0], b[1])
			}
		}
	}
	return n
}

// History and watch read membership in one place, and what they make of it must not
// differ either: for all recorded and simulated groups they name the same rebalances,
// generations, members and durations, with polls in between and by polls alone.
func TestHistoryAndWatchAgree(t *testing.T) {
	rebalances, paused, bounded := 0, 0, 0
	for i, c := range slices.Concat(judge.Recorded(t), judge.Simulated(60)) {
		slices.SortStableFunc(c.Records, func(a, b inspect.Record) int {
			return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Offset, b.Offset))
		})
		seen := polls(c.Records[0].Group, cuesOf(c.Records))
		var runs membership.Polls
		for _, o := range seen {
			runs.Add(o)
		}
		name := fmt.Sprintf("%d %s", i, c.Records[0].Group)
		with := *c
		with.Observations = seen
		n, s, b := agree(t, name, &with, true)
		rebalances, paused, bounded = rebalances+n, paused+s, bounded+b
		without := *c
		without.Records, without.Observations, without.Groups = nil, runs, nil
		agree(t, name+" by polls", &without, false)
	}
	t.Logf("%d rebalances, %d pauses, %d departures", rebalances, paused, bounded)
	if rebalances < 1000 || paused < 100 || bounded < 300 {
		t.Errorf("%d rebalances, %d pauses and %d departures were compared: too few to hold anything", rebalances, paused, bounded)
	}
}
