package timeline

import (
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/membership"
)

// The bounds of the decision procedure, each measured on Apache Kafka 4.1.1 with
// four client families (docs/accuracy.md) unless said otherwise.
const (
	// slack is how late a broker's timers and a rejoin may be: sessions fired up to
	// 1.15 s late on a loaded broker.
	slack = 1300 * time.Millisecond
	// recent is how many commit intervals speak for the present pace.
	recent = 8
	// leastCommits is below how many commits silence says nothing.
	leastCommits = 4
	// sureCommits is how many commits "high" asks for.
	sureCommits = 8
	// mergeTicks: commits of several partitions this close are one commit call.
	mergeTicks = 20 * time.Millisecond
	// closeCommit is how soon after its closing commit an auto-committing client leaves.
	closeCommit = time.Second
	// joinNoise is what a join adds to the slowest survivor's poll and heartbeat.
	joinNoise = 500 * time.Millisecond
	// quickRestart is how long a supervisor takes to start a process again (policy).
	quickRestart = 10 * time.Second
	// soonBack is how soon a consumer rejoins whose commit failed inside a batch
	// (measured: within 1.6 s), beyond its cadence and the join of the others.
	soonBack = 3 * time.Second
)

// tick is one commit call: the commits of several partitions at one moment.
type tick struct {
	at       time.Time
	pos      int
	advanced bool
	step     int64 // largest step of one partition; -1 unknown
	total    int64 // sum of the known steps of all partitions
	part     membership.TopicPartition
	whole    bool // one call for several partitions
	thin     bool // commits before it were left out: the interval to it means nothing
}

// cadence is how a member commits.
type cadence struct {
	ticks      []tick
	median     time.Duration // of the recent intervals
	most       time.Duration // longest recent interval, at most twice the median
	longest    time.Duration // longest recent interval
	fastest    time.Duration // tenth part of the recent intervals: what a record takes when records wait
	timer      bool          // regular, and not once per record: an auto-commit timer or as regular as one
	exactTimer bool          // its beat is a whole number of seconds and kept to a hundredth: a setting, not a loop
	jitter     time.Duration // of a timer: largest deviation from its beat
	beat       bool          // the last commit came on the timer's beat
	perRecord  bool          // every recent commit moved by at most one record
	repeats    bool          // commits although nothing moved
	switches   int           // how often recent commits went from one partition to another
	rate       float64       // records a second, recent
	keepsUp    bool          // waits for records between commits, so it polls between them
	alternates bool          // commits one record of one partition, then of another
	stepTime   time.Duration // median time a record took, where each was committed
}

// mostTicks is how many commits of a partition are looked at: those before tell
// nothing of the present pace.
const mostTicks = 512

// firstAfter is the index of the first commit behind a record.
func firstAfter(list []commit, pos int) int {
	i, _ := slices.BinarySearchFunc(list, pos, func(c commit, p int) int {
		if c.pos <= p {
			return -1
		}
		return 1
	})
	return i
}

// countOf is how many commits there are on some partitions, each since a record,
// before a record.
func (t *track) countOf(held map[membership.TopicPartition]int, before int) int {
	n := 0
	for k, from := range held {
		list := t.commits[k]
		n += max(0, firstAfter(list, before-1)-firstAfter(list, from))
	}
	return n
}

