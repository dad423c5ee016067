//go:build realkafka

package realtest

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/offsetlog"
)

// labelled is a line of the file of departures: what was done to a group, what its
// coordinator said of it, and the records that it wrote. inspect/judge scores
// itself on such files, and its tests describe the fields.
type labelled struct {
	Group       string           `json:"group"`
	Broker      string           `json:"broker,omitempty"`           // version
	Victim      string           `json:"victim_client_id,omitempty"` // where it is not "victim"
	Fault       string           `json:"fault"`
	Variant     string           `json:"variant"`
	Client      string           `json:"client"`
	Protocol    string           `json:"protocol"`
	Assignor    *string          `json:"assignor"`
	Static      bool             `json:"static"`
	IdleTopic   bool             `json:"idle_topic"`
	Blocks      bool             `json:"blocks_event_loop"`
	Commit      string           `json:"commit"`
	PeerSeconds int              `json:"peer_seconds_per_poll,omitempty"`
	SessionMS   int              `json:"session_ms"`
	HeartbeatMS int              `json:"heartbeat_ms,omitempty"`
	PollMS      int              `json:"poll_interval_ms"`
	Members     int              `json:"members"`
	Partitions  int32            `json:"partitions"`
	Rate        int              `json:"records_per_second"`
	HoldMS      int64            `json:"hold_ms,omitempty"`
	Unreachable string           `json:"unreachable,omitempty"`
	Note        string           `json:"note,omitempty"`
	Truth       inspect.Cause    `json:"truth"`
	Returned    inspect.Returned `json:"returned"`
	FaultAt     int64            `json:"fault_at_ms"`
	ClosedAt    *int64           `json:"closed_at_ms,omitempty"` // SIGTERM, where it is not the fault itself
	Departures  []departure      `json:"departures"`
	RestartedAt *int64           `json:"restarted_at_ms"`
	ResumedAt   *int64           `json:"resumed_at_ms"`
	Records     []map[string]any `json:"records"`

	// What the log of the group does not tell.
	Observations []inspect.Observation `json:"observations,omitempty"` // what polls every 250 ms saw
	OffsetsAt    []inspect.OffsetAt    `json:"offsets_at,omitempty"`   // at the departures, and at the last commits before
	Appended     []appended            `json:"appended,omitempty"`

	before time.Duration // for how long before the fault commits are kept
	extra  time.Duration // of the recording, beyond what the timeouts ask for
}

// appended are the timestamps of a partition's records, by which every ListOffsets
// can be answered: the first one, and the milliseconds from each to the next.
type appended struct {
	Partition int32   `json:"p"`
	Offset    int64   `json:"offset"`
	At        int64   `json:"at_ms"`
	Then      []int64 `json:"then"`
}

// departure is what the coordinator's log says of one member that went.
type departure struct {
	At     int64  `json:"at_ms"`
	Kind   string `json:"kind"` // expired, left, fenced, removed
	Member string `json:"member"`
	Reason string `json:"reason"`
}

// Where the departures go, and how many of which plan.
const (
	recordInto  = "KGDIAG_RECORD_DEPARTURES"
	recordSeed  = "KGDIAG_RECORD_SEED"
	recordCount = "KGDIAG_RECORD_COUNT"
	recordScale = "KGDIAG_RECORD_CLOCKS"
	recordJVMs  = "KGDIAG_RECORD_JVM_GROUPS"
)

// recordedAfter is for how long a group is recorded after a fault, beyond its timeouts.
const recordedAfter = 25 * time.Second

// recordedBefore is for how long commits are kept beyond the time in which the group was
// at rest; quiet, for how long nobody may have gone by himself.
const (
	recordedBefore = 4 * time.Second
	quiet          = 35 * time.Second
)

