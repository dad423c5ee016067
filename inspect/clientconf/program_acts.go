package clientconf

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

// actsOf finds what a program's text does with its consumers.
func actsOf(name string, data []byte, family inspect.Family) []inspect.Act {
	if len(data) > longestProgram || !ofKafka.Match(data) {
		return nil
	}
	a := &acting{program: programOf(name, data), family: family}
	a.made = a.consumers()
	a.regions = a.pollRegions()
	for _, find := range []func(){a.memberships, a.work, a.makings, a.timers, a.callbacks, a.endings, a.threads, a.order} {
		find()
	}
	if len(a.out) == 0 && len(a.made) > 0 && namesClient(data) {
		m := a.made[0]
		a.add(inspect.Act{Kind: inspect.ActMakes, Where: a.position(m.at), Call: strings.TrimSpace(a.bare[m.at:a.openAfter(m.at)]), Consumer: m.name, Group: m.group})
	}
	slices.SortStableFunc(a.out, func(x, y inspect.Act) int { return cmp.Compare(x.Where.Line, y.Where.Line) })
	return a.out
}

// acting gathers the acts of one program.
type acting struct {
	*program
	family  inspect.Family
	made    []made
	regions []region
	out     []inspect.Act
}

func (a *acting) add(act inspect.Act) { a.out = append(a.out, act) }

func (a *acting) act(kind inspect.ActKind, c call, m made) inspect.Act {
	return inspect.Act{Kind: kind, Where: a.position(c.at), Call: c.written, Consumer: m.name, Group: m.group}
}

func set(names ...string) map[string]bool {
	out := map[string]bool{}
	for _, n := range names {
		out[n] = true
	}
	return out
}

var (
	subscribes = set("subscribe", "Subscribe", "SubscribeTopics", "subscribePattern")
	assigns    = set("assign", "Assign")
	commits    = set("commit", "commitSync", "Commit", "CommitMessages", "commitOffsets", "commit_async", "commitAsync")
	pollings   = set("poll", "Poll", "consume", "Consume", "PollFetches", "PollRecords", "ReadMessage", "FetchMessage", "getone", "getmany", "recv", "receive", "each_message", "each_batch", "run", "ReadEvent", "ReadFromTopic")
	closings   = pattern.New(`(?:\.|->|::)(?:close|Close|CloseAsync|disconnect|stop|Stop|shutdown|leave_group|destroy|Dispose|wakeup)\s*\(|\bwith\s+[\w.]*Consumer|\busing\b|\.use\s*[{(]|try\s*\(|rd_kafka_consumer_close|rd_kafka_destroy`)
	callback   = pattern.New(`(?i)rebalanc|on_?assign|PartitionsAssigned|AssignedPartitions|ASSIGN_PARTITIONS|partitions_?assigned`)
	branch     = pattern.New(`^(?:\}?\s*)?(?:else|elif|elsif|case|default)\b`)
)

// memberships tells who subscribes, who assigns, and who does both or neither.
func (a *acting) memberships() {
	var subs, byHand []inspect.Act
	at := map[string][]call{}
	for _, c := range a.methods(subscribes) {
		m, ok := ofConsumer(c, a.made)
		if !ok {
			continue
		}
		act := a.act(inspect.ActSubscribe, c, m)
		act.Topics = topicsOf(c.args)
		subs = append(subs, act)
		at["s"+m.name] = append(at["s"+m.name], c)
	}
	for _, c := range a.methods(assigns) {
		m, ok := ofConsumer(c, a.made)
		if !ok || a.inCallback(c.at) || strings.TrimSpace(c.args) == "" {
			continue
		}
		act := a.act(inspect.ActAssign, c, m)
		byHand = append(byHand, act)
		at["a"+m.name] = append(at["a"+m.name], c)
	}
	a.out = append(a.out, subs...)
	a.out = append(a.out, byHand...)
	a.annotated()
	a.membershipWanted(len(subs), byHand)
	a.both(at, byHand)
	a.subscribedAgain(at, subs)
	a.subscribedThroughFunction(subs)
	if len(a.made) == 1 && len(subs)+len(byHand) == 0 && len(a.regions) == 0 {
		a.committedOnly()
	}
	for _, m := range a.made {
		switch {
		case m.none:
			a.add(inspect.Act{Kind: inspect.ActNoGroup, Where: a.position(m.at), Call: "group.id", Consumer: m.name})
		case m.random:
			a.add(inspect.Act{Kind: inspect.ActRandomGroup, Where: a.position(m.at), Call: "group.id", Consumer: m.name})
		}
	}
}