// commitsOf are the commits on some partitions, each since a record, before a record.
func (t *track) commitsOf(held map[membership.TopicPartition]int, before int) []tick {
	type one struct {
		commit
		part membership.TopicPartition
		step int64
	}
	var all []one
	for k, from := range held {
		list := t.commits[k]
		hi := firstAfter(list, before-1)
		lo := max(firstAfter(list, from), hi-mostTicks)
		prev := int64(-1)
		if lo > 0 && lo < hi {
			prev = list[lo-1].offset
		}
		for _, c := range list[min(lo, hi):hi] {
			step := int64(-1)
			if prev >= 0 && !c.thin {
				step = c.offset - prev
			}
			all = append(all, one{c, k, step})
			prev = c.offset
		}
	}
	slices.SortFunc(all, func(a, b one) int { return a.pos - b.pos })
	var out []tick
	for _, c := range all {
		if n := len(out); n > 0 && c.at.Sub(out[n-1].at) <= mergeTicks && c.part != out[n-1].part {
			out[n-1].advanced = out[n-1].advanced || c.step > 0
			out[n-1].step = max(out[n-1].step, c.step)
			out[n-1].total += max(0, c.step)
			// The records of one call have one timestamp.
			out[n-1].whole = out[n-1].whole || c.at.Equal(out[n-1].at) && (c.step > 0 || out[n-1].advanced)
			out[n-1].pos = c.pos
			continue
		}
		out = append(out, tick{at: c.at, pos: c.pos, advanced: c.step != 0, step: c.step, total: max(0, c.step), part: c.part, thin: c.thin})
	}
	return out
}

// pace reads the cadence out of ticks.
func pace(ticks []tick) cadence {
	c := cadence{ticks: ticks}
	all := intervals(ticks)
	for i := len(ticks) - 1; i > 0; i-- { // the pace after what was left out
		if ticks[i].thin {
			if len(ticks)-i > recent {
				ticks = ticks[i:]
			}
			break
		}
	}
	if len(all) == 0 {
		return c
	}
	last := all[max(0, len(all)-recent):]
	c.median = median(last)
	c.longest = slices.Max(last)
	c.most = min(c.longest, 2*c.median)
	// Of the same commits as the median: a pace that changed says nothing of the new one.
	sorted := slices.Sorted(slices.Values(last))
	c.fastest = sorted[len(sorted)/10]
	near := ticks[max(0, len(ticks)-recent):]
	c.steps(near)
	c.rate = workRate(ticks)
	c.regular(last)
	c.keepsUp = c.fastest*2 <= c.median
	if c.perRecord {
		c.stepTime = median(all[max(0, len(all)-3*recent):])
		c.alternates = c.switches >= recent/2
	}
	return c
}

// polls reports whether a member polls between its commits: it waits for records, or
// it commits records of several partitions in turn, whose client hands out a batch
// partition by partition (librdkafka mixes them).
func (c *cadence) polls(m *membership.Member) bool {
	switch familyOf(m) {
	case inspect.Java, inspect.StreamsLib, inspect.KafkaPython, inspect.AIOKafka, inspect.FranzGo:
		return c.keepsUp || c.alternates
	}
	return c.keepsUp
}

// steps looks at how far the recent commits moved.
func (c *cadence) steps(near []tick) {
	c.perRecord = true
	zero, known := true, 0
	for i, k := range near {
		if k.step > 1 || k.step < -1 {
			c.perRecord = false
		}
		if k.step >= 0 {
			known++
			zero = zero && k.step == 0
		}
		if k.step == 0 {
			c.repeats = true
		}
		if i > 0 && k.part != near[i-1].part {
			c.switches++
		}
	}
	if known == 0 || zero {
		c.perRecord = false
	}
}

// workRate is the pace in records a second of the recent commits, up to the last
// that moved an offset.
func workRate(ticks []tick) float64 {
	end := len(ticks)
	for end > 0 && !ticks[end-1].advanced {
		end--
	}
	near := ticks[max(0, end-recent):end]
	if len(near) < 2 {
		return 0
	}
	var sum int64
	for _, k := range near[1:] {
		sum += max(0, k.total)
	}
	span := near[len(near)-1].at.Sub(near[0].at)
	if span <= 0 {
		return 0
	}
	return float64(sum) / span.Seconds()
}