// TestRecordDepartures makes the files of labelled departures on which
// inspect/judge is scored (scripts/record-departures). The truth is what was done,
// confirmed by the coordinator's log; kgdiag is not asked.
func TestRecordDepartures(t *testing.T) {
	file := os.Getenv(recordInto)
	if file == "" {
		t.Skip("records nothing unless " + recordInto + " names a file: see scripts/record-departures")
	}
	seed, n, jvmGroups := environmentInt(t, recordSeed), environmentInt(t, recordCount), environmentInt(t, recordJVMs)
	slots := make(chan struct{}, jvmGroups) // JVMs cost memory, and each other's time
	var mu sync.Mutex
	var done []*labelled
	t.Run("groups", func(t *testing.T) {
		for _, e := range plan(uint64(seed), n, scale(os.Getenv(recordScale)), shared(t).serves("consumer")) {
			t.Run(e.String(), func(t *testing.T) {
				t.Parallel()
				if e.kind.jvm() {
					slots <- struct{}{}
					defer func() { <-slots }()
				}
				if l := e.run(t, seed); l != nil {
					mu.Lock()
					done = append(done, l)
					mu.Unlock()
				}
			})
		}
	})
	c := shared(t)
	records, logs := c.recordsByGroup(), c.coordinatorLog()
	var kept []*labelled
	for _, l := range done {
		l.Records = nil
		for _, r := range records[l.Group] {
			if at := r.Time.UnixMilli(); (r.Commit == nil || at >= l.FaultAt-(l.before+recordedBefore).Milliseconds()) && at <= l.until() {
				l.Records = append(l.Records, raw(r))
			}
		}
		l.measure(records[l.Group])
		if err := l.label(records[l.Group], logs[l.Group]); err != nil {
			t.Logf("%s is left out: %v", l.Group, err)
			continue
		}
		c.ends(l, records[l.Group])
		kept = append(kept, l)
	}
	slices.SortFunc(kept, func(a, b *labelled) int { return cmp.Compare(a.Group, b.Group) })
	writeLabelled(t, file, kept)
	t.Logf("%d of %d groups recorded; faults:\n%s", len(kept), n, strings.Join(sortedFaults(), "\n"))
}

func environmentInt(t *testing.T, name string) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

func (e *experiment) String() string {
	return fmt.Sprintf("%s.%s-%s.%d", e.fault, e.kind, e.protocol, e.number)
}

// until is the last moment that is recorded of a group.
func (l *labelled) until() int64 {
	end := time.Duration(max(l.SessionMS, min(l.PollMS, 40000)))*time.Millisecond + time.Duration(l.HoldMS)*time.Millisecond + recordedAfter + l.extra
	return l.FaultAt + end.Milliseconds()
}

// run does the experiment; nil where its group never came to rest.
func (e *experiment) run(t *testing.T, seed int) *labelled {
	c := shared(t)
	group := fmt.Sprintf("%s.s%d", e, seed)
	topic := fmt.Sprintf("work-%d-%d", seed, e.number)
	c.topic(topic, e.partitions)
	if e.protocol == "consumer" && e.session > 0 {
		c.groupClocks(group, e.session, e.heartbeat)
	}
	if !e.idle {
		c.produce(topic, e.rate)
	}
	var peers []*process
	for i := range e.members - 1 {
		peers = append(peers, e.start(t, c, topic, group, e.peer(i)))
	}
	v := e.start(t, c, topic, group, "victim")
	if err := e.settled(append(slices.Clone(peers), v)); err != nil {
		t.Logf("%s never came to rest: left out: %v", group, err)
		return nil
	}
	if e.slowPeer {
		for _, p := range peers {
			p.say("per-poll 9000")
		}
		wait(t, 15*time.Second) // until it shows in their commits, and the fault comes at any phase
	}
	l := e.labels(group)
	l.Broker = c.version()
	seen := c.poll(group)
	wait(t, 2*time.Second)
	e.inflict(t, c, v, l, topic)
	wait(t, time.Until(time.UnixMilli(l.until()+500)))
	l.Observations = seen()
	l.Appended = c.appended(topic, l.FaultAt-(l.before+3*recordedBefore).Milliseconds())
	return l
}

// start runs a member of the experiment's group.
func (e *experiment) start(t *testing.T, c *cluster, topic, group, id string) *process {
	t.Helper()
	spec := e.spec(topic, group, id)
	if e.kind == streams {
		spec.StateDir = t.TempDir()
	}
	return start(t, c.bootstrap, spec)
}

