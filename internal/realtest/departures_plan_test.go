//go:build realkafka

package realtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"
)

// experiment is one group of the labelled departures: what its members are, and
// what is done to one of them. Times are milliseconds where they are settings.
type experiment struct {
	number     int
	fault      string // see faultNames
	kind       kind
	protocol   string
	assignor   string
	static     bool
	idle       bool // nothing is produced
	commit     string
	interval   int // auto.commit.interval.ms; 0 the client's own
	session    int // 0: the client's or the broker's own
	heartbeat  int
	poll       int
	members    int
	partitions int32
	rate       int // records a second in the topic
	perPoll    int
	perRecord  int
	slowPeer   bool // the others need 9 s between two polls
	block      bool // the stall stops aiokafka's event loop
	settle     time.Duration
	hold       time.Duration // of the fault: stall, SIGSTOP, drain
	restart    time.Duration // until the process is started again
	beforeName bool          // the victim's client id sorts before its peers'
	short      bool          // timeouts of seconds: see shortClocks
}

// scale says which timeouts the groups have.
type scale string

const (
	shortClocks scale = "short" // seconds, so that a departure takes a minute
	ownClocks   scale = "own"   // the clients' and the broker's own
	mixedClocks scale = "mixed" // as people set them: own ones, long ones, short ones
)

// faultNames are the faults, each with what is done.
var faultNames = map[string]string{
	"over":  "no poll for longer than the poll interval",
	"batch": "a batch longer than the poll interval, each record of which is committed",
	"kill":  "SIGKILL",
	"rst":   "SIGKILL, started again after 3 s",
	"rstl":  "SIGKILL, started again after 12 s or more",
	"stop":  "SIGSTOP for 12 s or a session and more",
	"stopl": "SIGSTOP for 22 s or more",
	"term":  "SIGTERM, upon which the client closes",
	"trst":  "SIGTERM, started again",
	"drain": "no poll for a while, then SIGTERM",
}

// clocks are session, heartbeat and poll interval of a group; 0 is the client's own.
type clocks struct{ session, heartbeat, poll int }

var classicClocks = []clocks{
	{6000, 2000, 15000}, {10000, 0, 20000}, {6000, 0, 9000}, {9000, 1000, 24000}, {12000, 3000, 12000}, {8000, 0, 30000}, {0, 0, 0},
}

// A KIP-848 session and heartbeat are the broker's or the group's.
var consumerClocks = []clocks{{6000, 2000, 15000}, {10000, 3000, 20000}, {8000, 1000, 9000}, {6000, 2000, 24000}, {0, 0, 30000}, {0, 0, 0}}

// peoplesClocks are found in people's configurations; a KIP-848 group has none of the
// sessions.
var peoplesClocks = []clocks{
	{0, 0, 0}, {0, 0, 0}, {45000, 0, 75000}, {30000, 0, 60000}, {60000, 20000, 120000}, {20000, 5000, 100000}, {10000, 3000, 300000},
	{30000, 10000, 30000}, {25000, 0, 40000}, {12000, 4000, 45000},
}

// Defaults of the clients and the broker, for the planning alone.
const (
	defaultSessionMS   = 45000
	defaultPollMS      = 300000
	defaultHeartbeatMS = 5000 // of the broker, for KIP-848
)

func (e *experiment) sessionMS() int {
	switch {
	case e.session > 0:
		return e.session
	case e.kind == aiokafka || e.kind == sarama:
		return 10000
	case e.kind == kafkaJS:
		return 30000
	}
	return defaultSessionMS
}

// pollMS is the poll interval, or for how long a rebalance waits where the client has none.
func (e *experiment) pollMS() int {
	switch {
	case e.poll > 0:
		return e.poll
	case e.kind == franzGo || e.kind == sarama || e.kind == kafkaJS:
		return 60000
	}
	return defaultPollMS
}

// commitsIdle reports whether the client commits again and again what it has committed.
func (e *experiment) commitsIdle() bool {
	return e.commit == "auto" && !slices.Contains([]kind{librdkafka, franzGo, sarama, kafkaJS, streams}, e.kind)
}