// regular finds out whether the commits follow a timer, and whether the last one
// came on its beat. One interval may be off: the first after a rebalance is.
func (c *cadence) regular(last []time.Duration) {
	if len(last) < 3 || c.median <= 0 {
		return
	}
	earlier := last[:len(last)-1]
	mid := median(earlier)
	off := 0
	for _, d := range earlier {
		if dev := (d - mid).Abs(); dev > mid/10 {
			off++
		} else {
			c.jitter = max(c.jitter, dev)
		}
	}
	c.timer = (off == 0 || off == 1 && len(earlier) >= 3) && !c.perRecord
	if !c.timer {
		return
	}
	c.exactTimer = mid >= time.Second && c.jitter <= mid/100 && (mid-mid.Round(time.Second)).Abs() <= mid/100
	c.beat = (last[len(last)-1] - mid).Abs() <= mid/40
	c.median = mid
	c.most = max(c.most, mid)
}

// polledSince reports whether commits show a poll at or after a moment. A batch is
// worked record by record, and one partition of it after the other: a call that
// commits several partitions at once speaks for a whole poll, and so does the way
// back to a partition that was left. librdkafka hands out records in the order in
// which they came, so that a batch of its may go to and fro.
func polledSince(ticks []tick, since time.Time, m *membership.Member) bool {
	toAndFro := rank(m.Client.Confidence) > 0 && m.Client.Family.PollInterval() && m.Client.Family != inspect.Librdkafka
	left := map[membership.TopicPartition]bool{}
	var at membership.TopicPartition
	for i, k := range ticks {
		if k.at.Before(since) {
			continue
		}
		if k.whole && k.advanced || toAndFro && left[k.part] {
			return true
		}
		if i > 0 && at != k.part && at != (membership.TopicPartition{}) {
			left[at] = true
		}
		at = k.part
	}
	return false
}

func intervals(ticks []tick) []time.Duration {
	var out []time.Duration
	for i := 1; i < len(ticks); i++ {
		if !ticks[i].thin {
			out = append(out, max(0, ticks[i].at.Sub(ticks[i-1].at)))
		}
	}
	return out
}

func median(in []time.Duration) time.Duration {
	if len(in) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(in))
	return s[len(s)/2]
}

// evidence is what is known of one departure.
type evidence struct {
	cad       cadence
	n         int
	silent    bool // there are commits enough for silence to mean something
	lastAt    time.Time
	advanceAt time.Time
	lo, hi    time.Time // the departure
	how       string    // where the interval comes from
	exact     bool
	bounded   bool      // not exact, but bounded by what was seen and not by an assumption
	sureLo    time.Time // earliest departure without any assumption
	live      bool
	common    time.Duration // of the silence, in which nobody else committed either
	gapLo     time.Duration // from the last commit to the departure
	gapHi     time.Duration
	frozen    int       // trailing commits that moved nothing, while others later moved
	polled    bool      // commits show a poll within the poll interval before it was out: it did not overrun
	waiting   int       // records waited in the silence: 1 yes, 0 not known, -1 no
	moved     bool      // the coordinator moved in between
	compacted bool      // commits may be missing
	aliveAt   time.Time // latest moment at which records show that it took part; zero unknown
	tailed    bool      // the log goes on long enough to have shown a return
	stuck     []string
	idle      []membership.TopicPartition
	pollGap   time.Duration
	tenure    time.Duration
	session   *time.Duration
	assumed   bool // the session timeout is the default, not read
	rebalance *time.Duration
	heartbeat time.Duration
}