// labels are the fields that are known before the fault.
func (e *experiment) labels(group string) *labelled {
	l := &labelled{Group: group, Fault: e.fault, Variant: fmt.Sprintf("%s-%s", e.kind, e.commit), Client: string(e.kind), Protocol: e.protocol,
		Static: e.static, IdleTopic: e.idle, Blocks: e.block, Commit: e.committing(), SessionMS: e.sessionMS(), HeartbeatMS: e.heartbeat,
		PollMS: e.pollMS(), Members: e.members, Partitions: e.partitions, Rate: e.rate, HoldMS: e.hold.Milliseconds(), Unreachable: e.unreachable()}
	switch e.kind {
	case librdkafka:
		l.Client = "librdkafka"
	case streams:
		l.Victim = "victim-StreamThread-1-consumer"
	}
	l.before = e.settle
	if e.fault == "batch" { // it begins when the stall has ended
		l.extra = time.Duration(e.pollMS()) * time.Millisecond
	}
	if !e.short {
		l.extra += e.restart
	}
	if e.assignor != "" {
		l.Assignor = &e.assignor
	}
	if e.slowPeer {
		l.PeerSeconds = 9
	}
	if e.idle {
		l.Rate = 0
	}
	if e.protocol == "consumer" && e.heartbeat == 0 {
		l.HeartbeatMS = defaultHeartbeatMS
	}
	return l
}

// settled waits until nothing changed in the group for as long as the experiment
// wants, and every member that can hold a partition has one; the error is why not.
func (e *experiment) settled(all []*process) error {
	limit := time.Now().Add(e.settle + 110*time.Second)
	want := min(len(all), int(e.partitions))
	busy, last := 0, int64(0)
	for time.Now().Before(limit) {
		busy, last = 0, 0
		for _, p := range all {
			select {
			case <-p.done:
				return fmt.Errorf("%s ended: %s", p.name, p.stderr.String())
			default:
			}
			held := 0
			for _, ev := range p.seen() {
				switch ev.Event {
				case "assigned":
					held, last = len(ev.Partitions), max(last, ev.TS)
				case "revoked", "lost":
					last = max(last, ev.TS)
				}
			}
			if held > 0 {
				busy++
			}
		}
		if busy >= want && time.Since(time.UnixMilli(last)) >= e.settle {
			return nil
		}
		time.Sleep(200 * time.Millisecond)
	}
	return fmt.Errorf("%d of %d members have partitions, the last change was %s ago", busy, want, time.Since(time.UnixMilli(last)))
}

// wait is a part of the experiment's course.
func wait(t *testing.T, d time.Duration) {
	select {
	case <-time.After(d):
	case <-t.Context().Done():
	}
}

func now() *int64 { ms := time.Now().UnixMilli(); return &ms }

// inflict does the fault and notes when.
func (e *experiment) inflict(t *testing.T, c *cluster, v *process, l *labelled, topic string) {
	t.Helper()
	again := func() {
		wait(t, e.restart)
		l.RestartedAt = now()
		e.start(t, c, topic, l.Group, "victim")
	}
	stall := "stall"
	if e.block {
		stall = "block"
	}
	l.FaultAt = *now()
	switch e.fault {
	case "over":
		v.say("%s %d", stall, e.hold.Milliseconds())
	case "batch":
		e.batch(v)
	case "kill", "rst", "rstl":
		v.kill()
		if e.restart > 0 {
			again()
		}
	case "stop", "stopl":
		v.pause()
		wait(t, e.hold)
		l.ResumedAt = now()
		v.resume()
	case "term", "trst":
		v.term()
		if e.restart > 0 {
			again()
		}
	case "drain":
		v.say("stall 400000")
		wait(t, e.hold)
		l.ClosedAt = now()
		v.term()
		if e.restart > 0 {
			again()
		}
	}
}

// batch lets records enough arrive for one batch that takes longer than the poll
// interval, and then works them one by one.
func (e *experiment) batch(v *process) {
	share := max(1, int(float64(e.rate)/float64(e.members)*e.hold.Seconds()))
	share = min(share, 100)
	v.say("per-record %d", (e.pollMS()+10000)/share)
	v.say("stall %d", e.hold.Milliseconds())
}

