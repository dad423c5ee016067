package watch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/assume"
	"github.com/kgdiag/kgdiag/inspect/collect"
	"github.com/kgdiag/kgdiag/inspect/membership"
	"github.com/kgdiag/kgdiag/inspect/offsetlog"
	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/locate"
)

const (
	// NamedAtMost is how many named groups are described at the quick pace all the time.
	NamedAtMost = 20
	// QuickEvery is the pace of the polls of named groups, and of any group from the
	// first sign of a rebalance on: it catches a departure within 0.3 s.
	QuickEvery = 250 * time.Millisecond
	// SlowEvery is the pace of the polls of all other groups.
	SlowEvery = 2 * time.Second

	// quickFor is how long a group stays at the quick pace after its last sign of
	// unrest.
	quickFor = 10 * time.Second
	// listEvery is how often new groups are looked for, where all are watched.
	listEvery = 10 * time.Second
	// describeAtMost is how many groups are described at the slow pace; of more, only
	// the states are listed, and who is not at rest is described.
	describeAtMost = 500
	// tailRetry is the pause after a tail that failed.
	tailRetry = time.Second
	// mergeFrom is the number of groups from which the same trouble is told once.
	mergeFrom = 4
	// listenEvery is how often log files are looked at for news.
	listenEvery = 2 * time.Second
	// assessEvery is how often members are looked at for silence.
	assessEvery = time.Second
)

// Config says what to watch and with what.
type Config struct {
	Collector *collect.Collector
	// Scanner reads the offsets topic; nil leaves it to the polls.
	Scanner *offsetlog.Scanner
	// LogLater leaves the offsets topic, if it may be read, to who reads it afterwards.
	LogLater bool
	// Configs are clients' configurations, for timeouts that are on no record.
	Configs []inspect.ClientConfig
	// Selection: Groups for named groups, All for every group that matches.
	Selection collect.Selection
	// Since is how far back the log is read for what happened before, so that a
	// departure can be judged by the commits before it; 0 not at all.
	Since time.Duration
	// Forget drops what is older than verdicts need of groups that never come to rest.
	// Without it Case and Look hold all that was seen.
	Forget bool
	// Past tells the rebalances within Since too.
	Past bool
	// Said, if set, gives what clients' and brokers' logs say, all of it, and whether
	// that is more than the last time. It is asked now and then, by Run's goroutine.
	Said func() (events []inspect.LogEvent, news bool)
	// Until ends the watch as soon as it holds; nil never.
	Until *Until
	// Now is kgdiag's clock; time.Now if nil.
	Now func() time.Time
}

// Until is a gate: every named group Stable, with Members members if that is not 0,
// for the time For.
type Until struct {
	For     time.Duration
	Members int
}

// Watcher is one watch. Start, then Run.
type Watcher struct {
	cfg    Config
	differ *Differ

	info   Info
	named  bool
	hot    map[string]time.Time // groups at the quick pace, until when
	groups map[string]bool      // all that are watched
	// unlisted are the brokers that do not list their groups, since when; listings counts
	// how often they were asked.
	unlisted map[int32]inspect.Time
	listings int
	came     map[string]bool      // named groups that exist or existed
	seen     map[string]bool      // groups of which a poll was answered
	stable   map[string]time.Time // since when a group fulfils Until
	next     map[int32]int64      // where the tail goes on
	tallies  map[string]*Tally
	quick    *collect.Poller
	slow     *collect.Poller
	degrade  error // why the log was given up

	books       map[string]*book
	astir       map[*book]bool      // those of which a verdict is due now or later
	polled      map[string]bool     // groups that a poll saw of late
	incidents   map[string]incident // by group and record
	logs        []inspect.PartitionLog
	from        inspect.Time
	ends        map[int32]int64 // of the log at the start
	assessed    time.Time
	said        []inspect.LogEvent
	saidAt      time.Time
	wantEnds    chan []inspect.TopicPartitions
	wantMoments chan moments
	refused     []inspect.Gap        // what leaders did not answer
	unread      string               // why the log of the time before the watch is not in the books; "" if it is, or is not asked for
	skewed      map[string]time.Time // what was told of clocks, and when
	wantGroup   chan []string        // groups to take a snapshot of
	looks       chan look
}

// incident is the story that a record belongs to, and when it was told by kgdiag's
// clock, which may not be the brokers'.
type incident struct {
	number int
	told   time.Time
}