// weigh gathers the evidence of a departure.
func (t *track) weigh(d *departure) *evidence {
	e := &evidence{}
	t.timeouts(d, e)
	end := d.Pos
	if d.Member.ServerSide && d.Member.StaticLeftPos > 0 && !d.Member.StaticLeft.IsZero() {
		end = d.Member.StaticLeftPos
	}
	ticks := t.commitsOf(d.Held, end)
	e.cad, e.n = pace(ticks), len(ticks)
	if e.n >= mostTicks {
		e.n = max(e.n, t.countOf(d.Held, end))
	}
	for k := range d.Held {
		e.idle = append(e.idle, k)
	}
	slices.SortFunc(e.idle, membership.Compare)
	e.compacted = len(ticks) > 0 && !membership.Complete(t.in.Logs, t.Records[ticks[len(ticks)-1].pos])
	if len(ticks) > 0 {
		e.lastAt = ticks[len(ticks)-1].at
		e.advanceAt = e.lastAt
		for i := len(ticks) - 1; i >= 0 && !ticks[i].advanced; i-- {
			if i > 0 {
				e.advanceAt = ticks[i-1].at
			}
		}
	}
	e.silent = len(ticks) >= leastCommits && !e.compacted
	t.when(d, e)
	if len(ticks) > 0 {
		e.gapLo, e.gapHi = max(0, e.lo.Sub(e.lastAt)), max(0, e.hi.Sub(e.lastAt))
		if common := t.commonSilence(d, e); common > slack {
			e.common, e.bounded, e.exact = common, false, false
			e.gapLo = max(0, e.gapLo-common)
		}
	}
	e.polled = e.rebalance != nil && polledSince(ticks, e.hi.Add(-*e.rebalance), d.Member)
	t.backlog(d, e)
	e.moved = t.coordinatorMoved(ticks, d) || t.liveMoved(d)
	e.aliveAt = t.tookPart(d)
	e.tailed = t.end.Sub(d.step.EndAt) >= max(orZero(e.rebalance), orZero(e.session))
	if !d.Member.Since.IsZero() {
		e.tenure = max(0, e.hi.Sub(d.Member.Since))
	}
	return e
}

// commonSilence is for how long after the member's last commit none of the others
// committed either, beyond their own pace: the topic was idle then, or the broker
// stood still, and the member's own silence may have begun at any time of that.
func (t *track) commonSilence(d *departure, e *evidence) time.Duration {
	least, known := time.Duration(0), false
	for id, held := range d.step.Surviving {
		if m := d.step.After[id]; m == nil {
			continue
		}
		ticks := t.commitsOf(held, d.step.First)
		n := 0
		for n < len(ticks) && !ticks[n].at.After(e.lastAt) {
			n++
		}
		c := pace(ticks[:n])
		if n <= leastCommits || e.lastAt.Sub(ticks[n-1].at) > c.longest+slack {
			continue // it had not been committing at the time
		}
		next := e.hi
		if n < len(ticks) && ticks[n].at.Before(next) {
			next = ticks[n].at
		}
		if quiet := next.Sub(ticks[n-1].at) - c.longest; !known || quiet < least {
			least, known = quiet, true
		}
	}
	return least
}

func orZero(d *time.Duration) time.Duration {
	if d == nil {
		return 0
	}
	return *d
}

// tookPart is the latest moment at which records show the member at work in the
// group: the end of the last join phase that it was part of (every classic
// rebalance asks a JoinGroup of every member), or its last own record under KIP-848.
func (t *track) tookPart(d *departure) time.Time {
	if d.step.ServerSide {
		if d.Member.StateAt.After(d.Member.Since) {
			return d.Member.StateAt
		}
		return d.Member.Since
	}
	var at time.Time
	for _, s := range t.steps {
		if s == d.step {
			break
		}
		if s.After[d.Member.ID] == nil || s.ServerSide {
			continue
		}
		for _, r := range s.replaced {
			if r.New.ID == d.Member.ID {
				at = s.At
			}
		}
		if len(s.replaced) == 0 && !s.StateTime.IsZero() && s.StateTime.Before(s.EndAt) {
			at = s.StateTime
		}
	}
	return at
}

// tooSoon reports whether the member had taken part so shortly before it went that
// a timeout of this length cannot have ended.
func (e *evidence) tooSoon(timeout time.Duration) bool {
	return !e.aliveAt.IsZero() && e.hi.Sub(e.aliveAt) < timeout-100*time.Millisecond
}

