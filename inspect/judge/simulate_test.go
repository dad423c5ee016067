package judge

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// The simulator writes the records of groups whose truth it knows. It varies what
// the laboratory held fixed: timeouts, number of members, cadence and kind of
// commits, time per poll of everybody, burstiness of the topic, delay of a restart.
// It is no measurement of a broker: its purpose is to hunt for verdicts that are
// wrong with high confidence.

// sim is one simulated group.
type sim struct {
	rng       *rand.Rand
	session   float64 // seconds, as all times here
	rebalance float64
	beat      float64
	mode      string // "record", "poll", "java", "librdkafka", "aiokafka"
	interval  float64
	lambda    float64 // seconds between records of a partition
	bursty    bool
	work      float64 // seconds a record takes
	batch     int     // most records of a poll
	members   int
	server    bool
	arrivals  [][]float64
	horizon   float64
}

// life is what one member did: its commits, and its polls.
type life struct {
	commits []simCommit
	polls   []float64
}

type simCommit struct {
	at   float64
	part int
	off  int64
}

func pick[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

func newSim(seed uint64, server bool) *sim {
	rng := rand.New(rand.NewPCG(seed, 99))
	s := &sim{rng: rng, server: server}
	s.session = pick(rng, 6.0, 9, 10, 15, 30, 45)
	s.rebalance = s.session * pick(rng, 1.2, 1.6, 2.5, 4, 6.67, 10)
	s.beat = min(3, s.session/3)
	s.mode = pick(rng, "record", "poll", "java", "librdkafka", "aiokafka")
	s.interval = pick(rng, 1.0, 5, 5, 5, 10)
	s.lambda = pick(rng, 0.05, 0.25, 1, 3)
	s.bursty = rng.IntN(5) == 0
	s.work = pick(rng, 0.002, 0.01, 0.2, 1)
	s.batch = pick(rng, 1, 20, 500)
	s.members = 2 + rng.IntN(3)
	s.work = min(s.work, 0.5*s.rebalance/float64(s.batch))
	s.horizon = 3*s.rebalance + 120
	parts := s.members * (1 + rng.IntN(2))
	for p := 0; p < parts; p++ {
		var list []float64
		for t := rng.Float64() * s.lambda; t < s.horizon+4*s.rebalance && len(list) < 12000; {
			list = append(list, t)
			t += s.lambda * (0.9 + 0.2*rng.Float64())
			if s.bursty && rng.IntN(40) == 0 {
				t += s.rebalance * rng.Float64()
			}
		}
		s.arrivals = append(s.arrivals, list)
	}
	return s
}

// wire is the rebalance timeout that the group's records show: aiokafka's is its
// session timeout, and its poll interval is on no record.
func (s *sim) wire() float64 {
	if s.mode == "aiokafka" && !s.server {
		return s.session
	}
	return s.rebalance
}

// available is how many records of a partition had arrived at a time.
func (s *sim) available(p int, at float64) int64 {
	n, _ := slices.BinarySearch(s.arrivals[p], at)
	return int64(n)
}

// run is the poll loop of a member over some partitions from a time until a time;
// offsets are carried on in pos.
func (s *sim) run(parts []int, from, until, work float64, pos map[int]int64) life {
	var l life
	t, next := from, from+s.interval
	last := map[int]int64{}
	commit := func(at float64, part int) {
		if at < until {
			l.commits = append(l.commits, simCommit{at, part, pos[part]})
			last[part] = pos[part]
		}
	}
	timers := func(to float64) {
		if s.mode != "librdkafka" && s.mode != "aiokafka" {
			return
		}
		for ; next <= to; next += s.interval {
			for _, p := range parts {
				if _, had := last[p]; s.mode == "aiokafka" || !had || last[p] != pos[p] {
					commit(next, p)
				}
			}
		}
	}
	for t < until && len(l.polls) < 40000 {
		l.polls = append(l.polls, t)
		if s.mode == "java" && t >= next {
			for _, p := range parts {
				commit(t, p)
			}
			next = t + s.interval
		}
		left, got := s.batch, false
		start := t
		for _, p := range parts {
			n := min(int64(left), s.available(p, start)-pos[p])
			for ; n > 0 && t < until; n-- {
				got = true
				left--
				took := work * (0.9 + 0.2*s.rng.Float64())
				timers(t + took)
				t += took
				if t >= until {
					break
				}
				pos[p]++
				if s.mode == "record" {
					commit(t, p)
				}
			}
		}
		if got && s.mode == "poll" {
			for _, p := range parts {
				if last[p] != pos[p] {
					commit(t, p)
				}
			}
		}
		if !got {
			wait := t + 0.5
			for _, p := range parts {
				if n := int(pos[p]); n < len(s.arrivals[p]) {
					wait = min(wait, max(s.arrivals[p][n], t+0.001))
				}
			}
			timers(wait)
			t = wait
		}
	}
	timers(until)
	return l
}

// stamp makes a Time of simulated seconds.
func stamp(at float64) inspect.Time {
	return inspect.At(time.Unix(1_800_000_000, 0).UTC().Add(time.Duration(at * float64(time.Second))).Truncate(time.Millisecond))
}

func secs(s float64) inspect.Millis { return inspect.Millis(s * float64(time.Second)) }

// event is a record with its time, before offsets are given.
type event struct {
	at  float64
	rec inspect.Record
}

// scenario is what happens to the victim, and what must be found.
type scenario struct {
	name  string
	truth inspect.Cause
	also  []inspect.Cause // as good as the truth
	out   float64         // departure
	back  float64         // the return joins; 0 none
	until float64         // last commit of the victim at most
	stale bool            // its last poll's records are not committed any more

	began    float64   // the rebalance
	rejoined []float64 // the members that stayed, when they did
	joined   float64   // end of the join phase
}

// fault chooses what happens to the victim at about a time.
func (s *sim) fault(at float64, l *life) scenario {
	polls := l.polls
	i, _ := slices.BinarySearch(polls, at)
	lastPoll := at
	if i > 0 {
		lastPoll = polls[i-1]
	}
	alive := at - s.rng.Float64()*s.beat // its last heartbeat
	if !s.server {
		for _, c := range l.commits {
			if c.at <= at {
				alive = max(alive, c.at)
			}
		}
	}
	late := s.rng.Float64() * 0.6
	expired := alive + s.session + late
	back := func(from float64) float64 { return from + pick(s.rng, 0.5, 3, 12, 40, 120) }
	switch k := s.rng.IntN(8); k {
	case 0:
		return scenario{name: "crash", truth: inspect.SessionExpired, out: expired, until: at}
	case 1:
		return scenario{name: "crash and restart", truth: inspect.SessionExpired, also: []inspect.Cause{inspect.RestartedWithinSession}, out: expired, back: back(at), until: at}
	case 2:
		return scenario{name: "pause", truth: inspect.SessionExpired, out: expired, back: expired + s.rng.Float64()*s.session*2, until: at}
	case 3:
		return scenario{name: "close", truth: inspect.MemberLeft, out: at + 0.05, until: at}
	case 4:
		return scenario{name: "close and restart", truth: inspect.MemberLeft, out: at + 0.05, back: back(at), until: at}
	case 5:
		drain := s.rng.Float64() * 1.5 * s.rebalance
		return scenario{name: "drained close", truth: inspect.MemberLeft, out: at + drain, until: at, back: pick(s.rng, 0, at+drain+5)}
	case 6:
		return scenario{name: "overrun", truth: inspect.PollIntervalExceeded, out: lastPoll + s.rebalance + late/6, until: lastPoll, stale: true,
			back: lastPoll + s.rebalance*(1.05+s.rng.Float64())}
	default:
		return scenario{name: "crash after a quick restart", truth: inspect.SessionExpired, also: []inspect.Cause{inspect.RestartedWithinSession}, out: expired, back: at + s.rng.Float64()*s.session, until: at}
	}
}

// simulate writes a group and returns its records, the truth and the kind.
func simulate(seed uint64, server bool) (*inspect.Case, scenario) {
	s := newSim(seed, server)
	pos := map[int]int64{}
	parts := make([][]int, s.members)
	for p := range s.arrivals {
		parts[p%s.members] = append(parts[p%s.members], p)
	}
	var events []event
	start := 1.0
	lives := make([]life, s.members)
	works := make([]float64, s.members)
	end := s.horizon
	for m := range parts {
		works[m] = s.work
		if m > 0 && s.rng.IntN(3) == 0 { // a slow peer, as slow as the poll interval allows
			works[m] = min(s.work*50, 0.8*s.rebalance/float64(s.batch))
		}
		for _, p := range parts[m] {
			pos[p] = s.available(p, start)
		}
	}
	at := start + s.rebalance + s.rng.Float64()*60 + 30
	// The victim's own run, up to its last commit.
	whole := s.run(parts[0], start, at, works[0], pos)
	sc := s.fault(at, &whole)
	for _, c := range whole.commits {
		if c.at <= sc.until {
			lives[0].commits = append(lives[0].commits, c)
			pos[c.part] = c.off
		}
	}
	if (s.mode == "java") && sc.truth == inspect.MemberLeft && sc.name != "drained close" {
		for _, p := range parts[0] {
			lives[0].commits = append(lives[0].commits, simCommit{sc.until, p, pos[p]})
		}
	}
	if (s.mode == "aiokafka" || s.mode == "librdkafka") && sc.truth == inspect.MemberLeft && sc.name != "drained close" {
		for _, p := range parts[0] {
			lives[0].commits = append(lives[0].commits, simCommit{sc.until, p, pos[p]})
		}
	}
	if s.mode == "aiokafka" && (sc.name == "overrun" || sc.name == "drained close") { // the committer runs on
		for n := sc.until + s.interval - float64(int64(0)); n < sc.out; n += s.interval {
			for _, p := range parts[0] {
				lives[0].commits = append(lives[0].commits, simCommit{n, p, pos[p]})
			}
		}
	}
	// The others, to the rebalance.
	joinEnd := sc.out
	starts := sc.out
	swap := false
	if sc.back > 0 && sc.back < sc.out && !server { // the new process prepares the rebalance, which waits for the old
		starts = sc.back
		swap = true
	}
	for m := 1; m < s.members; m++ {
		heard := starts + s.rng.Float64()*s.beat
		saved := map[int]int64{}
		for _, p := range parts[m] {
			saved[p] = pos[p]
		}
		l := s.run(parts[m], start, heard+s.rebalance, works[m], saved)
		i, _ := slices.BinarySearch(l.polls, heard)
		rejoin := heard
		if i < len(l.polls) {
			rejoin = l.polls[i]
		}
		if server {
			rejoin = sc.out
		}
		lives[m] = s.run(parts[m], start, rejoin, works[m], pos)
		sc.rejoined = append(sc.rejoined, rejoin)
		joinEnd = max(joinEnd, rejoin)
	}
	if sc.back > sc.out && sc.back < joinEnd && !server {
		swap = true
	}
	sc.began, sc.joined = starts, joinEnd
	ids := make([]string, s.members)
	for m := range ids {
		ids[m] = fmt.Sprintf("m%d-%08x", m, s.rng.Uint32())
	}
	names := func(m int) string { return fmt.Sprintf("app-%d", m) }
	if server {
		events = s.serverRecords(ids, names, parts, sc, start, pos)
	} else {
		events = s.classicRecords(ids, names, parts, sc, start, joinEnd, swap)
	}
	// After the rebalance the survivors work everything off.
	after := joinEnd + 0.01
	all := lives
	heir := 1
	owned := map[int][]int{}
	for m := 1; m < s.members; m++ {
		owned[m] = slices.Clone(parts[m])
	}
	owned[heir] = append(owned[heir], parts[0]...)
	stop := end
	if sc.back > joinEnd {
		stop = sc.back
	}
	if !swap {
		for m := 1; m < s.members; m++ {
			all = append(all, s.run(owned[m], after, stop, min(works[m], 0.05), pos))
		}
	} else {
		for m := 0; m < s.members; m++ {
			all = append(all, s.run(parts[m], after, stop, min(works[m], 0.05), pos))
		}
	}
	for _, l := range all {
		for _, c := range l.commits {
			events = append(events, event{c.at, inspect.Record{Type: inspect.RecOffsetCommit, Topic: "t", TopicPartition: int32(c.part),
				Commit: &inspect.OffsetCommit{Offset: c.off, TopicID: "T"}}})
		}
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	c := &inspect.Case{}
	if server {
		ses, hb := secs(s.session), secs(s.beat)
		c.Groups = []inspect.Group{{ID: "g", Type: inspect.Consumer, Limits: inspect.Limits{Session: &ses, Heartbeat: &hb}}}
	}
	c.Window.To = stamp(max(end, sc.back+s.rebalance))
	for i, e := range events {
		e.rec.Group, e.rec.Offset, e.rec.Partition, e.rec.Time, e.rec.LeaderEpoch = "g", int64(i), 3, stamp(e.at), 0
		c.Records = append(c.Records, e.rec)
	}
	return c, sc
}

// classicRecords are the GroupMetadata records of a classic eager group.
func (s *sim) classicRecords(ids []string, names func(int) string, parts [][]int, sc scenario, start, joinEnd float64, swap bool) []event {
	meta := func(gen int32, at float64, who map[int]string, own map[int][]int) event {
		proto := "range"
		g := &inspect.GroupMetadata{ProtocolType: "consumer", Generation: gen, Protocol: &proto, StateTime: stamp(at - 0.005)}
		for m := 0; m < s.members; m++ {
			id, ok := who[m]
			if !ok {
				continue
			}
			gm := inspect.GroupMember{MemberID: id, ClientID: names(m), Host: "h", Session: secs(s.session), Rebalance: secs(s.wire()), Topics: []string{"t"}}
			for _, p := range own[m] {
				gm.Assigned = append(gm.Assigned, inspect.TopicPartitions{Topic: "t", Partitions: []int32{int32(p)}})
			}
			g.Members = append(g.Members, gm)
		}
		return event{at, inspect.Record{Type: inspect.RecGroupMetadata, Metadata: g}}
	}
	who, own := map[int]string{}, map[int][]int{}
	for m, id := range ids {
		who[m], own[m] = id, parts[m]
	}
	out := []event{meta(1, start-0.5, who, own)}
	next, owned := map[int]string{}, map[int][]int{}
	for m := 1; m < s.members; m++ {
		next[m], owned[m] = ids[m], slices.Clone(parts[m])
	}
	again := map[int]string{}
	for m, id := range who {
		again[m] = id
	}
	again[0] = "new-" + ids[0]
	if swap {
		return append(out, meta(2, joinEnd+0.008, again, own))
	}
	owned[1] = append(owned[1], parts[0]...)
	out = append(out, meta(2, joinEnd+0.008, next, owned))
	if sc.back > 0 {
		out = append(out, meta(3, max(sc.back, joinEnd+0.1)+0.01, again, own))
	}
	return out
}

// serverRecords are the records of a KIP-848 group.
func (s *sim) serverRecords(ids []string, names func(int) string, parts [][]int, sc scenario, start float64, _ map[int]int64) []event {
	var out []event
	add := func(at float64, r inspect.Record) { out = append(out, event{at, r}) }
	tasks := func(list []int) inspect.Tasks {
		var p []int32
		for _, n := range list {
			p = append(p, int32(n))
		}
		return inspect.Tasks{Active: []inspect.TopicIDPartitions{{TopicID: "T", Partitions: p}}}
	}
	epoch := int32(0)
	join := func(at float64, m int, id string, own []int) {
		epoch++
		reb := secs(s.rebalance)
		add(at, inspect.Record{Type: inspect.RecConsumerMember, Member: id, MemberOf: &inspect.MemberMetadata{ClientID: names(m), Host: "h", Topics: []string{"t"}, Rebalance: &reb}})
		add(at, inspect.Record{Type: inspect.RecConsumerGroupMetadata, Epoch: &inspect.GroupEpoch{Epoch: epoch}})
		add(at+0.3, inspect.Record{Type: inspect.RecConsumerCurrentAssignment, Member: id, Current: &inspect.CurrentAssignment{Epoch: epoch, Assigned: tasks(own)}})
	}
	for m, id := range ids {
		join(start-0.9+0.1*float64(m), m, id, parts[m])
	}
	newID := "new-" + ids[0]
	if sc.name == "pause" || sc.name == "overrun" {
		newID = ids[0]
	}
	early := sc.back > 0 && sc.back < sc.out && newID != ids[0]
	if early {
		join(sc.back, 0, newID, nil)
	}
	for _, rt := range []inspect.RecordType{inspect.RecConsumerCurrentAssignment, inspect.RecConsumerTargetMember, inspect.RecConsumerMember} {
		add(sc.out, inspect.Record{Type: rt, Member: ids[0], Tombstone: true})
	}
	epoch++
	add(sc.out, inspect.Record{Type: inspect.RecConsumerGroupMetadata, Epoch: &inspect.GroupEpoch{Epoch: epoch}})
	own := append(slices.Clone(parts[1]), parts[0]...)
	add(sc.out+0.005, inspect.Record{Type: inspect.RecConsumerCurrentAssignment, Member: ids[1], Current: &inspect.CurrentAssignment{Epoch: epoch, Assigned: tasks(own)}})
	if sc.back > 0 && !early {
		join(max(sc.back, sc.out+0.1), 0, newID, parts[0])
	}
	return out
}

// simVerdict finds the step in which the simulated victim went.
func simVerdict(c *inspect.Case) *inspect.Rebalance {
	tl := Build(c, Options{})[0]
	for i := range tl.Rebalances {
		for _, d := range tl.Rebalances[i].Members.Left {
			if d.ClientID == "app-0" {
				return &tl.Rebalances[i]
			}
		}
	}
	return nil
}

// simulated scores many simulated groups.
func simulated(t testing.TB, n int, server bool) map[string]score {
	by := map[string]score{}
	for seed := range uint64(n) {
		c, sc := simulate(seed, server)
		r := simVerdict(c)
		truth := sc.truth
		if r != nil && slices.Contains(sc.also, r.Cause) {
			truth = r.Cause
		}
		if by[sc.name] == nil {
			by[sc.name] = score{}
		}
		printSim := t.Logf
		o := by[sc.name].add(r, truth)
		if o == "wrong" && r.Confidence == inspect.High {
			printSim = t.Errorf
		}
		if o == "wrong" && r.Confidence != inspect.Low {
			s := newSim(seed, server)
			printSim("seed %d server %v %s S=%g R=%g mode=%s interval=%g lambda=%g bursty=%v work=%g batch=%d members=%d out=%.2f until=%.2f back=%.2f: %s %v", seed, server, sc.name,
				s.session, s.rebalance, s.mode, s.interval, s.lambda, s.bursty, s.work, s.batch, s.members, sc.out, sc.until, sc.back, verdictText(r), r.Evidence)
		}
	}
	return by
}

var simCount = flag.Int("simulate", 100, "how many groups of each protocol to simulate")

// simulatedRows are the rows of docs/accuracy.md.
func simulatedRows(t testing.TB) []string {
	var out []string
	for _, server := range []bool{false, true} {
		kind := "classic"
		if server {
			kind = "KIP-848"
		}
		by := simulated(t, *simCount, server)
		for _, name := range slices.Sorted(maps.Keys(by)) {
			out = append(out, fmt.Sprintf("| %s, %s |%s\n", name, kind, by[name].row()))
		}
	}
	return out
}
