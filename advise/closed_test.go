package advise_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/clientconf"
)

// weigh counts the findings of each rule, and the warnings and errors among them.
func weigh(r advise.Report) (all, heavy map[string]int) {
	all, heavy = map[string]int{}, map[string]int{}
	for _, f := range r.Findings {
		all[f.ID]++
		if f.Severity != advise.Info {
			heavy[f.ID] += map[advise.Severity]int{advise.Warning: 1, advise.Error: 1000}[f.Severity]
		}
	}
	return all, heavy
}

// closed follows every piece of advice on a case, and reports advice that does not
// take its own finding away or that earns new warnings or errors.
func closed(c *inspect.Case) (followed int, complaint string) {
	before := advise.Evaluate(c, advise.Options{})
	all, heavy := weigh(before)
	for _, f := range before.Findings {
		if f.Fix == nil {
			continue
		}
		for n := 0; n <= len(f.Fix.Alternatives); n++ {
			if n == 0 && len(f.Fix.Set) == 0 && len(f.Fix.Delete) == 0 {
				continue
			}
			followed++
			after := advise.Apply(c, f, n)
			nowAll, nowHeavy := weigh(advise.Evaluate(&after, advise.Options{Untried: true}))
			what := fmt.Sprintf("%s of %s (%s): set %v, delete %v, alternatives %v, number %d", f.ID, f.Subject, f.Message, f.Fix.Set, f.Fix.Delete, f.Fix.Alternatives, n)
			if nowAll[f.ID] >= all[f.ID] {
				return followed, what + ": the finding is still there"
			}
			for id, weight := range nowHeavy {
				if weight > heavy[id] {
					return followed, fmt.Sprintf("%s: brings %s", what, id)
				}
			}
		}
	}
	return followed, ""
}

func TestClosedUnderItsOwnAdviceOnFixtures(t *testing.T) {
	followed := 0
	for _, f := range fixtures(t) {
		n, complaint := closed(&f.Case)
		followed += n
		if complaint != "" {
			t.Errorf("%s: %s", f.Path, complaint)
		}
	}
	if followed < 20 {
		t.Errorf("only %d pieces of advice were followed", followed)
	}
}

// TestClosedOnPairs lays the settings of two firing fixtures over each other.
func TestClosedOnPairs(t *testing.T) {
	fs := fixtures(t)
	pairs := 0
	for i := range fs {
		for j := i + 1; j < len(fs); j++ {
			a, b := &fs[i], &fs[j]
			if a.Kind != "fires" || b.Kind != "fires" || a.Rule == b.Rule || len(a.Case.Configs) != 1 || len(b.Case.Configs) != 1 {
				continue
			}
			pairs++
			if _, complaint := closed(overlay(&a.Case, &b.Case)); complaint != "" {
				t.Errorf("%s with %s: %s", a.Path, b.Path, complaint)
			}
		}
	}
	if pairs < 50 {
		t.Errorf("only %d pairs", pairs)
	}
}

func overlay(a, b *inspect.Case) *inspect.Case {
	c := *a
	cfg := c.Configs[0]
	cfg.Settings = append([]inspect.Setting(nil), cfg.Settings...)
	for _, s := range b.Configs[0].Settings {
		if _, ok := cfg.Get(s.Key); !ok {
			cfg.Settings = append(cfg.Settings, s)
		}
	}
	cfg.Problems = append(append([]inspect.ConfigProblem(nil), cfg.Problems...), b.Configs[0].Problems...)
	c.Configs = []inspect.ClientConfig{cfg}
	if c.Declared.BatchTime == nil {
		c.Declared.BatchTime = b.Declared.BatchTime
	}
	if c.Declared.GCPause == nil {
		c.Declared.GCPause = b.Declared.GCPause
	}
	if len(c.Brokers) == 0 {
		c.Brokers = b.Brokers
	}
	if len(c.Groups) == 0 {
		c.Groups, c.Timelines, c.Topics = b.Groups, b.Timelines, b.Topics
	}
	return &c
}