// timeouts notes the member's session and rebalance timeouts and its heartbeat.
func (t *track) timeouts(d *departure, e *evidence) {
	if d.Member.Session != nil {
		s := d.Member.Session.Duration()
		e.session = &s
	} else if d.Member.ServerSide {
		s := defaultServerSession
		e.session, e.assumed = &s, true
	}
	if d.Member.Rebalance != nil {
		r := d.Member.Rebalance.Duration()
		e.rebalance = &r
	}
	switch {
	case d.Member.ServerSide && t.limits.Heartbeat != nil:
		e.heartbeat = t.limits.Heartbeat.Duration()
	case d.Member.ServerSide:
		e.heartbeat = defaultServerHeartbeat
	case e.session != nil:
		e.heartbeat = min(defaultHeartbeat, *e.session/inspect.HeartbeatsPerSession)
	default:
		e.heartbeat = defaultHeartbeat
	}
}

// Defaults that stand in where a timeout is on no record: the broker's
// group.consumer.session.timeout.ms and group.consumer.heartbeat.interval.ms
// (Kafka 3.7 to 4.3), and the clients' heartbeat.interval.ms.
const (
	defaultServerSession   = 45 * time.Second
	defaultServerHeartbeat = 5 * time.Second
	defaultHeartbeat       = 3 * time.Second
)

// when bounds the departure.
func (t *track) when(d *departure, e *evidence) {
	s := d.step
	switch {
	case s.Polled:
		e.lo, e.hi, e.bounded, e.how = s.LastRest, s.At, true, "seen live, between two polls"
	case s.ServerSide && !d.Member.StaticLeft.IsZero():
		e.lo, e.hi, e.exact, e.how = d.Member.StaticLeft, d.Member.StaticLeft, true, "record of its static leave"
	case s.ServerSide:
		at := t.Records[d.Pos].Time.Time
		e.lo, e.hi, e.exact, e.how = at, at, true, "tombstone of the member"
	case s.Empty:
		e.lo, e.hi, e.exact, e.how = s.At, s.At, true, "record of the empty group"
		if s.Skipped > 0 {
			e.exact, e.lo = false, e.lastAt
		}
	default:
		t.boundClassic(d, e)
	}
	t.liveDeparture(d, e)
	if e.lo.Before(e.lastAt) && !e.exact {
		e.lo = e.lastAt
	}
	if e.hi.Before(e.lo) {
		e.hi = e.lo
	}
}

// boundClassic bounds a departure that a GroupMetadata record shows: it came
// before the end of the join phase, by at most what the slowest survivor needs
// to poll again and rejoin.
func (t *track) boundClassic(d *departure, e *evidence) {
	s := d.step
	e.hi = s.StateTime
	if e.hi.IsZero() || e.hi.After(s.At) {
		e.hi = s.At
	}
	if s.Skipped > 0 {
		e.lo, e.how = e.lastAt, "some time before the record: generations are missing"
		return
	}
	gap, sure, how := t.pollGap(s)
	e.pollGap, e.bounded, e.how = gap, sure == gap, how
	e.lo = e.hi.Add(-(gap + e.heartbeat + joinNoise))
	e.sureLo = e.hi.Add(-(sure + e.heartbeat + joinNoise))
}