var (
	listens  = pattern.New(`\bOn(?:PartitionsAssigned|PartitionsRevoked)\s*\+=|SetPartitions(?:Assigned|Revoked)Handler\s*\(|\bon_(?:assign|revoke)\s*=|\brebalance_cb\b|\bConsumerRebalanceListener\b|setRebalanceCb\s*\(`)
	joinsYet = pattern.New(`(?i)subscri|\bassign|incremental`)
)

// membershipWanted tells of a program that assigns by hand and listens for rebalances, and
// of one that polls and does neither.
func (a *acting) membershipWanted(subs int, byHand []inspect.Act) {
	if subs == 0 && len(byHand) > 0 {
		if m := listens.FindStringIndex(a.code); m != nil {
			a.add(inspect.Act{Kind: inspect.ActListens, Where: a.position(m[0]), Call: strings.TrimRight(a.code[m[0]:m[1]], " +=(")})
		}
	}
	if a.family == inspect.KafkaJS {
		a.notAwaited()
	}
	if len(a.made) != 1 || a.made[0].group == "" || joinsYet.MatchString(a.bare) {
		return
	}
	switch a.family {
	case inspect.Java, inspect.Librdkafka, inspect.KafkaPython, inspect.AIOKafka:
		for _, c := range a.methods(pollings) {
			if m, ok := ofConsumer(c, a.made); ok && m.at == a.made[0].at && c.method != "run" && len(topicsOf(c.args)) == 0 && !a.namesTopics() {
				a.add(a.act(inspect.ActNoSubscription, c, m))
				return
			}
		}
	}
}

// namesTopics reports whether the consumer is made with topics: the first arguments of
// kafka-python and aiokafka.
func (a *acting) namesTopics() bool {
	if a.family != inspect.KafkaPython && a.family != inspect.AIOKafka {
		return false
	}
	args, _ := a.arguments(a.made[0].at)
	first := expression(args)
	return first != "" && !strings.Contains(first, "=")
}

// notAwaited tells of KafkaJS' subscribe() that run() does not wait for.
func (a *acting) notAwaited() {
	for _, c := range a.methods(set("subscribe")) {
		if _, ok := ofConsumer(c, a.made); !ok || !a.statementOf(c) || strings.HasPrefix(strings.TrimLeft(a.bare[min(c.end+1, len(a.bare)):], " \n\t"), ".") {
			continue
		}
		for _, r := range a.methods(set("run")) {
			if r.receiver == c.receiver && r.at > c.end && a.together(c.at, r.at) {
				act, other := a.act(inspect.ActNotAwaited, c, made{name: c.receiver}), a.position(r.at)
				act.Other = &other
				a.add(act)
				return
			}
		}
	}
}

// statementOf reports whether a call is a statement of its own: nothing takes its result.
func (a *acting) statementOf(c call) bool {
	before := strings.TrimRight(a.bare[:c.at], " \t")
	return before == "" || strings.HasSuffix(before, "\n") || strings.HasSuffix(before, ";") || strings.HasSuffix(before, "{")
}

// inCallback reports whether a call stands in a rebalance callback, where assign() is due.
func (a *acting) inCallback(at int) bool {
	return a.insideCallback(at) || callback.MatchString(a.raw[max(0, at-300):at])
}

func (a *acting) committedOnly() {
	for _, c := range a.methods(commits) {
		if m, ok := ofConsumer(c, a.made); ok && m.group != "" {
			a.add(a.act(inspect.ActCommit, c, m))
			return
		}
	}
}

// together reports whether two calls run one after the other: in one function, and not in
// two branches of it.
func (a *acting) together(x, y int) bool {
	fx, fy := a.functionAt(x), a.functionAt(y)
	if fx != fy {
		return false
	}
	for _, at := range []int{x, y} {
		for _, b := range a.around(at) {
			if b.start <= fx.start {
				break
			}
			if branch.MatchString(b.header) && (b.start > x || b.end < y || b.start > y || b.end < x) {
				return false
			}
		}
	}
	return true
}

// functionAt is the innermost function around a byte; the zero block for the top level.
func (a *acting) functionAt(at int) block {
	for _, b := range a.around(at) {
		if b.function != "" {
			return b
		}
	}
	return block{}
}