// TestClosedOnRandomConfigurations does so for configurations that nobody thought of.
func TestClosedOnRandomConfigurations(t *testing.T) {
	n := 10000 / raceFactor
	if os.Getenv("KGDIAG_TEST_FULL") != "" {
		n = 10000
	}
	if testing.Short() {
		n = 500 / raceFactor
	}
	fired, followed := 0, 0
	for seed := range n {
		c := randomCase(uint64(seed))
		fired += len(advise.Evaluate(c, advise.Options{Untried: true}).Findings)
		k, complaint := closed(c)
		followed += k
		if complaint != "" {
			t.Fatalf("seed %d: %s\n%s", seed, complaint, describe(c))
		}
	}
	t.Logf("%d configurations: %d findings, %d pieces of advice followed", n, fired, followed)
	if followed < n {
		t.Errorf("only %d pieces of advice were followed over %d configurations", followed, n)
	}
}

func describe(c *inspect.Case) string {
	out := ""
	for _, cfg := range c.Configs {
		out += fmt.Sprintf("%s@%s", cfg.Family, cfg.Version)
		for _, s := range cfg.Settings {
			out += fmt.Sprintf(" %s=%s", s.Key, s.Value)
		}
		out += "\n"
	}
	d := c.Declared
	return out + fmt.Sprintf("batch %v record %v pause %v brokers %v", inspect.Or(d.BatchTime, 0), inspect.Or(d.RecordTime, 0), inspect.Or(d.GCPause, 0), c.Brokers)
}

// pools are the values that random configurations draw from: usual ones, edges,
// and slips.
var pools = map[string][]string{
	"session.timeout.ms":    {"45", "3000", "6000", "7000", "9000", "10000", "30000", "45000", "60000", "300000", "600000", "1800000", "3600000", "30000000000", "2147483647"},
	"heartbeat.interval.ms": {"3", "100", "1000", "2000", "3000", "3333", "10000", "15000", "20000", "45000", "100000"},
	"max.poll.interval.ms":  {"1", "300", "3000", "10000", "60000", "300000", "480000", "600000", "900000", "1800000", "3600000", "86400000", "2147483647"},
	"max.poll.records":      {"1", "2", "10", "100", "500", "1000", "10000"},
	"rebalance.timeout.ms":  {"100", "5000", "30000", "60000", "300000", "3600000"},
	"request.timeout.ms":    {"5000", "30000", "40000", "60000", "305000", "86400000"}, "socket.timeout.ms": {"10000", "30000", "60000", "300000"},
	"connections.max.idle.ms": {"60000", "180000", "540000"}, "fetch.max.wait.ms": {"500", "30000", "300000"},
	"group.protocol": {"classic", "consumer", "CONSUMER", "nonsense"}, "group.instance.id": {"pod-0", "orders-7d9f8b6c5d-x2v9k", "", "a b"},
	"partition.assignment.strategy": {"range", "cooperative-sticky", "range,cooperative-sticky", "org.apache.kafka.clients.consumer.StickyAssignor", "roundrobin"},
	"group.remote.assignor":         {"uniform", "range", "mine"}, "bootstrap.servers": {"kafka:9092", "ns.servicebus.windows.net:9093"},
	"scheduled.rebalance.max.delay.ms": {"0", "60000", "300000"}, "max.task.idle.ms": {"0", "60000", "600000"}, "metadata.max.age.ms": {"180000", "300000"},
	"group.max.size": {"3"}, "linger.ms": {"5"}, "max.poll.intervall.ms": {"600000"}, "isolation.level": {"read_committed"},
}

var randomClients = map[inspect.Family][]string{
	inspect.Java: {"", "0.9.0.1", "0.10.0.1", "0.10.2.2", "1.1.1", "2.0.0", "2.8.2", "3.0.2", "3.7.1", "4.0.0", "4.3.0"}, inspect.Librdkafka: {"", "0.11.6", "1.0.1", "1.6.2", "2.3.0", "2.12.0", "2.16.0"},
	inspect.StreamsLib: {"1.1.0", "2.2.0", "3.7.0", "4.1.0"}, inspect.Connect: {"2.2.0", "3.5.1", "3.9.0"}, inspect.Sarama: {"1.43.0"}, inspect.FranzGo: {"1.22.3"},
	inspect.KafkaGo: {"0.4.47"}, inspect.KafkaJS: {"2.2.4"}, inspect.KafkaPython: {"1.3.5", "1.4.6", "2.0.2", "3.0.0"}, inspect.AIOKafka: {"0.8.0", "0.12.0"},
}