// pollGap is the longest time that a survivor needed between two polls of late:
// as far as its commits show or else assumed, and surely.
func (t *track) pollGap(s *step) (most, sure time.Duration, how string) {
	how = "the survivors' commits show their polls"
	for _, m := range membership.ByID(s.After) {
		if s.Before[m.ID] == nil {
			continue
		}
		held := s.Surviving[m.ID]
		ticks := t.commitsOf(held, s.First)
		c := pace(ticks)
		gap := c.longest
		if len(ticks) > 0 {
			gap = max(gap, s.StateTime.Sub(ticks[len(ticks)-1].at))
		}
		switch {
		case len(ticks) < leastCommits:
			most, sure = max(most, assumedPoll), max(sure, t.limitOf(m))
			how = "assumed: the survivors poll within 1 s"
		case c.timer && timersPoll(m, c):
			most, sure = max(most, 4*c.jitter), max(sure, 4*c.jitter)
		case c.timer && c.repeats:
			most, sure = max(most, assumedPoll), max(sure, t.limitOf(m))
			how = "assumed: the survivors poll within 1 s"
		case c.timer:
			// An offset that moves from one timer commit to the next was polled for.
			most, sure = max(most, assumedPoll), max(sure, 2*gap)
			how = "assumed: the survivors poll within 1 s"
		case c.perRecord && !c.polls(m) && !t.catchesUp(held, m.ID, s, c):
			most, sure = max(most, gap), max(sure, t.limitOf(m))
			how = "assumed: the survivors poll for every commit"
		default:
			most, sure = max(most, gap), max(sure, gap)
		}
	}
	return most, sure, how
}

// assumedPoll is how quickly a survivor is taken to poll where nothing shows it.
const assumedPoll = time.Second

// limitOf is the longest that a member may take to rejoin: its rebalance timeout.
func (t *track) limitOf(m *membership.Member) time.Duration {
	if m.Rebalance == nil {
		return 24 * time.Hour
	}
	return m.Rebalance.Duration()
}

// timersPoll reports a client whose auto-commit timer is looked at in poll, so
// that the timer's jitter bounds the time between polls (the classic Java consumer).
func timersPoll(m *membership.Member, c cadence) bool {
	return familyOf(m) == inspect.Java && !m.ServerSide && !c.repeats
}

// catchesUp reports whether a survivor, when records waited for it after the
// rebalance, worked them at twice its former pace or more: then it had been
// waiting in poll between its commits before.
func (t *track) catchesUp(held map[membership.TopicPartition]int, id string, s *step, c cadence) bool {
	mine := map[membership.TopicPartition]int{}
	for _, m := range s.After {
		if m.ID != id {
			continue
		}
		for _, k := range m.Assigned {
			mine[k] = s.Pos
		}
	}
	next := len(t.Records)
	if s.index+1 < len(t.steps) {
		next = t.steps[s.index+1].First
	}
	iv := slices.Sorted(slices.Values(intervals(t.commitsOf(mine, next))))
	return len(iv) >= recent && iv[len(iv)/10]*2 <= c.median
}

// backlog finds out whether records waited on the departed member's partitions
// while it was silent, from what the next owner worked off, and whether the
// member had committed the same offsets for a while. An idle partition makes
// silence meaningless.
func (t *track) backlog(d *departure, e *evidence) {
	c := e.cad
	if e.n == 0 {
		return
	}
	due := t.workRateOf(d, e)
	gained, meanwhile, seen := 0.0, 0.0, false
	for _, k := range e.idle {
		list := t.commits[k]
		next := firstAfter(list, d.Pos-1)
		if next == 0 || next == len(list) {
			seen = seen || next < len(list)
			continue
		}
		seen = true
		got, waited := firstWork(list[next:], list[next-1].offset, max(time.Second, c.median), orZero(e.rebalance))
		gained += float64(got)
		meanwhile = max(meanwhile, waited.Seconds())
	}
	silence := max(e.gapLo, e.gapHi/2)
	if e.advanceAt.Before(e.lastAt) {
		silence = max(silence, e.hi.Sub(e.advanceAt))
	}
	switch {
	case !seen:
		e.waiting = 0
	case gained >= max(1, due*(silence.Seconds()/2+meanwhile)):
		e.waiting = 1
	default:
		e.waiting = -1
	}
	for i := len(c.ticks) - 1; i >= 0 && !c.ticks[i].advanced; i-- {
		e.frozen++
	}
	if e.frozen == len(c.ticks) {
		e.frozen = 0
	}
	t.findStuck(d, e)
}