// both tells of consumers that assign and subscribe one after the other.
func (a *acting) both(at map[string][]call, byHand []inspect.Act) {
	for _, act := range byHand {
		for _, c := range at["a"+act.Consumer] {
			for _, s := range at["s"+act.Consumer] {
				if a.lineOf(c.at) == act.Where.Line && a.together(min(c.at, s.at), max(c.at, s.at)) && a.sameConsumer(c.at, s.at, act.Consumer) {
					both, other := act, a.position(s.at)
					both.Kind, both.Other = inspect.ActBoth, &other
					a.add(both)
					return
				}
			}
		}
	}
}

// sameConsumer reports whether no other consumer is given a name between two calls.
func (a *acting) sameConsumer(x, y int, name string) bool {
	for _, m := range a.made {
		if m.name == name && m.at > min(x, y) && m.at < max(x, y) {
			return false
		}
	}
	return true
}

// subscribedAgain tells of subscriptions that replace an earlier one. The lists of kafkajs
// and ruby-kafka grow with each call.
func (a *acting) subscribedAgain(at map[string][]call, subs []inspect.Act) {
	if a.family == inspect.KafkaJS || a.family == inspect.RubyKafka || a.family == inspect.FranzGo {
		return
	}
	for i, later := range subs {
		for _, c := range at["s"+later.Consumer] {
			if a.lineOf(c.at) != later.Where.Line {
				continue
			}
			if loop, ok := a.loopAt(c.at); ok && a.polledIn(loop) && !a.madeIn(loop) {
				act, head := later, inspect.Position{File: a.name, Line: loop.line}
				act.Kind, act.Other = inspect.ActResubscribes, &head
				a.add(act)
				return
			}
			for _, earlier := range subs[:i] {
				first := at["s"+later.Consumer][0]
				if earlier.Consumer == later.Consumer && earlier.Topics != later.Topics && earlier.Topics != "" && later.Topics != "" &&
					a.together(first.at, c.at) && a.sameConsumer(first.at, c.at, later.Consumer) && !a.calledBetween(first.end, c.at, "unsubscribe") {
					act, other := later, earlier.Where
					act.Kind, act.Other = inspect.ActResubscribes, &other
					a.add(act)
					return
				}
			}
		}
	}
}

func (a *acting) madeIn(b block) bool {
	return slices.ContainsFunc(a.made, func(m made) bool { return m.at >= b.start && m.at < b.end })
}

func (a *acting) calledBetween(from, to int, method string) bool {
	return from < to && strings.Contains(a.bare[from:to], "."+method+"(")
}

// loopAt is the innermost loop around a byte, within its function.
func (a *acting) loopAt(at int) (block, bool) {
	for _, b := range a.around(at) {
		if b.loop {
			return b, true
		}
		if b.function != "" {
			break
		}
	}
	return block{}, false
}

func (a *acting) polledIn(b block) bool {
	for _, c := range a.methods(pollings) {
		if _, ok := ofConsumer(c, a.made); ok && c.at >= b.start && c.at < b.end && c.method != "run" {
			return true
		}
	}
	return false
}

// subscribedThroughFunction tells of a function that makes a consumer of one group, and is
// called for several topics.
func (a *acting) subscribedThroughFunction(subs []inspect.Act) {
	for _, m := range a.made {
		f := a.functionAt(m.at)
		name := f.function
		if name == "" || m.group == "" || strings.HasPrefix(m.group, "(") {
			continue
		}
		i := slices.IndexFunc(subs, func(s inspect.Act) bool { return s.Consumer == m.name && s.Topics == "" })
		if i < 0 {
			continue
		}
		seen := map[string]bool{}
		for _, at := range a.named[name] {
			if at >= f.start-len(f.header)-2 && at < f.end {
				continue
			}
			args, _ := a.arguments(at)
			topic := topicsOf(args)
			if topic == "" || seen[topic] {
				continue
			}
			seen[topic] = true
			act := subs[i]
			act.Where, act.Call, act.Topics, act.Consumer = a.position(at), name, topic, name+" "+topic
			a.add(act)
		}
	}
}

var (
	listener      = pattern.New(`@(?:KafkaListener|Incoming|StreamListener|[\w.]+\.subscriber)\s*\(`)
	listenerGroup = pattern.New(`\b(?:groupId|group_id|group)\s*=\s*["']([^"'$#{}]+)["']`)
	listenerTopic = pattern.New(`\btopics?\s*=\s*\{?\s*((?:["'][^"']+["']\s*,?\s*)+)`)
	byPartitions  = pattern.New(`\b(?:topicPartitions|partitions)\s*=`)
)