func randomCase(seed uint64) *inspect.Case {
	r := rand.New(rand.NewPCG(seed, 1))
	families := []inspect.Family{inspect.Java, inspect.Java, inspect.Java, inspect.Librdkafka, inspect.Librdkafka, inspect.StreamsLib, inspect.Connect,
		inspect.Sarama, inspect.FranzGo, inspect.KafkaGo, inspect.KafkaJS, inspect.KafkaPython, inspect.AIOKafka}
	c := &inspect.Case{}
	for i := range 1 + r.IntN(5)/4 {
		f := families[r.IntN(len(families))]
		vs := randomClients[f]
		cfg := inspect.ClientConfig{Where: inspect.Position{File: fmt.Sprintf("r%d.properties", i)}, Dialect: "java", Family: f, Version: vs[r.IntN(len(vs))]}
		cfg.Assumed = cfg.Version == ""
		var keys []string
		for k := range pools {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for line, k := range keys {
			if r.IntN(4) == 0 {
				pool := pools[k]
				clientconf.Override(&cfg, k, pool[r.IntN(len(pool))])
				if n := len(cfg.Settings); n > 0 && cfg.Settings[n-1].Key == k {
					cfg.Settings[n-1].Where, cfg.Settings[n-1].Origin = inspect.Position{File: cfg.Where.File, Line: line + 1}, inspect.OriginSet
				}
			}
		}
		if r.IntN(2) == 0 {
			cfg.Group = "g"
		}
		c.Configs = append(c.Configs, cfg)
	}
	times := []time.Duration{time.Millisecond, 200 * time.Millisecond, 3 * time.Second, 12 * time.Second, time.Minute, 4*time.Minute + 30*time.Second, 8 * time.Minute, 50 * time.Minute, 20 * time.Hour, 50 * time.Hour}
	pick := func(odds int) *inspect.Millis {
		if r.IntN(odds) > 0 {
			return nil
		}
		return inspect.Ms(times[r.IntN(len(times))])
	}
	c.Declared = inspect.Declared{BatchTime: pick(2), RecordTime: pick(4), GCPause: pick(3)}
	if r.IntN(2) == 0 {
		bounds := [][2]string{{"6000", "1800000"}, {"6000", "30000"}, {"20000", "300000"}, {"1", "2147483647"}}[r.IntN(4)]
		c.Brokers = []inspect.Broker{{BrokerRef: inspect.BrokerRef{ID: 1}, Config: map[string]string{
			"group.min.session.timeout.ms": bounds[0], "group.max.session.timeout.ms": bounds[1]}}}
	}
	return c
}

// TestClosedOnRandomGroups does so for live groups: members of several libraries,
// with and without a history of missed polls.
func TestClosedOnRandomGroups(t *testing.T) {
	n := 2000 / raceFactor
	if testing.Short() {
		n = 200 / raceFactor
	}
	followed := 0
	for seed := range n {
		c := randomGroup(uint64(seed))
		k, complaint := closed(c)
		followed += k
		if complaint != "" {
			t.Fatalf("seed %d: %s\n%s", seed, complaint, describeCase(c))
		}
	}
	if followed < n/2 {
		t.Errorf("only %d pieces of advice were followed over %d groups", followed, n)
	}
}

func randomGroup(seed uint64) *inspect.Case {
	r := rand.New(rand.NewPCG(seed, 2))
	families := []inspect.Family{inspect.Java, inspect.Java, inspect.Librdkafka, inspect.Sarama, inspect.FranzGo, inspect.KafkaPython, inspect.Unknown}
	sessions := []time.Duration{6 * time.Second, 8 * time.Second, 10 * time.Second, 45 * time.Second, 10 * time.Minute, 30 * time.Minute}
	polls := []time.Duration{30 * time.Second, time.Minute, 5 * time.Minute, 10 * time.Minute, time.Hour, 1<<31*time.Millisecond - time.Millisecond}
	g := inspect.Group{ID: "g", Type: inspect.Classic, ProtocolType: "consumer", State: "Stable", Assignor: "range",
		Limits: inspect.Limits{SessionMin: inspect.Ms(6 * time.Second), SessionMax: inspect.Ms(30 * time.Minute), From: "broker 1 config"}}
	if r.IntN(4) == 0 {
		g.Type = inspect.Consumer
	}
	same := r.IntN(2) == 0
	session, poll, family := sessions[r.IntN(len(sessions))], polls[r.IntN(len(polls))], families[r.IntN(len(families))]
	for i := range 1 + r.IntN(4) {
		if !same {
			session, poll, family = sessions[r.IntN(len(sessions))], polls[r.IntN(len(polls))], families[r.IntN(len(families))]
		}
		m := inspect.Member{MemberID: fmt.Sprintf("m%d", i), ClientID: fmt.Sprintf("c%d", i), Host: "h", Client: inspect.ClientGuess{Family: family, Confidence: inspect.High},
			Protocol: g.Type, Session: inspect.Ms(session), Rebalance: inspect.Ms(poll), Topics: []string{"t"}, Assignment: []inspect.TopicPartitions{{Topic: "t", Partitions: []int32{int32(i)}}}}
		g.Members = append(g.Members, m)
	}
	c := &inspect.Case{Cluster: inspect.Cluster{Bootstrap: "b:9092", Brokers: 3}, Groups: []inspect.Group{g}, Topics: []inspect.Topic{{Name: "t", Partitions: 8}}}
	if r.IntN(2) == 0 {
		t := inspect.Timeline{Group: "g"}
		for range r.IntN(4) {
			m := g.Members[r.IntN(len(g.Members))]
			stall := []time.Duration{40 * time.Second, 7*time.Minute + 48*time.Second, 2 * time.Hour}[r.IntN(3)]
			t.Rebalances = append(t.Rebalances, inspect.Rebalance{Cause: inspect.PollIntervalExceeded, Confidence: inspect.High, Stall: inspect.Ms(stall),
				Members: inspect.Change{Left: []inspect.Departure{{ClientID: m.ClientID, Host: m.Host, MemberID: m.MemberID, Client: m.Client, Cause: inspect.PollIntervalExceeded,
					Confidence: inspect.High, Session: m.Session, Rebalance: m.Rebalance}}}})
		}
		c.Timelines = []inspect.Timeline{t}
	}
	if r.IntN(3) == 0 {
		c.Declared.BatchTime = inspect.Ms([]time.Duration{20 * time.Second, 4 * time.Minute, 8 * time.Minute, 3 * time.Hour}[r.IntN(4)])
	}
	if r.IntN(4) == 0 {
		c.Declared.GCPause = inspect.Ms([]time.Duration{2 * time.Second, 12 * time.Second, 50 * time.Second}[r.IntN(3)])
	}
	if r.IntN(4) == 0 {
		c.Configs = []inspect.ClientConfig{{Where: inspect.Position{File: "c.properties"}, Dialect: "java", Family: inspect.Java, Version: "3.7.0", Group: "g", Settings: []inspect.Setting{}}}
		clientconf.Override(&c.Configs[0], "session.timeout.ms", fmt.Sprint(sessions[r.IntN(len(sessions))].Milliseconds()))
	}
	return c
}

// TestManyGroupsFitOnAPage: whatever 2,000 groups have, a finding of many is told once.
func TestManyGroupsFitOnAPage(t *testing.T) {
	all := inspect.Case{Cluster: inspect.Cluster{Bootstrap: "b:9092", Brokers: 3}, Topics: []inspect.Topic{{Name: "t", Partitions: 8}}}
	for i := range 2000 / raceFactor {
		c := randomGroup(uint64(i))
		g := c.Groups[0]
		g.ID = fmt.Sprintf("team-%02d.service-%04d", i%40, i)
		all.Groups = append(all.Groups, g)
		for _, timeline := range c.Timelines {
			timeline.Group = g.ID
			all.Timelines = append(all.Timelines, timeline)
		}
	}
	var shown []advise.Finding
	for _, f := range advise.Evaluate(&all, advise.Options{}).Findings {
		if f.Severity.Rank() >= advise.Warning.Rank() {
			shown = append(shown, f)
		}
	}
	if told := advise.Together(shown, false); len(shown) < 500/raceFactor || len(told) > 12 {
		t.Errorf("%d findings are told in %d entries: over a page", len(shown), len(told))
	}
}