// firstWork is how many records the next owner of a partition had done within a span
// of its first commit, and how long it took to begin: it commits the offset at which
// it takes over, again and again, until its first records arrive.
func firstWork(list []commit, from int64, span, limit time.Duration) (records int64, waited time.Duration) {
	begin := 0
	for begin < len(list)-1 && list[begin].offset == from && list[begin+1].at.Sub(list[0].at) <= limit {
		begin++
	}
	if waited = list[begin].at.Sub(list[0].at); waited <= span {
		begin, waited = 0, 0
	}
	for _, cm := range list[begin:] {
		if cm.at.Sub(list[begin].at) > span {
			break
		}
		records = max(0, cm.offset-from)
	}
	return records, waited
}

// workRateOf is the member's pace in records a second before it fell silent: of each
// partition by its own recent commits, since one that is committed rarely moves far
// at a time.
func (t *track) workRateOf(d *departure, e *evidence) float64 {
	sum := 0.0
	for _, k := range e.idle {
		var own []commit
		for _, cm := range t.ownCommits(d, k) {
			if !cm.at.After(e.advanceAt) {
				own = append(own, cm)
			}
		}
		own = own[max(0, len(own)-recent):]
		if len(own) < 2 {
			continue
		}
		if span := own[len(own)-1].at.Sub(own[0].at); span > 0 {
			sum += float64(max(0, own[len(own)-1].offset-own[0].offset)) / span.Seconds()
		}
	}
	return sum
}

// ownCommits are the departed member's own commits on one partition, the last
// mostTicks of them.
func (t *track) ownCommits(d *departure, k membership.TopicPartition) []commit {
	list := t.commits[k]
	hi := firstAfter(list, d.Pos-1)
	lo := max(firstAfter(list, d.Held[k]), hi-mostTicks)
	return list[min(lo, hi):hi]
}

// findStuck names partitions whose committed offset did not move while their
// neighbours' did, or while it was committed again and again.
func (t *track) findStuck(d *departure, e *evidence) {
	for _, k := range e.idle {
		var offsets []int64
		for _, cm := range t.ownCommits(d, k) {
			offsets = append(offsets, cm.offset)
		}
		if len(offsets) >= 2 && offsets[0] == offsets[len(offsets)-1] && t.hasWork(k, e) {
			e.stuck = append(e.stuck, stuckText(k, offsets[0]))
		}
	}
}

// hasWork reports whether a partition whose offset stands still has records: its
// lag says so, or else its neighbours went on, or its next owner did.
func (t *track) hasWork(k membership.TopicPartition, e *evidence) bool {
	if o := t.liveOffset(k); o != nil && o.Lag != nil {
		return *o.Lag > 0
	}
	if e.waiting == 1 {
		return true
	}
	for _, c := range e.cad.ticks {
		if c.step > 0 {
			return true
		}
	}
	return false
}

// coordinatorMoved reports whether the leader epoch of the offsets partition
// changed between the member's recent commits and the record of its departure:
// sessions start again when the new coordinator has loaded the group, so every
// gap is void.
func (t *track) coordinatorMoved(ticks []tick, d *departure) bool {
	from := 0
	if n := len(ticks); n > 0 {
		from = ticks[max(0, n-2)].pos
	} else {
		from = max(0, d.Pos-1)
	}
	return t.leaderChanged(from, d.Pos)
}

// leaderChanged reports whether the leader epoch of the offsets partition changed from
// one record to another, both included.
func (t *track) leaderChanged(from, to int) bool {
	epoch := int32(-1)
	for i := from; i <= to && i < len(t.Records); i++ {
		le := t.Records[i].LeaderEpoch
		if le < 0 {
			continue
		}
		if epoch >= 0 && le != epoch {
			return true
		}
		epoch = le
	}
	return false
}