// Info is what the first line of a watch says.
type Info struct {
	At       inspect.Time
	Case     *inspect.Case // the groups as they were at the start
	Log      bool          // records are read: generations and timeouts are exact
	LogWhy   string        // why not
	LogNeeds string        // the ACL that would help
	Offsets  bool          // committed offsets are polled instead
	Every    time.Duration // the pace of the polls
	Waiting  []string      // named groups that do not exist
	Nearest  map[string][]string
	Groups   int // groups watched at the start
	// Unlisted are the gaps about brokers that did not list their groups: of those
	// nothing is watched until they do.
	Unlisted []inspect.Gap
}

// Tally counts what happened to one group.
type Tally struct {
	Rebalances int
	Evictions  int
	Members    int // at the end; -1 unknown
	State      string
}

// New makes a watch; nothing is sent yet.
func New(cfg Config) *Watcher {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Watcher{cfg: cfg, unlisted: map[int32]inspect.Time{}, hot: map[string]time.Time{}, groups: map[string]bool{}, came: map[string]bool{}, seen: map[string]bool{},
		stable: map[string]time.Time{}, tallies: map[string]*Tally{}, books: map[string]*book{}, astir: map[*book]bool{}, polled: map[string]bool{}, incidents: map[string]incident{},
		wantEnds: make(chan []inspect.TopicPartitions, 1), wantGroup: make(chan []string, 1), wantMoments: make(chan moments, 1), looks: make(chan look),
		named: !cfg.Selection.All && len(cfg.Selection.Groups) > 0}
}

// Start takes a snapshot and finds out whether the log can be read. The ends of the
// log are noted before the snapshot is taken, so that nothing falls between the two.
// The error is one that leaves nothing to watch: no broker answered.
func (w *Watcher) Start(ctx context.Context) (*Info, error) {
	m, err := w.cfg.Collector.Metadata(ctx)
	if err != nil {
		return nil, err
	}
	w.findLog(ctx, m)
	switch {
	case w.info.Log && w.cfg.LogLater:
		w.info.Log, w.info.LogWhy = false, "the offsets topic is read afterwards"
	case !w.info.Log:
		w.info.Offsets = w.few()
	}
	kase, err := w.cfg.Collector.CollectFrom(ctx, m, w.cfg.Selection, collect.Want{Log: w.info.Log, Limits: true})
	if kase == nil {
		return nil, err
	}
	if w.info.Log && errors.Is(m.OffsetsErr, collect.ErrElsewhere) {
		w.noLog(m.OffsetsErr)
		w.info.Offsets = w.few()
	}
	w.info.Case, w.info.At, w.info.Unlisted = kase, inspect.At(w.cfg.Now()), inspect.Unlisted(kase.Gaps)
	var missing *collect.NotFoundError
	if errors.As(err, &missing) {
		w.info.Waiting, w.info.Nearest = missing.Groups, missing.Nearest
	}
	w.differ = NewDiffer(Options{Log: w.info.Log})
	for i := range kase.Groups {
		g := &kase.Groups[i]
		w.watch(g.ID)
		if !slices.Contains(w.info.Waiting, g.ID) {
			w.differ.Seed(g)
			w.came[g.ID] = true
			w.books[g.ID].snapshot = g
		}
	}
	for _, id := range w.cfg.Selection.Groups {
		w.watch(id)
	}
	w.info.Groups, w.info.Every = len(w.groups), SlowEvery
	if w.few() {
		w.info.Every = QuickEvery
	}
	return &w.info, nil
}

// few reports whether all groups are polled at the quick pace.
func (w *Watcher) few() bool { return w.named && len(w.cfg.Selection.Groups) <= NamedAtMost }

// watch adds a group.
func (w *Watcher) watch(id string) {
	if !w.groups[id] {
		w.groups[id] = true
		w.tallies[id] = &Tally{Members: -1}
		w.books[id] = newBook(id, w.astir)
	}
}