// groupClocks gives a KIP-848 group its session and heartbeat, in milliseconds, which its
// members cannot ask for.
func (c *cluster) groupClocks(group string, session, heartbeat int) {
	c.t.Helper()
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	r := kmsg.NewIncrementalAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeGroupConfig, group
	for key, ms := range map[string]int{"consumer.session.timeout.ms": session, "consumer.heartbeat.interval.ms": heartbeat} {
		k := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		k.Name, k.Value = key, kmsg.StringPtr(strconv.Itoa(ms))
		r.Configs = append(r.Configs, k)
	}
	req.Resources = append(req.Resources, r)
	resp, err := req.RequestWith(c.t.Context(), c.client())
	if err != nil || resp.Resources[0].ErrorCode != 0 {
		c.t.Fatalf("group configuration: %v %v", err, resp)
	}
}

// recordsByGroup reads the whole offsets topic.
func (c *cluster) recordsByGroup() map[string][]inspect.Record {
	c.t.Helper()
	out := make(map[string][]inspect.Record)
	for _, r := range c.offsetsRecords() {
		d, err := offsetlog.Decode(r.Key, r.Value)
		if err != nil {
			continue
		}
		d.Partition, d.Offset, d.LeaderEpoch, d.Time = r.Partition, r.Offset, r.LeaderEpoch, inspect.At(r.Timestamp)
		out[d.Group] = append(out[d.Group], d)
	}
	return out
}

// logLine is a line of the coordinator's log about a member's coming or going.
type logLine struct {
	departure
	joins bool
}

var coordinatorLines = []struct {
	kind string
	re   *regexp.Regexp
	// group, member and reason are submatches; 0 there is none.
	group, member, reason int
}{
	{"left", regexp.MustCompile("\\[Group (\\S+)\\] Member (\\S+) has left group through explicit `LeaveGroup` request; client reason: (.*?)(?: \\(org\\.apache.*)?$"), 1, 2, 3},
	{"expired", regexp.MustCompile(`Member (\S+) in group (\S+) has failed, removing it from the group`), 2, 1, 0},
	{"fenced", regexp.MustCompile(`\[GroupId (\S+)\] Member (\S+) fenced from the group because (.*?)\. \(org`), 1, 2, 3},
	{"left", regexp.MustCompile(`\[GroupId (\S+)\] Member (\S+) left the consumer group`), 1, 2, 0},
	{"left", regexp.MustCompile(`\[GroupId (\S+)\] Static [Mm]ember (\S+) with instance id \S+ temporarily left the consumer group`), 1, 2, 0},
	{"removed", regexp.MustCompile(`Group (\S+) removed dynamic members who haven't joined: .*?([^\s{\[(,]+)[\])}]`), 1, 2, 0},
	{"joins", regexp.MustCompile(`member with id (\S+) joins group (\S+) in \S+ state`), 2, 1, 0},
	{"joins", regexp.MustCompile(`\[GroupId (\S+)\] (?:Static m|M)ember (\S+) .*joins the consumer group`), 1, 2, 0},
}

// coordinatorLog reads the comings and goings out of the brokers' logs.
func (c *cluster) coordinatorLog() map[string][]logLine {
	c.t.Helper()
	files, err := filepath.Glob(filepath.Join(c.home, "node-*", "logs", "server.log"))
	if err != nil || len(files) == 0 {
		c.t.Fatalf("no broker logs in %s", c.home)
	}
	out := make(map[string][]logLine)
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			c.t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			group, l, ok := parseCoordinator(strings.TrimSpace(string(line)))
			if ok {
				out[group] = append(out[group], l)
			}
		}
	}
	return out
}

func parseCoordinator(line string) (group string, l logLine, ok bool) {
	if len(line) < 25 || line[0] != '[' {
		return "", l, false
	}
	at, err := time.ParseInLocation("2006-01-02 15:04:05,000", line[1:24], time.Local)
	if err != nil {
		return "", l, false
	}
	for _, p := range coordinatorLines {
		m := p.re.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		l.At, l.Kind, l.Member = at.UnixMilli(), p.kind, m[p.member]
		if p.reason > 0 {
			l.Reason, _, _ = strings.Cut(m[p.reason], " This means")
		}
		l.joins = p.kind == "joins"
		return m[p.group], l, true
	}
	return "", l, false
}