// annotated tells of consumers that an annotation or a decorator makes.
func (a *acting) annotated() {
	for _, m := range listener.FindAllStringSubmatchIndex(a.bare, -1) {
		args, _ := a.arguments(m[1] - 1)
		act := inspect.Act{Kind: inspect.ActSubscribe, Where: a.position(m[0]), Call: strings.TrimSuffix(a.bare[m[0]:m[1]], "(")}
		if g := listenerGroup.FindStringSubmatch(args); g != nil {
			act.Group = g[1]
		}
		if byPartitions.MatchString(args) {
			act.Kind = inspect.ActAssign
		} else if t := listenerTopic.FindStringSubmatch(args); t != nil {
			act.Topics = topicsOf(t[1])
		} else if first := literalText.FindStringSubmatch(expression(args)); first != nil && !strings.Contains(expression(args), "=") {
			act.Topics = first[1]
		}
		act.Consumer = act.Call + " " + act.Topics
		a.add(act)
	}
}

// region is a part of a program that runs between two polls.
type region struct {
	start, end int
	each       bool // for each record
	head       int  // of the loop or the handler
}

var (
	handler      = pattern.New(`@KafkaListener|@KafkaHandler|@Incoming\b|@StreamListener|eachMessage\b\s*[:(=][^=,}]*(?:=>|\(|$)|eachBatch\b\s*[:(=][^=,}]*(?:=>|\(|$)|\bConsumeClaim\(|@[\w.]+\.agent\(|@[\w.]+\.subscriber\(|\bhandle_message|@EventPattern|@MessagePattern|\bConsumeContext<|\.on\(["'](?:data|message)["']|onMessage\(`)
	racecarBody  = pattern.New(`^def (?:process|process_batch|consume)\b`)
	ofRacecar    = pattern.New(`Racecar|Karafka|ApplicationConsumer`)
	consumerIter = pattern.New(`\b(?:for|async for|for await)\b.*\b(?:in|of)\s+\(?\s*(?:self\.|this\.)?(\w*(?i:consumer)\w*|claim)\b|range\s+\w+\.Messages\(\)|\.each_message|\.each_batch`)
	batchHandler = pattern.New(`\bList<|ConsumerRecords<|eachBatch\b|batch`)
)

// pollRegions are the bodies of poll loops and handlers, and the functions that they
// call.
func (a *acting) pollRegions() []region {
	var out []region
	racecar := ofRacecar.MatchString(a.raw)
	for _, b := range a.blocks {
		switch {
		case handler.MatchString(b.header) && b.end-b.start > 1,
			racecar && racecarBody.MatchString(b.header),
			consumerIter.MatchString(b.header):
			out = append(out, region{b.start, b.end, !batchHandler.MatchString(b.header), b.line})
		case b.loop && a.polledHere(b):
			out = append(out, region{b.start, b.end, false, b.line})
		}
	}
	return a.withCalled(out)
}

// polledHere reports whether a loop itself polls, not a loop inside it.
func (a *acting) polledHere(loop block) bool {
	for _, c := range a.methods(pollings) {
		if c.method == "run" || c.at < loop.start || c.at >= loop.end {
			continue
		}
		if _, ok := ofConsumer(c, a.made); !ok {
			continue
		}
		if inner, ok := a.loopAt(c.at); ok && inner.start == loop.start {
			return true
		}
	}
	return false
}

// withCalled adds the functions of the text that are called from a region.
func (a *acting) withCalled(regions []region) []region {
	for i := 0; i < len(regions) && len(regions) < 50; i++ {
		r := regions[i]
		for _, b := range a.blocks {
			name := b.function
			if name == "" || b.start >= r.start && b.end <= r.end || slices.ContainsFunc(regions, func(o region) bool { return o.start == b.start }) {
				continue
			}
			if at := a.calledIn(r.start, r.end, name); at >= 0 && !a.handedOff(at, r) {
				regions = append(regions, region{b.start, b.end, r.each || a.innerLoop(at, r), r.head})
			}
		}
	}
	return regions
}

