package clientconf

import (
	"slices"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

// How long a program keeps its consumers, and who runs them.

var (
	requestHead = pattern.New(`@(?:Get|Post|Put|Delete|Request)Mapping|@(?:app|router|bp|blueprint)\.(?:route|get|post|put|delete)\b|\b(?:app|router|server|fastify)\.(?:get|post|put|delete|use)\(|http\.ResponseWriter|HandleFunc\(|exports\.handler|lambda_handler|IActionResult|ActionResult<|\[Http(?:Get|Post)|\bdo(?:Get|Post)\(|def do_(?:GET|POST)|@(?:Get|Post)\(|gin\.Context|echo\.Context`)
	timerHead   = pattern.New(`\bsetInterval\s*\(|@Scheduled\s*\(|scheduleAtFixedRate\s*\(|scheduleWithFixedDelay\s*\(|cron\.schedule\s*\(|new Timer\s*\(|Timer\s*\(|schedule\.every\s*\(|time\.NewTicker\s*\(|threading\.Timer\s*\(`)
	fixedRate   = pattern.New(`fixed(?:Delay|Rate)\s*=\s*([^,)]+)`)
	threadHead  = pattern.New(`\.submit\s*\(|\.execute\s*\(|\bnew Thread\s*\(|threading\.Thread\s*\(|Thread\.new|Task\.Run\s*\(|\bgo func\b|thread::spawn|Executors?\.\w+`)
	noAssign    = pattern.New(`rebalance_cb["']?\s*(?::|=>|=|,)|setRebalanceCb\s*\(|rd_kafka_conf_set_rebalance_cb`)
	// assignsItself is the interface of confluent-kafka-javascript that does what its callback leaves out.
	assignsItself = pattern.New(`\.consumer\s*\(`)
	// handsRebalancesOn is confluent-kafka-go's setting that makes an event of each rebalance, which the program has to answer.
	handsRebalancesOn = pattern.New(`"go\.application\.rebalance\.enable"\s*:\s*(?:kafka\.ConfigValue\()?true`)
	takesRebalances   = pattern.New(`\.(?:Assign|IncrementalAssign)\s*\(`)
	anyAssign         = pattern.New(`\bassign\s*\(|->assign\s*\(|incremental_assign|incrementalAssign|rd_kafka_assign`)
)

// makings tells of consumers that are made again and again.
func (a *acting) makings() {
	for _, m := range a.made {
		if a.family == inspect.KafkaGo && a.readsAlone(m) {
			continue
		}
		for _, b := range a.around(m.at) {
			often := requestHead.MatchString(b.header) || handler.MatchString(b.header) || b.loop && !boundedLoop.MatchString(b.header) && !a.polledInside(b)
			if often {
				head := inspect.Position{File: a.name, Line: b.line}
				a.add(inspect.Act{Kind: inspect.ActMadeOften, Where: a.position(m.at), Call: strings.TrimSpace(strings.TrimSuffix(a.bare[m.at:a.openAfter(m.at)], "(")), Consumer: m.name, Group: m.group, Other: &head, Each: b.loop})
				return
			}
			if b.handedOff {
				break
			}
		}
		if a.madeThroughFunction(m) {
			return
		}
	}
}

// madeThroughFunction tells of a function that makes a consumer, and is called on each pass
// of a loop that goes on for good.
func (a *acting) madeThroughFunction(m made) bool {
	f := a.functionAt(m.at)
	if f.function == "" || m.group == "" || a.family != inspect.KafkaGo && a.family != inspect.Sarama && a.family != inspect.FranzGo {
		return false
	}
	for _, at := range a.named[f.function] {
		loop, ok := a.loopAt(at)
		if !ok || at >= f.start-len(f.header)-2 && at < f.end || boundedLoop.MatchString(loop.header) || a.polledInside(loop) {
			continue
		}
		head := inspect.Position{File: a.name, Line: loop.line}
		a.add(inspect.Act{Kind: inspect.ActMadeOften, Where: a.position(at), Call: f.function, Consumer: m.name, Group: m.group, Other: &head, Each: true})
		return true
	}
	return false
}

// readsAlone reports whether kafka-go's Reader is made without a group: it joins none.
func (a *acting) readsAlone(m made) bool {
	args, _ := a.arguments(m.at)
	return strings.Contains(args, "ReaderConfig{") && !strings.Contains(args, "GroupID")
}

// polledInside reports whether a loop holds the loop that polls: then it starts the
// consumer again when that one has ended.
func (a *acting) polledInside(loop block) bool {
	return slices.ContainsFunc(a.regions, func(r region) bool { return r.start > loop.start && r.end <= loop.end })
}

func (a *acting) openAfter(at int) int {
	if i := strings.IndexByte(a.bare[at:], '('); i >= 0 {
		return at + i
	}
	return len(a.bare)
}

// boundedLoop are loops that run a few times, each with a consumer of its own: a pool.
var boundedLoop = pattern.New(`^\s*(?:for\b.*(?:<|range|\.\.|in\b|of\b|:=|:)|\d+\.times|.*\.each\b|.*\.forEach\()`)

// timers tells of timers that poll.
func (a *acting) timers() {
	for _, c := range a.methods(pollings) {
		m, ok := ofConsumer(c, a.made)
		if !ok || c.method == "run" {
			continue
		}
		for _, b := range a.around(c.at) {
			if b.loop {
				break // a timer that starts a loop
			}
			if !timerHead.MatchString(b.header) {
				continue
			}
			act := a.act(inspect.ActTimer, c, m)
			head := inspect.Position{File: a.name, Line: b.line}
			act.Other, act.Length = &head, a.timerPeriod(b)
			a.add(act)
			return
		}
	}
}

// timerPeriod is a timer's period: the argument behind its function, or its fixed rate.
func (a *acting) timerPeriod(b block) *inspect.Millis {
	text := ""
	if m := fixedRate.FindStringSubmatch(b.header); m != nil {
		text = m[1]
	} else if rest := strings.TrimLeft(a.raw[min(b.end+1, len(a.raw)):], " \n\t"); strings.HasPrefix(rest, ",") {
		text = expression(rest[1:])
	}
	return a.millis(text)
}

// callbacks tells of rebalance callbacks that do not do what theirs is, and of what only
// they do.
func (a *acting) callbacks() {
	if at := noAssign.FindStringSubmatchIndex(a.code); at != nil && !assignsItself.MatchString(a.bare) && !anyAssign.MatchString(a.bare) && !strings.Contains(a.raw[at[1]:min(at[1]+20, len(a.raw))], "true") {
		a.add(inspect.Act{Kind: inspect.ActNoAssign, Where: a.position(at[0]), Call: "rebalance_cb"})
	}
	if at := handsRebalancesOn.FindStringIndex(a.code); at != nil && !takesRebalances.MatchString(a.bare) {
		a.add(inspect.Act{Kind: inspect.ActNoAssign, Where: a.position(at[0]), Call: "go.application.rebalance.enable"})
	}
	polls := slices.DeleteFunc(a.methods(pollings), func(c call) bool { _, ok := ofConsumer(c, a.made); return !ok })
	if len(polls) > 0 && !slices.ContainsFunc(polls, func(c call) bool { return !a.insideCallback(c.at) }) {
		m, _ := ofConsumer(polls[0], a.made)
		a.add(a.act(inspect.ActPollsInCallback, polls[0], m))
	}
	if a.family == inspect.Sarama {
		a.consumedOnce()
		a.protocolTooOld()
		a.claimsLeft()
	}
	if a.family == inspect.KafkaGo {
		a.commitsWithoutGroup()
	}
	if vertx.MatchString(a.raw) {
		a.pausedStream()
		return
	}
	a.pausedWork()
}

var (
	vertx  = pattern.New(`io\.vertx|\bvertx\b`)
	resume = pattern.New(`setTimer\s*\(\s*([^,]+),`)
)

// pausedStream tells of Vert.x' pause(), which pauses the stream: without partitions named
// the consumer is no longer polled until resume().
func (a *acting) pausedStream() {
	for _, c := range a.methods(set("pause")) {
		m, ok := ofConsumer(c, a.made)
		if !ok || strings.TrimSpace(c.args) != "" {
			continue
		}
		act := a.act(inspect.ActPausedStream, c, m)
		if t := resume.FindStringSubmatch(a.raw[c.end:]); t != nil {
			act.Length = a.millis(t[1])
		}
		a.add(act)
		return
	}
}

var revoked = pattern.New(`(?i)on_?revoke|on_?lost|PartitionsRevoked|PartitionsLost|partitions_?revoked|REVOKE_PARTITIONS`)

// rebalancedAt reports whether a call stands in a callback for partitions that come or go.
func (a *acting) rebalancedAt(at int) bool {
	return a.insideCallback(at) || slices.ContainsFunc(a.around(at), func(b block) bool { return revoked.MatchString(b.header) })
}

// callbackSleeps tells of a sleep within a rebalance callback, which the rebalance waits for.
func (a *acting) callbackSleeps(at, open int) {
	written := strings.TrimRight(a.bare[at:open], "( 0123456789")
	args, _ := a.arguments(open - 1)
	if d := a.sleepLength(written, args); d != nil && d.Duration() >= time.Second {
		a.add(inspect.Act{Kind: inspect.ActCallbackSleeps, Where: a.position(at), Call: written, Length: d})
	}
}

func (a *acting) insideCallback(at int) bool {
	for _, b := range a.around(at) {
		if b.callback {
			return true
		}
	}
	return false
}

// consumedOnce tells of sarama's Consume outside a loop: it returns with each rebalance.
func (a *acting) consumedOnce() {
	for _, c := range a.methods(set("Consume")) {
		if strings.Count(c.args, ",") < 2 {
			continue
		}
		if !slices.ContainsFunc(a.around(c.at), func(b block) bool { return b.loop }) {
			m, _ := ofConsumer(c, a.made)
			a.add(a.act(inspect.ActConsumedOnce, c, m))
			return
		}
	}
}

var (
	// withoutGroups are the versions below V0_10_2_0, with which sarama refuses a group.
	withoutGroups = pattern.New(`\bVersion\s*[:=]\s*(sarama\.(?:V0_[89]_\w+|V0_10_[01]_\w+|MinVersion))\b`)
	// withoutStatic are the versions below V2_3_0_0, with which sarama refuses an InstanceId.
	withoutStatic = pattern.New(`\bVersion\s*[:=]\s*sarama\.(V0_\w+|V1_\w+|V2_[012]_\w+|MinVersion)\b`)
	instanceID    = pattern.New(`\bConsumer\.Group\.InstanceId\s*=[^=]`)
	makesGroup    = pattern.New(`\bNewConsumerGroup(?:FromClient)?\s*\(`)
	readsClaim    = pattern.New(`\bclaim\.Messages\(\)`)
)

// protocolTooOld tells of a group with a protocol that has none, and of a claim that is
// read where nothing calls Consume.
func (a *acting) protocolTooOld() {
	if m := withoutGroups.FindStringSubmatchIndex(a.bare); m != nil && makesGroup.MatchString(a.bare) {
		a.add(inspect.Act{Kind: inspect.ActOldVersion, Where: a.position(m[0]), Call: a.bare[m[2]:m[3]]})
	}
	if m := instanceID.FindStringSubmatchIndex(a.bare); m != nil {
		if v := withoutStatic.FindStringSubmatchIndex(a.bare); v != nil {
			a.add(inspect.Act{Kind: inspect.ActStaticVersion, Where: a.position(m[0]), Call: "sarama." + a.bare[v[2]:v[3]]})
		}
	}
	if m := readsClaim.FindStringIndex(a.bare); m != nil && !strings.Contains(a.bare, ".Consume(") {
		a.add(inspect.Act{Kind: inspect.ActClaimRead, Where: a.position(m[0]), Call: a.bare[m[0]:m[1]]})
	}
}

// pausedWork tells of a pause and a resume with work and no poll between them.
func (a *acting) pausedWork() {
	resumes := a.methods(set("resume", "Resume"))
	for _, c := range a.methods(set("pause", "Pause")) {
		m, ok := ofConsumer(c, a.made)
		if !ok {
			continue
		}
		for _, r := range resumes {
			if r.receiver != c.receiver || r.at < c.end || a.functionAt(r.at) != a.functionAt(c.at) {
				continue
			}
			polled := slices.ContainsFunc(a.methods(pollings), func(p call) bool { return p.at > c.end && p.at < r.at })
			if !polled && !a.inCallback(c.at) && worksOn.MatchString(a.bare[c.end:r.at]) && a.family != inspect.KafkaJS {
				act, other := a.act(inspect.ActPausedWork, c, m), a.position(r.at)
				act.Other = &other
				a.add(act)
				return
			}
		}
	}
}

// worksOn are calls that may take time: those of a log or of a test do not.
var worksOn = pattern.New(`(?:^|[^\w.])(?:await\s+)?(?:\w+\.)*(?:process|handle|work|run|execute|apply|accept|save|insert|write|send|publish|sleep|get|join|call|invoke|on|do|Process|Handle|Work|Run|Execute|Apply|Save|Insert|Send|Publish|Sleep|Delay|Invoke)\w*\s*\(|\b(?:for|while)\b`)

var leavesLoop = pattern.New(`\b(?:break|return|exit|os\.Exit|System\.exit)\b`)

// endings tells of a program that ends its poll loop, or has none, and never closes its
// consumer.
func (a *acting) endings() {
	polled := slices.ContainsFunc(a.methods(pollings), func(c call) bool { _, ok := ofConsumer(c, a.made); return ok && len(a.around(c.at)) == 0 })
	if closings.MatchString(a.bare) || !polled && len(a.regions) == 0 {
		return
	}
	for _, r := range a.regions {
		if !leavesLoop.MatchString(a.bare[r.start:r.end]) {
			return // a loop without end: the process is ended from outside
		}
	}
	for _, m := range a.made {
		if m.name != "" && !handler.MatchString(a.raw) {
			a.add(inspect.Act{Kind: inspect.ActNotClosed, Where: a.position(m.at), Call: m.name, Consumer: m.name, Group: m.group})
			return
		}
	}
}

// threads tells of one consumer that several threads use.
func (a *acting) threads() {
	if a.family != inspect.Java && a.family != inspect.KafkaPython {
		return
	}
	calls := a.methods(set("poll", "commitSync", "commit", "commitAsync", "seek", "pause", "resume", "assign", "position"))
	for _, c := range calls {
		m, ok := ofConsumer(c, a.made)
		if !ok || m.at == 0 && m.line == 0 {
			continue
		}
		for _, b := range a.around(c.at) {
			if b.start <= m.at && m.at < b.end {
				break // made in the same thread
			}
			if threadHead.MatchString(b.header) && slices.ContainsFunc(calls, func(o call) bool { return o.receiver == c.receiver && (o.at < b.start || o.at >= b.end) }) {
				act, other := a.act(inspect.ActShared, c, m), inspect.Position{File: a.name, Line: b.line}
				act.Other = &other
				a.add(act)
				return
			}
		}
	}
}