// label finds the truth: what was done, where the coordinator's log agrees.
func (l *labelled) label(records []inspect.Record, log []logLine) error {
	ids := l.victimIDs(records)
	var gone *departure
	var joined int64 // when the process that was started again joined
	l.Departures = []departure{}
	for _, e := range log {
		if e.At < l.FaultAt-200 || e.At > l.until() {
			if e.At < l.FaultAt && e.At > l.FaultAt-quiet.Milliseconds() && !e.joins {
				return fmt.Errorf("%s went %s before the fault", e.Member, time.Duration(l.FaultAt-e.At)*time.Millisecond)
			}
			continue
		}
		if e.joins {
			if joined == 0 && l.RestartedAt != nil && e.At >= *l.RestartedAt && (ids[e.Member] || strings.HasPrefix(e.Member, "victim")) {
				joined = e.At
			}
			continue
		}
		l.Departures = append(l.Departures, e.departure)
		if ids[e.Member] && gone == nil {
			gone = &l.Departures[len(l.Departures)-1]
		}
	}
	if joined == 0 && l.RestartedAt != nil { // not every version logs a join
		joined = l.seenBack()
	}
	if l.crashed() && gone != nil && gone.At-l.FaultAt > int64(l.SessionMS)+late.Milliseconds() {
		return fmt.Errorf("the coordinator stood still: it put the member out %d ms after the fault", gone.At-l.FaultAt)
	}
	l.Returned = l.cameBack(records, ids, gone)
	if l.Unreachable == "" && !l.worked(records) {
		l.Unreachable = "it held no partitions"
	}
	return l.truth(gone, joined)
}

// late is how much later than a session a coordinator puts a silent member out at most.
const late = 5 * time.Second

// crashed reports whether the fault ends the heartbeats at once.
func (l *labelled) crashed() bool {
	return slices.Contains([]string{"kill", "rst", "rstl", "stop", "stopl"}, l.Fault)
}

// seenBack is when polls first saw a member of the process that was started again; 0 if
// none did.
func (l *labelled) seenBack() int64 {
	old := make(map[string]bool)
	for _, o := range l.Observations {
		for _, m := range o.Members {
			switch at := o.From.UnixMilli(); {
			case m.ClientID != l.victim():
			case at < *l.RestartedAt:
				old[m.MemberID] = true
			case !old[m.MemberID]:
				return at
			}
		}
	}
	return 0
}

// truth is the cause, from what was done and the kind of the departure.
func (l *labelled) truth(gone *departure, joined int64) error {
	if gone == nil {
		if l.Static && l.RestartedAt != nil {
			l.Truth = inspect.RestartedWithinSession
			return nil
		}
		return errors.New("the coordinator's log has no departure of the victim")
	}
	back := joined > 0 && joined < gone.At
	cause, ok := l.cause(gone, back)
	if !ok {
		return fmt.Errorf("done was %s, but the coordinator says %s (%s) after %d ms", l.Fault, gone.Kind, gone.Reason, gone.At-l.FaultAt)
	}
	l.Truth = cause
	return nil
}

// expired reports whether the member's session ended.
func (d *departure) expired() bool {
	return d.Kind == "expired" || d.Kind == "fenced" && strings.Contains(d.Reason, "session expired")
}

// cause is what the fault must have led to, and whether the departure is of that kind;
// back is set if the process that was started again was a member before it.
func (l *labelled) cause(gone *departure, back bool) (inspect.Cause, bool) {
	left, expired := gone.Kind == "left", gone.expired()
	switch l.Fault {
	case "over":
		if l.Blocks || kind(l.Client) == kafkaJS { // whose heartbeats wait for the handler
			return inspect.SessionExpired, expired
		}
		// These stop their heartbeats without a LeaveGroup, and are put out a session later.
		stops := l.Static || l.Client == "librdkafka" && l.Protocol == "consumer" || kind(l.Client) == streams
		return inspect.PollIntervalExceeded, left || expired && stops && l.inTime(gone)
	case "batch":
		return inspect.PollIntervalExceeded, left || expired && l.inTime(gone)
	case "rst":
		return l.crash(back), expired
	case "kill", "rstl", "stop", "stopl":
		return inspect.SessionExpired, expired
	}
	return l.closed(gone, back)
}