// plan makes n experiments: every client with every fault that it can suffer, in
// turn, and all else by chance. The same seed makes the same plan. Groups of type
// consumer are among them where the brokers serve them.
func plan(seed uint64, n int, s scale, consumers bool) []experiment {
	rng := rand.New(rand.NewPCG(seed, 0))
	var pairs []experiment
	for _, c := range []experiment{
		{kind: javaClient, protocol: "classic"}, {kind: javaClient, protocol: "consumer"}, {kind: librdkafka, protocol: "classic"},
		{kind: librdkafka, protocol: "consumer"}, {kind: kafkaPython, protocol: "classic"}, {kind: aiokafka, protocol: "classic"},
		{kind: franzGo, protocol: "classic"}, {kind: kafkaJS, protocol: "classic"}, {kind: sarama, protocol: "classic"},
		{kind: spring, protocol: "classic"}, {kind: spring, protocol: "consumer"}, {kind: streams, protocol: "classic"},
	} {
		for _, fault := range []string{"over", "batch", "kill", "rst", "rstl", "stop", "stopl", "term", "trst", "drain"} {
			c.fault = fault
			if c.suffers() && (consumers || c.protocol != "consumer") {
				pairs = append(pairs, c)
				if fault == "over" && s != shortClocks { // of which short intervals tell the least
					pairs = append(pairs, c)
				}
			}
		}
	}
	var out []experiment
	for len(out) < n {
		rng.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
		for _, e := range pairs[:min(len(pairs), n-len(out))] {
			e.number = len(out)
			e.choose(rng, s)
			out = append(out, e)
		}
	}
	return out
}

// suffers reports whether the client can have the fault: franz-go and Sarama have no poll
// check, and only some commit single records.
func (e *experiment) suffers() bool {
	switch e.fault {
	case "over":
		return e.kind != franzGo && e.kind != sarama
	case "batch":
		return e.kind == javaClient || e.kind == librdkafka || e.kind == spring
	}
	return true
}