// findLog finds the ends of the partitions to tail and tries to read the topic.
func (w *Watcher) findLog(ctx context.Context, m *collect.Metadata) {
	switch {
	case w.cfg.Scanner == nil:
		w.info.LogWhy = "the offsets topic is not read"
		return
	case errors.Is(m.OffsetsErr, collect.ErrNoOffsetsTopic):
		w.info.Log, w.next = true, nil // the tail waits for the topic, from its beginning
		return
	case m.OffsetsErr != nil:
		w.noLog(m.OffsetsErr)
		return
	}
	partitions := w.partitions(m)
	edges, err := w.cfg.Scanner.Edges(ctx, partitions)
	if len(edges) == 0 && err != nil {
		w.noLog(err)
		return
	}
	// Listing offsets needs DESCRIBE only: one record tells whether READ is allowed.
	probe := offsetlog.Request{Partitions: partitions[:1], From: offsetlog.Last(1), Filter: offsetlog.Filter{Groups: map[string]bool{}}}
	for p := range edges {
		probe.Partitions[0] = p
		if edges[p].End > edges[p].Start {
			break
		}
	}
	_, err = w.cfg.Scanner.Scan(ctx, probe, func(inspect.Record) error { return nil })
	if errors.Is(err, kerr.TopicAuthorizationFailed) {
		w.noLog(err)
		return
	}
	w.info.Log, w.next, w.ends = true, map[int32]int64{}, map[int32]int64{}
	for _, p := range w.partitions(m) {
		w.next[p] = -1
		if e, ok := edges[p]; ok {
			w.next[p], w.ends[p] = e.End, e.End
		}
	}
}

// noLog notes why the log is not read.
func (w *Watcher) noLog(err error) {
	w.info.Log, w.info.LogWhy = false, err.Error()
	if errors.Is(err, kerr.TopicAuthorizationFailed) {
		w.info.LogWhy, w.info.LogNeeds = "READ on "+locate.OffsetsTopic+" denied", "READ on Topic "+locate.OffsetsTopic
	}
}