// crash is a process that went without a word, and maybe was back within its session.
func (l *labelled) crash(back bool) inspect.Cause {
	if l.Protocol == "classic" && back {
		return inspect.RestartedWithinSession
	}
	return inspect.SessionExpired
}

// closed is cause for a client that closed.
func (l *labelled) closed(gone *departure, back bool) (inspect.Cause, bool) {
	if kind(l.Client) == streams {
		l.Note = "a Streams close sends no LeaveGroup: expired one session later, like a crash"
		return l.crash(back), gone.expired()
	}
	if l.Static && l.Protocol == "classic" {
		l.Note = "a static classic close sends no LeaveGroup: expired one session later, like a crash"
		return inspect.SessionExpired, gone.expired()
	}
	inTime := l.ClosedAt == nil || gone.At >= *l.ClosedAt
	again := l.Static && l.RestartedAt != nil && !slices.ContainsFunc(l.Departures, func(d departure) bool { return d.Member == gone.Member && d.Kind == "fenced" })
	if again { // within the session that it was allowed to be away for
		return inspect.StaticMemberRestarted, gone.Kind == "left" && inTime
	}
	return inspect.MemberLeft, gone.Kind == "left" && inTime
}

// inTime reports whether a session that ended can be the one that an overrun left
// without heartbeats: a coordinator that stood still ends sessions too.
func (l *labelled) inTime(gone *departure) bool {
	return gone.At-l.FaultAt >= int64(l.PollMS+l.SessionMS-l.SessionMS/3)
}

// worked reports whether the victim had partitions before the fault.
func (l *labelled) worked(records []inspect.Record) bool {
	has := false
	for _, r := range records {
		if r.Time.UnixMilli() > l.FaultAt {
			break
		}
		if r.Metadata != nil {
			has = slices.ContainsFunc(r.Metadata.Members, func(m inspect.GroupMember) bool { return m.ClientID == l.victim() && len(m.Assigned) > 0 })
		}
		if r.Current != nil && l.victimIDs(records)[r.Member] {
			has = len(r.Current.Assigned.Active) > 0
		}
	}
	return has
}

// victim is the client id of the member that had the fault.
func (l *labelled) victim() string { return cmp.Or(l.Victim, "victim") }

// measure takes the session timeout from the group's records, where it is on them.
func (l *labelled) measure(records []inspect.Record) {
	for _, r := range records {
		if r.Metadata == nil || r.Time.UnixMilli() > l.FaultAt {
			continue
		}
		for _, m := range r.Metadata.Members {
			if m.ClientID == l.victim() {
				l.SessionMS = int(time.Duration(m.Session) / time.Millisecond)
			}
		}
	}
}

// victimIDs are the ids under which the victim was ever a member.
func (l *labelled) victimIDs(records []inspect.Record) map[string]bool {
	ids := make(map[string]bool)
	for _, r := range records {
		if r.Metadata != nil {
			for _, m := range r.Metadata.Members {
				if m.ClientID == l.victim() {
					ids[m.MemberID] = true
				}
			}
		}
		if r.MemberOf != nil && r.MemberOf.ClientID == l.victim() {
			ids[r.Member] = true
		}
	}
	return ids
}

// cameBack reports whether the victim is a member again after it went, and as what:
// a process that was started again, or the same one.
func (l *labelled) cameBack(records []inspect.Record, ids map[string]bool, gone *departure) inspect.Returned {
	from := l.FaultAt
	old := ""
	if gone != nil {
		from, old = gone.At, gone.Member
	}
	for _, r := range records {
		if at := r.Time.UnixMilli(); at < from-1000 || at > l.until() {
			continue
		}
		back := r.MemberOf != nil && ids[r.Member] && (r.Member != old || r.Time.UnixMilli() > from)
		if r.Metadata != nil {
			back = slices.ContainsFunc(r.Metadata.Members, func(m inspect.GroupMember) bool { return ids[m.MemberID] && m.MemberID != old })
		}
		if back && l.RestartedAt != nil {
			return inspect.ReturnedNewProcess
		}
		if back {
			return inspect.ReturnedSameProcess
		}
	}
	if l.Protocol == "consumer" && l.RestartedAt != nil && l.joinedEarly(records, ids, old) {
		return inspect.ReturnedNewProcess
	}
	return inspect.ReturnedNo
}