func isNamePart(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// handedOff reports whether a call in a region is given to another thread.
func (a *acting) handedOff(at int, r region) bool {
	line := a.bare[strings.LastIndexByte(a.bare[:at], '\n')+1 : at]
	if handOff.MatchString(line) {
		return true
	}
	for _, b := range a.around(at) {
		if b.start <= r.start {
			return false
		}
		if b.handedOff {
			return true
		}
	}
	return false
}

// innerLoop reports whether a call stands in a loop inside a region: over the records.
func (a *acting) innerLoop(at int, r region) bool {
	for _, b := range a.around(at) {
		if b.start <= r.start {
			return false
		}
		if b.loop {
			return true
		}
	}
	return false
}

// regionAt is the innermost region around a byte.
func (a *acting) regionAt(at int) (region, bool) {
	best, found := region{}, false
	for _, r := range a.regions {
		if r.start <= at && at < r.end && (!found || r.start > best.start) {
			best, found = r, true
		}
	}
	return best, found
}

// kinds of work by the calls that do it; the unit is that of a plain number of a sleep.
var workCalls = []struct {
	kind  inspect.ActKind
	calls *pattern.Pattern
}{
	{inspect.ActSleep, pattern.New(`\b(?:Thread\.sleep|TimeUnit\.\w+\.sleep|time\.sleep|time\.Sleep|Thread\.Sleep|Task\.Delay|asyncio\.sleep|anyio\.sleep|thread::sleep|this_thread::sleep_for|:timer\.sleep|Process\.sleep|Kernel\.sleep|usleep|sleep|delay|setTimeout)\s*\(|\bsleep \d`)},
	{inspect.ActRequest, pattern.New(`\b(?:requests\.(?:get|post|put|patch|delete|request)|httpx\.\w+|urllib\.request\.urlopen|urlopen|fetch|axios(?:\.\w+)?|[rR]estTemplate\.\w+|http\.(?:Get|Post|PostForm)|_?[hH]ttpClient\.\w+|_?client\.(?:PostAsync|GetAsync|SendAsync|Do)|Net::HTTP\.\w+|curl_exec|Faraday\.\w+|HTTParty\.\w+|got(?:\.\w+)?|webClient\.\w+|reqwest::get|HTTPoison\.\w+)\s*\(`)},
	{inspect.ActDatabase, pattern.New(`\b(?:cursor\.execute(?:many)?|\w*[sS]ession\.(?:commit|execute)|\w+\.executeQuery|\w+\.executeUpdate|\w+\.executeBatch|jdbcTemplate\.\w+|\w*[rR]epository\.(?:save|saveAll|find\w*|delete\w*)|db\.(?:Query|Exec|QueryRow|execute|query|collection)|\w+\.SaveChanges(?:Async)?|\w+\.(?:insertOne|insertMany|insert_one|insert_many|updateOne|bulkWrite|bulk_write)|psycopg2\.connect|pg\.query|pool\.query)\s*\(`)},
	{inspect.ActProcess, pattern.New(`\b(?:subprocess\.\w+|os\.system|execSync|spawnSync|child_process\.\w+|exec\.Command|Runtime\.getRuntime\(\)\.exec|Process\.Start)\s*\(`)},
}

// work tells what a program does between two polls.
func (a *acting) work() {
	told := map[inspect.ActKind]int{}
	waits := a.ownSleeps()
	for _, w := range workCalls {
		for _, m := range w.calls.FindAllStringSubmatchIndex(a.bare, -1) {
			if m[0] > 0 && (isNamePart(a.bare[m[0]-1]) || w.kind == inspect.ActSleep && a.bare[m[0]-1] == '.') {
				continue
			}
			if w.kind == inspect.ActSleep && a.rebalancedAt(m[0]) {
				a.callbackSleeps(m[0], m[1])
			}
			r, ok := a.regionAt(m[0])
			if !ok || waits.start <= m[0] && m[0] < waits.end || a.handedOff(m[0], r) || told[w.kind] >= 3 {
				continue
			}
			told[w.kind]++
			a.worked(w.kind, m[0], m[1], r)
		}
	}
	a.backOffs()
}

var promisedTimer = pattern.New(`\bsetTimeout\s*\(`)

// ownSleeps tells of JavaScript's functions that wait, of a promise that a timer resolves,
// and returns the body of the one that is told.
func (a *acting) ownSleeps() (waits block) {
	for _, b := range a.blocks {
		if b.function == "" || b.end-b.start > 300 || !strings.Contains(a.bare[b.start:min(b.end, len(a.bare))], "Promise") || !promisedTimer.MatchString(a.bare[b.start:min(b.end, len(a.bare))]) {
			continue
		}
		for _, at := range a.named[b.function] {
			if r, ok := a.regionAt(at); ok && !a.handedOff(at, r) && awaited.MatchString(a.bare[max(0, at-40):at]) && !workCalls[0].calls.MatchString(b.function+"(") {
				a.worked(inspect.ActSleep, at, at+len(b.function)+1, r)
				return b
			}
		}
	}
	return block{}
}

func (a *acting) worked(kind inspect.ActKind, at, open int, r region) {
	written := strings.TrimRight(a.bare[at:open], "( 0123456789")
	head := inspect.Position{File: a.name, Line: r.head}
	act := inspect.Act{Kind: kind, Where: a.position(at), Call: written, Each: r.each || a.innerLoop(at, r), Other: &head}
	if kind == inspect.ActSleep {
		args, _ := a.arguments(open - 1)
		if a.bare[open-1] != '(' { // Ruby's sleep 40
			args = a.raw[open-1 : min(len(a.raw), open+20)]
			args, _, _ = strings.Cut(args, "\n")
		}
		act.Length = a.sleepLength(written, args)
		if act.Length != nil && act.Length.Duration() < time.Second && !act.Each {
			return
		}
	}
	if a.blocksEventLoop(written, at) {
		blocked := act
		blocked.Kind = inspect.ActBlocksLoop
		a.add(blocked)
	}
	a.add(act)
}

var awaited = pattern.New(`\bawait\s*(?:\w+\.)*$|to_thread\(|run_in_executor\(`)

// blocksEventLoop reports whether a call holds up an event loop that sends heartbeats.
func (a *acting) blocksEventLoop(written string, at int) bool {
	blocking := strings.HasPrefix(written, "time.sleep") || strings.HasPrefix(written, "requests.") || strings.HasPrefix(written, "urllib") || strings.HasPrefix(written, "subprocess.") ||
		written == "os.system" || strings.HasPrefix(written, "psycopg2") || strings.HasPrefix(written, "cursor.") || strings.HasSuffix(written, "Sync")
	return blocking && (a.family == inspect.AIOKafka || a.family == inspect.KafkaJS) && !awaited.MatchString(a.bare[max(0, at-40):at])
}

// sleepLength is how long a sleep is, as far as its text tells.
func (a *acting) sleepLength(written, args string) *inspect.Millis {
	arg := expression(args)
	unit := time.Millisecond
	switch {
	case written == "setTimeout":
		i := strings.LastIndexByte(args, ',')
		if i < 0 {
			return nil
		}
		arg = strings.TrimSpace(args[i+1:])
	case strings.HasPrefix(written, "TimeUnit."):
		unit = timeUnits[strings.ToLower(strings.Split(written, ".")[1])]
	case written == "usleep":
		unit = time.Microsecond
	case a.ext == ".py", a.ext == ".rb", a.ext == ".php", a.ext == ".c", a.ext == ".cpp", strings.HasPrefix(written, "asyncio"), written == "time.sleep":
		unit = time.Second
	}
	text, ok := a.values.of(arg, true)
	if !ok {
		return nil
	}
	if ms, named := strings.CutSuffix(text, "ms"); named {
		text, unit = ms, time.Millisecond
	} else if strings.HasPrefix(written, "time.Sleep") {
		unit = time.Millisecond // the literal is in milliseconds already
	}
	d, ok := duration(text, "ms")
	if !ok || d > 30*24*time.Hour {
		return nil
	}
	return inspect.Ms(d / time.Millisecond * unit)
}

// millis is an expression's time, whose plain numbers are milliseconds; nil where the text
// does not tell, or it is none.
func (a *acting) millis(expr string) *inspect.Millis {
	text, ok := a.values.of(expr, true)
	if !ok {
		return nil
	}
	d, ok := duration(strings.TrimSuffix(text, "ms"), "ms")
	if !ok || d <= 0 {
		return nil
	}
	return inspect.Ms(d)
}

var backOff = pattern.New(`\b(FixedBackOff|ExponentialBackOff|ExponentialBackOffWithMaxRetries|setBackOffPeriod|setMaxInterval|setMaxElapsedTime)\s*\(`)

// backOffs tells how long Spring's error handlers wait between two tries.
func (a *acting) backOffs() {
	for _, m := range backOff.FindAllStringSubmatchIndex(a.bare, -1) {
		args, _ := a.arguments(m[1] - 1)
		if d := a.millis(expression(args)); d != nil {
			a.add(inspect.Act{Kind: inspect.ActBackOff, Where: a.position(m[0]), Call: a.bare[m[2]:m[3]], Length: d})
		}
	}
}