// partitions are the offsets partitions of the named groups, or all of n.
func (w *Watcher) partitions(m *collect.Metadata) []int32 {
	var out []int32
	n := m.OffsetsPartitions()
	if !w.named {
		for p := range n {
			out = append(out, p)
		}
		return out
	}
	for _, id := range w.cfg.Selection.Groups {
		if p, err := locate.PartitionIn(m.ClusterID, id, n); err == nil && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

// Result is how a watch ended.
type Result struct {
	Stable bool // Until holds
	// NeverCame are named groups that did not exist at any time.
	NeverCame []string
	// Blind are named groups of which neither the log nor a single poll told anything.
	Blind []string
	// Unlisted says of each broker that at the end did not list its groups why not, where
	// all groups are watched.
	Unlisted []string
	Tallies  map[string]Tally
	// NotYet says of each group of Until what it lacks.
	NotYet map[string]string
}

// input is what the goroutines of a Run hand to its loop.
type input struct {
	records   []inspect.Record // of the log's tail, those of each partition in order
	polled    []inspect.Observation
	every     time.Duration
	committed []collect.Committed
	lost      *offsetlog.Trouble
	logGone   error
	listed    []string        // all groups there are
	unlisted  map[int32]error // brokers that did not say which groups they have
	prefix    *prefix         // what the log held before
	ends      map[string]map[int32]int64
	moments   *moments        // where partitions were when members went
	newcomer  []inspect.Group // snapshots of groups that came in the course of the watch
	restless  []string        // groups that a listing shows not at rest
}

// Run watches until ctx ends or Until holds, and hands each event to emit, which one
// goroutine calls, in order. The error is emit's; the end of ctx is none.
func (w *Watcher) Run(ctx context.Context, emit func(Event) error) (*Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	in := make(chan input, 64)
	done := w.feed(ctx, in)
	defer func() {
		cancel()
		for range in { // let the feeders end
		}
	}()
	go func() { done(); close(in) }()
	for _, id := range w.info.Waiting {
		e := Event{Type: GroupWaiting, Group: id, Time: w.info.At, Source: FromPoll, Nearest: w.info.Nearest[id]}
		if err := w.tell(w.differ.stamp(e), emit); err != nil {
			return nil, err
		}
	}
	tick := time.NewTicker(QuickEvery)
	defer tick.Stop()
	for {
		var events []Event
		select {
		case <-ctx.Done():
			return w.result(false), nil
		case i := <-in:
			events = w.take(i)
		case <-tick.C:
			events = w.tick()
		case l := <-w.looks:
			l.answer <- w.caseOf(l.groups)
		}
		if err := w.tell(events, emit); err != nil {
			return nil, err
		}
		if w.cfg.Until != nil && w.holds() {
			return w.result(true), nil
		}
	}
}

// tick does what is due by the clock.
func (w *Watcher) tick() []Event {
	now := w.cfg.Now()
	events := w.differ.Tick(inspect.At(now))
	w.pace()
	w.listen(now)
	for b := range w.astir {
		if b.due(now) {
			events = append(events, w.judge(b, now)...)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(w.differ.left)) {
		if b := w.books[id]; b != nil {
			events = append(events, w.draft(b, now)...)
		}
	}
	if now.Sub(w.assessed) >= assessEvery {
		w.assessed = now
		for _, b := range w.books {
			w.forget(b, now)
		}
		events = append(events, w.heedClocks(now)...)
		events = append(events, w.assess(now)...)
		w.meet(now)
	}
	return events
}

// meet asks for a snapshot of groups that came in the course of the watch: the
// timeouts of KIP-848 groups are on no record.
func (w *Watcher) meet(now time.Time) {
	var ids []string
	for id := range w.came {
		if b := w.books[id]; b != nil && b.snapshot == nil && now.Sub(b.asked) >= listEvery && len(ids) < NamedAtMost {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return
	}
	select {
	case w.wantGroup <- ids:
		for _, id := range ids {
			w.books[id].asked = now
		}
	default: // the last question is still under way
	}
}

// listen asks for what log files say; news may state what was inferred.
func (w *Watcher) listen(now time.Time) {
	if w.cfg.Said == nil || now.Sub(w.saidAt) < listenEvery {
		return
	}
	w.saidAt = now
	events, news := w.cfg.Said()
	if !news {
		return
	}
	w.said = events
	for _, b := range w.books {
		b.stir(now)
	}
}

// assess looks for silent members, and asks for the ends of their logs.
func (w *Watcher) assess(now time.Time) []Event {
	if !w.info.Log && !w.info.Offsets || w.degrade != nil {
		return nil // without commits nobody can be told to be silent
	}
	var events []Event
	var want []inspect.TopicPartitions
	for id := range w.polled {
		if !w.differ.group(id).described(now) {
			delete(w.polled, id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(w.polled)) {
		risks, g := w.books[id].risks, w.differ.group(id)
		if w.info.Offsets {
			risks.assumed = func(m *membership.Member) assume.Value {
				return assume.PollInterval(assume.Member{Group: id, ClientID: m.ClientID, Family: m.Client.Family, ServerSide: m.ServerSide}, w.cfg.Configs)
			}
		}
		got, ask := risks.assess(g, now)
		for _, e := range got {
			if w.info.Offsets {
				e.Source = FromPoll
			}
			e.Time = inspect.At(e.Time.Add(g.skew))
			if !e.OutAt.IsZero() {
				e.OutAt = inspect.At(e.OutAt.Add(g.skew))
			}
			events = append(events, w.differ.stamp(e)...)
			w.warm(id, now)
		}
		want = append(want, ask...)
	}
	if len(want) > 0 {
		select {
		case w.wantEnds <- want:
		default: // the last question is still under way
		}
	}
	return events
}

// takeMoments puts what leaders answered into the book of the group that was asked about.
func (w *Watcher) takeMoments(m *moments) {
	b := w.books[m.group]
	if b == nil {
		return
	}
	b.answered(m.answers)
	for _, gap := range m.gaps {
		if !slices.Contains(w.refused, gap) {
			w.refused = append(w.refused, gap)
		}
	}
}

// takeNewcomers puts snapshots into the books of groups that came in the course of the watch.
func (w *Watcher) takeNewcomers(groups []inspect.Group, now time.Time) {
	for k := range groups {
		b := w.books[groups[k].ID]
		if b == nil {
			continue
		}
		b.snapshot = &groups[k]
		w.differ.group(b.id).read.Describe(b.snapshot)
		b.stir(now)
	}
}

// take works one input into the differ.
func (w *Watcher) take(i input) []Event {
	now := w.cfg.Now()
	switch {
	case i.records != nil:
		var events []Event
		for k := range i.records {
			events = append(events, w.takeRecord(&i.records[k], now)...)
		}
		return events
	case i.ends != nil:
		for id, b := range w.books {
			b.risks.ends(w.differ.group(id), i.ends)
		}
		return nil
	case i.moments != nil:
		w.takeMoments(i.moments)
		return nil
	case i.newcomer != nil:
		w.takeNewcomers(i.newcomer, now)
		return nil
	case i.prefix != nil:
		return w.takePrefix(i.prefix, now)
	case i.lost != nil:
		t := i.lost
		why := fmt.Sprintf("%s-%d: %d offsets from %d on could not be read: %v", locate.OffsetsTopic, t.Partition, t.Lost, t.Offset, t.Err)
		if t.Next < t.Offset {
			w.differ.Truncated(t.Partition, t.Next)
			why = fmt.Sprintf("%s-%d: an unclean election took %d offsets back", locate.OffsetsTopic, t.Partition, t.Lost)
		}
		return w.differ.stamp(Event{Type: SourceLost, Time: inspect.At(now), Source: FromLog, Why: why})
	case i.logGone != nil:
		w.differ.Degrade()
		w.degrade = i.logGone
		return w.differ.stamp(Event{Type: SourceLost, Time: inspect.At(now), Source: FromLog,
			Why: i.logGone.Error() + ": from here on the generation is a lower bound"})
	case i.polled != nil:
		return w.takePolls(i, now)
	case i.committed != nil:
		w.takeCommitted(i.committed, now)
		return nil
	}
	for _, id := range i.listed {
		w.watch(id)
	}
	for _, id := range i.restless {
		w.watch(id)
		w.warm(id, now)
	}
	if i.unlisted == nil {
		return nil
	}
	w.slow.Set(w.slowGroups()...)
	return w.takeUnlisted(i.unlisted, now)
}

// takeRecord works one record of the log's tail in.
func (w *Watcher) takeRecord(r *inspect.Record, now time.Time) []Event {
	if !w.mine(r.Group) {
		return nil
	}
	w.watch(r.Group)
	b := w.books[r.Group]
	b.add(r)
	b.risks.commit(r, now)
	if !commits(r) {
		own := *r // it is kept, and what came with it is not
		r = &own
		w.warm(r.Group, now)
		b.stir(now)
	}
	return w.differ.Record(r, inspect.At(now))
}

// takeUnlisted tells of brokers that no longer list their groups, or do so again.
func (w *Watcher) takeUnlisted(failed map[int32]error, now time.Time) []Event {
	var out []Event
	for _, id := range slices.Sorted(maps.Keys(failed)) {
		if _, known := w.unlisted[id]; !known {
			w.unlisted[id] = inspect.At(now)
			out = append(out, w.differ.stamp(Event{Type: SourceLost, Time: inspect.At(now), Source: FromPoll, Coordinator: &id,
				Why: fmt.Sprintf("broker %d does not list its groups: %v", id, failed[id])})...)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(w.unlisted)) {
		if _, still := failed[id]; !still {
			out = append(out, w.differ.stamp(Event{Type: SourceBack, Time: inspect.At(now), Source: FromPoll, Coordinator: &id, Silent: ms(now.Sub(w.unlisted[id].Time))})...)
			delete(w.unlisted, id)
		}
	}
	w.listings++
	return out
}

// takePolls works the observations of one round in.
func (w *Watcher) takePolls(i input, now time.Time) []Event {
	var events []Event
	for k := range i.polled {
		o := &i.polled[k]
		if w.info.Offsets {
			w.sawMembers(o)
		}
		got := w.differ.Observe(o, i.every)
		if o.Error == "" && membership.Rebalancing(o.State) || len(got) > 0 {
			w.warm(o.Group, now)
		}
		if o.Error == "" && o.State != stateDead {
			w.came[o.Group] = true
			w.tallies[o.Group].State, w.tallies[o.Group].Members = o.State, len(o.Members)
		}
		if o.Error == "" {
			w.seen[o.Group], w.polled[o.Group] = true, true
		}
		w.gate(o)
		events = append(events, got...)
	}
	return merge(events)
}

// mine reports whether a record's group is watched: a record does not tell the state
// of a group or, sometimes, its type, so where these choose, only listed groups are.
func (w *Watcher) mine(id string) bool {
	if w.named || w.narrowed() {
		return w.groups[id]
	}
	return w.cfg.Selection.Match == nil || w.cfg.Selection.Match.MatchString(id)
}

// narrowed reports whether state or type choose the groups.
func (w *Watcher) narrowed() bool {
	return len(w.cfg.Selection.States)+len(w.cfg.Selection.Types) > 0
}

// warm puts a group to the quick pace.
func (w *Watcher) warm(id string, now time.Time) {
	if !w.few() {
		w.hot[id] = now.Add(quickFor)
	}
}

// pace tells the quick poller which groups are its own.
func (w *Watcher) pace() {
	if w.few() || w.quick == nil {
		return
	}
	now := w.cfg.Now()
	hot := make([]string, 0, len(w.hot))
	for id, until := range w.hot {
		if now.After(until) {
			delete(w.hot, id)
			continue
		}
		hot = append(hot, id)
	}
	slices.Sort(hot)
	w.quick.Set(hot...)
}

// slowGroups are the groups of the slow poller.
func (w *Watcher) slowGroups() []string {
	if w.few() || (len(w.groups) > describeAtMost && w.info.Log && w.degrade == nil) {
		return nil
	}
	out := make([]string, 0, len(w.groups))
	for id := range w.groups {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

// gate keeps the time since which a group fulfils Until.
func (w *Watcher) gate(o *inspect.Observation) {
	u := w.cfg.Until
	if u == nil {
		return
	}
	ok := o.Error == "" && o.State == "Stable" && len(o.Members) > 0 && (u.Members == 0 || len(o.Members) == u.Members)
	switch since, had := w.stable[o.Group]; {
	case !ok:
		delete(w.stable, o.Group)
	case !had || since.IsZero():
		w.stable[o.Group] = o.To.Time
	}
}

// holds reports whether Until is fulfilled.
func (w *Watcher) holds() bool {
	now := w.cfg.Now()
	for id := range w.groups {
		since, ok := w.stable[id]
		if !ok || now.Sub(since) < w.cfg.Until.For {
			return false
		}
	}
	return len(w.groups) > 0
}

// tell counts and hands on.
func (w *Watcher) tell(events []Event, emit func(Event) error) error {
	for _, e := range events {
		if t := w.tallies[e.Group]; t != nil && e.CountsAsRebalance() {
			t.Rebalances++
		}
		switch e.Type {
		case GroupAppeared:
			w.came[e.Group] = true
		case RebalanceDone, MemberReplaced:
			if e.Past {
				break
			}
			w.came[e.Group] = true
			w.incidents[e.Group+"\x00"+e.Record] = incident{e.Incident, w.cfg.Now()}
			w.books[e.Group].changed(w.cfg.Now(), w.differ.group(e.Group).longest())
			if e.Type == RebalanceDone {
				delete(w.stable, e.Group) // also one that no poll has seen
			}
		}
		if err := emit(e); err != nil {
			return err
		}
	}
	return nil
}

// result sums up.
func (w *Watcher) result(stable bool) *Result {
	r := &Result{Stable: stable, Tallies: map[string]Tally{}, NotYet: map[string]string{}}
	for _, id := range slices.Sorted(maps.Keys(w.unlisted)) {
		r.Unlisted = append(r.Unlisted, fmt.Sprintf("groups coordinated by broker %d", id))
	}
	if w.listings == 0 {
		for _, g := range w.info.Unlisted {
			r.Unlisted = append(r.Unlisted, g.What)
		}
	}
	for id, t := range w.tallies {
		r.Tallies[id] = *t
	}
	for _, id := range w.cfg.Selection.Groups {
		if w.named && !w.came[id] {
			r.NeverCame = append(r.NeverCame, id)
		}
		if w.named && !w.seen[id] && !w.info.Log {
			r.Blind = append(r.Blind, id)
		}
	}
	if u := w.cfg.Until; u != nil && !stable {
		for id := range w.groups {
			t := w.tallies[id]
			since, ok := w.stable[id]
			switch {
			case !w.came[id]:
				r.NotYet[id] = "does not exist"
			case ok && w.cfg.Now().Sub(since) < u.For:
				r.NotYet[id] = "Stable with " + strconv.Itoa(t.Members) + " members for " + prose.Span(w.cfg.Now().Sub(since))
			case !ok:
				r.NotYet[id] = t.State + " with " + strconv.Itoa(t.Members) + " members"
			}
		}
	}
	return r
}

// merge tells once what befell many groups at the same time, as the death of a
// coordinator does.
func merge(events []Event) []Event {
	type key struct {
		t        Kind
		from, to int32
	}
	keyOf := func(e *Event) (key, bool) {
		switch e.Type {
		case CoordinatorMoved, SourceLost, SourceBack:
			k := key{e.Type, -1, -1}
			if e.PreviousCoordinator != nil {
				k.from = *e.PreviousCoordinator
			}
			if e.Coordinator != nil {
				k.to = *e.Coordinator
			}
			return k, true
		}
		return key{}, false
	}
	count := map[key][]string{}
	for i := range events {
		if k, ok := keyOf(&events[i]); ok {
			count[k] = append(count[k], events[i].Group)
		}
	}
	var out []Event
	for i := range events {
		e := events[i]
		k, ok := keyOf(&e)
		if groups := count[k]; ok && len(groups) >= mergeFrom {
			if e.Group != groups[0] {
				continue
			}
			e.Group, e.Groups = "", groups
		}
		out = append(out, e)
	}
	return out
}