// joinedEarly: the new process of a KIP-848 member joins while the old one counts.
func (l *labelled) joinedEarly(records []inspect.Record, ids map[string]bool, old string) bool {
	return slices.ContainsFunc(records, func(r inspect.Record) bool {
		return r.MemberOf != nil && ids[r.Member] && r.Member != old && r.Time.UnixMilli() >= *l.RestartedAt
	})
}

// raw is a record as the file holds it: one object with short names.
func raw(r inspect.Record) map[string]any {
	m := map[string]any{"t": r.Type, "ts": r.Time.UnixMilli(), "p": r.Partition, "o": r.Offset}
	if r.Member != "" {
		m["m"] = r.Member
	}
	if r.Tombstone {
		m["tomb"] = true
		return m
	}
	m["v"] = r.Version
	switch {
	case r.Commit != nil:
		m["tp"], m["off"], m["le"], m["md"], m["cts"] = fmt.Sprintf("%s-%d", r.Topic, r.TopicPartition), r.Commit.Offset, r.Commit.LeaderEpoch, r.Commit.Metadata, r.Commit.Time.UnixMilli()
	case r.Metadata != nil:
		rawGroup(m, r.Metadata)
	case r.Epoch != nil:
		m["ep"] = r.Epoch.Epoch
	case r.MemberOf != nil:
		mo := r.MemberOf
		m["inst"], m["rack"], m["cid"], m["host"], m["sub"], m["rx"], m["rt"] = mo.InstanceID, mo.Rack, mo.ClientID, "/"+mo.Host, mo.Topics, mo.Regex, mo.Rebalance
	case r.Target != nil:
		m["aep"] = r.Target.Epoch
	case r.TargetFor != nil:
		m["tp"] = numbers(r.TargetFor.Active)
	case r.Current != nil:
		c := r.Current
		m["ep"], m["pep"], m["state"], m["asg"], m["rev"] = c.Epoch, c.PreviousEpoch, c.State, numbers(c.Assigned.Active), numbers(c.Revoking.Active)
	}
	return m
}

func rawGroup(m map[string]any, g *inspect.GroupMetadata) {
	m["pt"], m["gen"], m["proto"], m["leader"], m["cst"] = g.ProtocolType, g.Generation, g.Protocol, g.Leader, g.StateTime.UnixMilli()
	members := []map[string]any{}
	for _, gm := range g.Members {
		asg := []string{}
		for _, a := range gm.Assigned {
			for _, p := range a.Partitions {
				asg = append(asg, fmt.Sprintf("%s-%d", a.Topic, p))
			}
		}
		members = append(members, map[string]any{"id": gm.MemberID, "inst": gm.InstanceID, "cid": gm.ClientID, "host": "/" + gm.Host,
			"rt": gm.Rebalance, "st": gm.Session, "asg": asg,
			"subscription": gm.Subscription}) // what tells the client library
	}
	m["ms"] = members
}

func numbers(of []inspect.TopicIDPartitions) []int32 {
	out := []int32{}
	for _, t := range of {
		out = append(out, t.Partitions...)
	}
	return out
}

// writeLabelled writes the lines, compressed, without a time in the header: the same
// departures make the same file.
func writeLabelled(t *testing.T, file string, list []*labelled) {
	t.Helper()
	var b bytes.Buffer
	zw, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(zw)
	counts := make(map[string]int)
	for _, l := range list {
		line, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		counts[string(l.Truth)]++
		w.Write(line)
		w.WriteByte('\n')
	}
	if err := errors.Join(w.Flush(), zw.Close(), os.WriteFile(file, b.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%s: %d", k, counts[k])
	}
}