func pick[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

// choose decides by chance what the pair of client and fault leaves open.
func (e *experiment) choose(rng *rand.Rand, s scale) {
	e.short = s == shortClocks
	e.static = rng.IntN(5) == 0 && e.kind != kafkaJS && e.kind != streams
	e.members = pick(rng, 2, 2, 2, 3, 3, 4)
	if e.kind.jvm() {
		e.members = pick(rng, 2, 2, 3)
	}
	e.partitions = pick(rng, int32(2), 4, 4, 8, 8, 1)
	if e.partitions > 1 && int(e.partitions) < e.members {
		e.partitions = 4
	}
	e.chooseAssignor(rng)
	e.chooseClocks(rng, s)
	e.chooseWork(rng)
	e.beforeName = rng.IntN(2) == 0
	e.settle = time.Duration(42000+rng.IntN(12000)) * time.Millisecond
	if !e.short {
		e.settle += time.Duration(40000+rng.IntN(30000)) * time.Millisecond
		if e.kind == streams && e.interval == 0 { // commits every 30 s
			e.settle += 150 * time.Second
		}
	}
	e.chooseFault(rng)
	if !e.short {
		e.stretchFault(rng)
	}
}

func (e *experiment) chooseAssignor(rng *rand.Rand) {
	if e.protocol == "consumer" {
		e.assignor = pick(rng, "", "", "range")
		return
	}
	switch e.kind {
	case javaClient, spring:
		e.assignor = pick(rng, "range", "range", "roundrobin", "sticky", "cooperative-sticky", "cooperative-sticky", "cooperative-sticky")
	case librdkafka:
		e.assignor = pick(rng, "range", "roundrobin", "cooperative-sticky", "cooperative-sticky")
	case kafkaPython:
		e.assignor = pick(rng, "range", "roundrobin")
	case sarama:
		e.assignor = pick(rng, "range", "range", "roundrobin", "sticky")
	case franzGo:
		e.assignor = pick(rng, "range", "roundrobin", "sticky", "cooperative-sticky", "cooperative-sticky")
	}
}

func (e *experiment) chooseClocks(rng *rand.Rand, s scale) {
	list := classicClocks
	if e.protocol == "consumer" {
		list = consumerClocks
	}
	switch s {
	case ownClocks:
		return
	case mixedClocks:
		list = append(slices.Clone(peoplesClocks), list[:3]...)
	}
	for {
		c := list[rng.IntN(len(list))]
		e.session, e.heartbeat, e.poll = c.session, c.heartbeat, c.poll
		if e.protocol == "consumer" && !slices.Contains(consumerClocks, c) { // theirs are the broker's, which has bounds for them
			e.session, e.heartbeat = 0, 0
		}
		if e.kind == kafkaPython && e.poll == e.session { // 3.0.12 then spins, and never joins
			continue
		}
		if e.kind == librdkafka && e.protocol == "classic" && e.poll > 0 && e.poll < e.sessionMS() { // refused
			continue
		}
		if s == mixedClocks {
			return
		}
		switch e.fault {
		case "over", "batch":
			if e.pollMS() > 40000 {
				continue
			}
		case "rst", "rstl", "stop", "stopl":
			if e.sessionMS() > 20000 && e.fault != "rst" {
				continue
			}
		}
		return
	}
}

func (e *experiment) chooseWork(rng *rand.Rand) {
	e.commit = pick(rng, "auto", "auto", "auto", "sync", "sync", "record")
	if e.commit == "auto" && e.kind != franzGo {
		e.interval = pick(rng, 0, 0, 0, 1000, 2000)
	}
	if e.kind == kafkaPython || e.kind == aiokafka {
		if e.commit == "record" { // theirs commits once per poll
			e.commit = "sync"
		}
	}
	if rng.IntN(40) == 0 {
		e.commit = "none"
	}
	if e.kind == streams {
		e.commit = "auto"
	}
	e.idle = rng.IntN(10) == 0 && e.kind != streams // which obeys while it has records
	e.rate = pick(rng, 1, 4, 4, 4, 40)
	e.perPoll = pick(rng, 0, 0, 0, 200, 1000)
	e.perRecord = pick(rng, 0, 0, 0, 20)
	if e.rate == 40 && e.commit == "record" {
		e.rate = 4
	}
	if e.rate == 40 && e.commit == "sync" { // or the log is all commits
		e.perPoll = 1000
	}
	e.slowPeer = rng.IntN(12) == 0 && e.pollMS() >= 15000 && !e.idle && (e.sessionMS() < 20000 || !e.short) && e.kind != streams && e.kind != kafkaJS
	if !e.short {
		e.chooseLoad(rng)
	}
}

// chooseLoad is the work of a consumer that is busy for a part of the time, so that a
// backlog takes its time: the share of the records that a member with most partitions
// gets keeps it busy for up to nine tenths.
func (e *experiment) chooseLoad(rng *rand.Rand) {
	e.rate = pick(rng, 1, 2, 4, 4, 10, 40)
	if e.commit == "record" {
		e.rate = min(e.rate, 4)
	}
	e.perPoll = pick(rng, 0, 0, 0, 200, 1000)
	if e.commit == "sync" && e.rate > 1 {
		e.perPoll = pick(rng, 500, 1000, 2000)
	}
	most := (int(e.partitions) + e.members - 1) / e.members
	busy := pick(rng, 0, 0, 20, 50, 70, 90) // per cent
	e.perRecord = busy * 10 * int(e.partitions) / (e.rate * most)
	if e.kind == sarama { // whose claims work side by side
		e.perRecord *= most
	}
}

func (e *experiment) chooseFault(rng *rand.Rand) {
	ms := func(from, to int) time.Duration {
		return time.Duration(from+rng.IntN(max(1, to-from))) * time.Millisecond
	}
	s, r := e.sessionMS(), e.pollMS()
	switch e.fault {
	case "over":
		e.hold = max(30*time.Second, ms(r+9000, r+15000))
		if e.static || e.kind == librdkafka && e.protocol == "consumer" || e.kind == streams { // put out a session later
			e.hold = max(e.hold, ms(r+s+4000, r+s+9000))
		}
		if e.static && e.protocol == "consumer" && rng.IntN(2) == 0 { // back within its session
			e.hold = ms(r+1500, r+s-1000)
		}
		e.block = e.kind == aiokafka && rng.IntN(3) == 0
	case "batch":
		e.commit, e.interval, e.idle, e.slowPeer, e.perPoll, e.perRecord, e.rate = "record", 0, false, false, 0, 0, pick(rng, 4, 40)
		e.members, e.partitions = 2, pick(rng, int32(2), 4)
		e.hold = time.Duration(r/3) * time.Millisecond // in which the records of one batch arrive
	case "rst":
		e.restart = 3 * time.Second
	case "rstl":
		e.restart = max(12*time.Second, ms(s+2000, s+9000))
	case "stop":
		e.hold = max(12*time.Second, ms(s+2500, s+6000))
	case "stopl":
		e.hold = max(22*time.Second, ms(s+6000, s+12000))
	case "trst":
		e.restart = ms(0, 12000)
	case "drain":
		e.hold = ms(3000, min(r, 40000)*9/10)
		if near := time.Duration(s) * time.Millisecond; rng.IntN(2) == 0 && s < r {
			e.hold = near + ms(-500, 1500)
		}
		if rng.IntN(2) == 0 {
			e.restart = ms(1, 9000)
		}
	}
}

// stretchFault changes what chooseFault made for timeouts of seconds.
func (e *experiment) stretchFault(rng *rand.Rand) {
	ms := func(from, to int) time.Duration {
		return time.Duration(from+rng.IntN(max(1, to-from))) * time.Millisecond
	}
	s := e.sessionMS()
	switch e.fault {
	case "over":
		if e.block || e.kind == kafkaJS { // no heartbeats: the session ends first
			e.hold = ms(s+9000, s+20000)
		}
	case "batch":
		e.rate = pick(rng, 2, 4)
	case "stopl":
		e.hold = max(e.hold, ms(s*5/4, s*2))
	case "drain":
		if e.kind == kafkaJS {
			e.hold = min(e.hold, ms(2000, s-5000))
		}
	}
}

// unreachable says why the records cannot tell the truth; empty where they can.
func (e *experiment) unreachable() string {
	switch {
	case e.commit == "none":
		return "nothing is committed"
	case e.idle && !e.commitsIdle():
		return "nothing is committed on an idle topic"
	case e.fault == "drain":
		return "a close after draining looks like an overrun or an expiry of the same length"
	case e.fault == "batch":
		return "a first overrun inside a batch looks like a close and a return"
	}
	return ""
}

// spec is the configuration of one member; its client id is its name.
func (e *experiment) spec(topic, group, id string) client {
	c := client{Kind: e.kind, Group: group, Topics: topic, ClientID: id, Assignor: e.assignor, Protocol: e.protocol, MaxPoll: e.poll,
		PerPoll: e.perPoll, PerRecord: e.perRecord, Commit: e.commit}
	if e.protocol != "consumer" {
		c.Session, c.Heartbeat = e.session, e.heartbeat
	}
	if e.static {
		c.InstanceID = id
	}
	c.Plain = e.kind == streams
	if e.interval > 0 {
		key := "auto.commit.interval.ms"
		switch e.kind {
		case kafkaPython, aiokafka:
			key = "auto_commit_interval_ms"
		case kafkaJS:
			key = "autoCommitInterval"
		case streams:
			key = "commit.interval.ms"
		}
		c.Extra = append(c.Extra, key+"="+strconv.Itoa(e.interval))
	}
	return c
}

// peer is the client id of the i-th other member.
func (e *experiment) peer(i int) string {
	if e.beforeName {
		return fmt.Sprintf("worker-%d", i)
	}
	return fmt.Sprintf("peer-%d", i)
}

// committing is the label of how the members commit.
func (e *experiment) committing() string {
	switch e.commit {
	case "auto":
		interval := e.interval
		switch {
		case interval > 0:
		case e.kind == kafkaJS:
			return "per poll"
		case e.kind == streams:
			interval = 30000
		case e.kind == sarama:
			interval = 1000
		default:
			interval = 5000
		}
		return fmt.Sprintf("auto %d s", interval/1000)
	case "sync":
		return "per poll"
	case "record":
		return "per record"
	}
	return e.commit
}

func sortedFaults() []string {
	var out []string
	for name, what := range faultNames {
		out = append(out, name+": "+what)
	}
	slices.Sort(out)
	return out
}
