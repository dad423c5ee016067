package cmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/locate"
)

// locateCluster is a cluster of three brokers (0, 1, 2) that answer FindCoordinator
// as computed, or as the test says.
type locateCluster struct {
	*kfake.Cluster
	addr   string
	answer atomic.Pointer[func(node int32, id string) (int32, error)]
}

func newLocateCluster(t *testing.T, opts ...kfake.Opt) *locateCluster {
	t.Helper()
	kf, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(3), kfake.ClusterID("locatetest"),
		kfake.SeedTopics(50, locate.OffsetsTopic), kfake.SeedTopics(50, locate.TransactionsTopic), kfake.SeedTopics(1, "work")}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(kf.Close)
	c := &locateCluster{Cluster: kf, addr: kf.ListenAddrs()[0]}
	c.say(func(_ int32, id string) (int32, error) { return c.leader(id), nil })
	kf.ControlKey(int16(kmsg.FindCoordinator), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		kf.KeepControl()
		req := kreq.(*kmsg.FindCoordinatorRequest)
		resp := req.ResponseKind().(*kmsg.FindCoordinatorResponse)
		for _, id := range req.CoordinatorKeys {
			sc := kmsg.NewFindCoordinatorResponseCoordinator()
			sc.Key, sc.NodeID = id, -1
			who, err := (*c.answer.Load())(kf.CurrentNode(), id)
			if ke := (*kerr.Error)(nil); errors.As(err, &ke) {
				sc.ErrorCode = ke.Code
			} else {
				sc.NodeID = who
				sc.Host, sc.Port = "127.0.0.1", 1
			}
			resp.Coordinators = append(resp.Coordinators, sc)
		}
		return resp, nil, true
	})
	return c
}

func (c *locateCluster) say(answer func(int32, string) (int32, error)) { c.answer.Store(&answer) }

func (c *locateCluster) leader(id string) int32 {
	p, err := locate.Partition(id, 50)
	if err != nil {
		return -1
	}
	return c.LeaderFor(locate.OffsetsTopic, p)
}

// kgdiag runs one command line against the cluster; ports are written as PORT0….
func (c *locateCluster) kgdiag(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	a, out, errs := testApp()
	a.now = time.Now
	code = runArgs(a, append(args, "-b", c.addr)...)
	return code, c.ports(out.String()), c.ports(errs.String())
}

// ports makes addresses the same in every run.
func (c *locateCluster) ports(s string) string {
	for i, addr := range c.ListenAddrs() {
		s = strings.ReplaceAll(s, addr, fmt.Sprintf("broker-%d:9092", i))
		_, port, _ := strings.Cut(addr, ":")
		s = strings.ReplaceAll(s, port, fmt.Sprintf("%d", 9092+i))
	}
	return s
}

// squeeze makes runs of blanks one, so that a drawing does not hang on the width of
// port numbers.
func squeeze(s string) string {
	var lines []string
	for _, l := range strings.Split(strings.TrimSpace(s), "\n") {
		lines = append(lines, strings.Join(strings.Fields(l), " "))
	}
	return strings.Join(lines, "\n")
}

func TestLocateScreen(t *testing.T) {
	c := newLocateCluster(t)
	p, _ := locate.Partition("orders", 50)
	c.MoveTopicPartition(locate.OffsetsTopic, p, 2)
	code, out, errs := c.kgdiag(t, "locate", "orders")
	want := `broker-0:9092 (locate, 3 brokers)
GROUP PARTITION COORDINATOR REPLICAS ISR AGREEMENT
orders __consumer_offsets-31 2 (broker-2:9092) REPLICAS`
	got := squeeze(out)
	if code != exitOK || errs != "" || !strings.HasPrefix(got, strings.TrimSuffix(want, "REPLICAS")) || !strings.HasSuffix(got, "agrees") {
		t.Errorf("exit %d, stderr %q\n%s", code, errs, got)
	}
}

// The keys that runbooks lean on, with their values.
func TestLocateJSON(t *testing.T) {
	c := newLocateCluster(t)
	c.say(func(node int32, id string) (int32, error) {
		if node == 2 {
			return (c.leader(id) + 1) % 3, nil
		}
		return c.leader(id), nil
	})
	code, out, errs := c.kgdiag(t, "locate", "foo", "-o", "json")
	if code != exitOK || errs != "" {
		t.Fatalf("exit %d: %s", code, errs)
	}
	var doc struct {
		Schema  string `json:"schema"`
		Cluster struct {
			ID                string `json:"id"`
			Brokers           int    `json:"brokers"`
			OffsetsPartitions int    `json:"offsets_partitions"`
		} `json:"cluster"`
		Gaps   []any `json:"gaps"`
		Groups []struct {
			Group     string `json:"group"`
			Hash      int32  `json:"hash"`
			Partition int32  `json:"partition"`
			Leader    struct {
				ID   *int32 `json:"id"`
				Host string `json:"host"`
				Port int    `json:"port"`
			} `json:"leader"`
			Coordinator struct {
				ID *int32 `json:"id"`
			} `json:"coordinator"`
			Replicas  []int32 `json:"replicas"`
			ISR       []int32 `json:"isr"`
			Agreement string  `json:"agreement"`
			Answers   []struct {
				Broker      *int32  `json:"broker"`
				Coordinator *int32  `json:"coordinator"`
				Error       *string `json:"error"`
			} `json:"answers"`
		} `json:"groups"`
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Schema != "kgdiag.locate/v1" || doc.Cluster.ID != "locatetest" || doc.Cluster.Brokers != 3 || doc.Cluster.OffsetsPartitions != 50 || doc.Gaps == nil || len(doc.Groups) != 1 {
		t.Fatalf("%s", out)
	}
	g := doc.Groups[0]
	leader := c.leader("foo")
	if g.Group != "foo" || g.Hash != 101574 || g.Partition != 24 || *g.Leader.ID != leader || g.Leader.Host == "" || g.Leader.Port == 0 ||
		*g.Coordinator.ID != leader || len(g.Replicas) == 0 || len(g.ISR) == 0 || g.Agreement != "disagrees" || len(g.Answers) != 3 {
		t.Errorf("%+v", g)
	}
	for _, a := range g.Answers {
		if a.Error != nil || a.Broker == nil || a.Coordinator == nil {
			t.Errorf("answer %+v", a)
		}
	}
}

func TestLocateDisagreementIsExplained(t *testing.T) {
	c := newLocateCluster(t)
	odd := func(node int32, id string) (int32, error) {
		if node == 1 {
			p, err := locate.Partition(id, 30)
			return c.LeaderFor(locate.OffsetsTopic, p), err
		}
		return c.leader(id), nil
	}
	c.say(odd)
	id := ""
	for i := 0; id == ""; i++ {
		try := fmt.Sprintf("g%d", i)
		if who, _ := odd(1, try); who != c.leader(try) {
			id = try
		}
	}
	_, out, _ := c.kgdiag(t, "locate", id)
	if !strings.Contains(out, "disagrees") || !strings.Contains(out, "broker 1 still counts 30 partitions where the topic has 50") ||
		!strings.Contains(out, "brokers 0,2 answer") {
		t.Error(out)
	}
}

func TestLocateDeniedIsAGap(t *testing.T) {
	c := newLocateCluster(t)
	c.say(func(_ int32, id string) (int32, error) {
		if id == "secret" {
			return -1, kerr.GroupAuthorizationFailed
		}
		return c.leader(id), nil
	})
	code, out, _ := c.kgdiag(t, "locate", "orders", "secret")
	if code != exitOK || !strings.Contains(out, "unverified") || !strings.Contains(out, "DESCRIBE on the Group resource") || !strings.Contains(out, "agrees") {
		t.Errorf("exit %d\n%s", code, out)
	}
	if code, _, errs := c.kgdiag(t, "locate", "secret", "--strict"); code != exitIncomplete || !strings.Contains(errs, "--strict") {
		t.Errorf("--strict: exit %d: %s", code, errs)
	}
}

func TestLocateExitCodes(t *testing.T) {
	c := newLocateCluster(t)
	virgin := &locateCluster{}
	kf, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(kf.Close)
	virgin.Cluster, virgin.addr = kf, kf.ListenAddrs()[0]
	for _, x := range []struct {
		on   *locateCluster
		args string
		code int
		says string
	}{
		{c, "locate no-such-group", exitOK, ""},
		{c, "locate " + strings.Repeat("é", 300), exitOK, ""},
		{c, "locate --partition 49", exitOK, ""},
		{c, "locate --partition 50", exitNotFound, "partition 50: __consumer_offsets has 50 partitions, 0 to 49"},
		{c, "locate --partition -2", exitUsage, "want a number from 0"},
		{c, "locate --broker 7", exitNotFound, "broker 7: not in the cluster (brokers 0,1,2)"},
		{c, "locate orders --if-down 7", exitNotFound, "broker 7"},
		{c, "locate --broker 1 --partition 1", exitUsage, "want one of them"},
		{c, "locate --broker 1 orders", exitUsage, "take none"},
		{c, "locate orders --all-groups", exitUsage, "exclude each other"},
		{c, "locate orders --regex o.*", exitUsage, "one or the other"},
		{c, "locate --state Bogus", exitUsage, `--state "Bogus": not known, want PreparingRebalance`},
		{c, "locate orders --partitions 50", exitUsage, "--offline only"},
		{c, "locate --offline --partitions 50 --broker 1 x", exitUsage, "asks no cluster"},
		{c, "locate --offline x", exitUsage, "how many partitions"},
		{c, "locate --offline --partitions 0 x", exitUsage, "want at least 1"},
		{c, "locate --regex [", exitUsage, "--regex"},
		{c, "locate --type new", exitUsage, "not known"},
		{c, "locate x\xff", exitUsage, "not valid UTF-8"},
		{c, "locate", exitUsage, "which group?"},
		{virgin, "locate orders", exitNotFound, "__consumer_offsets does not exist"},
		{virgin, "locate --transactional-id tx", exitNotFound, "__transaction_state does not exist"},
		{virgin, "locate --all-groups", exitNotFound, "__consumer_offsets does not exist"},
	} {
		code, out, errs := x.on.kgdiag(t, strings.Fields(x.args)...)
		if code != x.code || !strings.Contains(errs, x.says) {
			t.Errorf("%s: exit %d, want %d; stderr %q; stdout %q", x.args, code, x.code, errs, out)
		}
		if code != exitOK && out != "" {
			t.Errorf("%s: an error, and still on stdout: %q", x.args, out)
		}
	}
	for _, topic := range []string{locate.OffsetsTopic, locate.TransactionsTopic} {
		if kf.TopicInfo(topic) != nil {
			t.Errorf("%s was created", topic)
		}
	}
}

func TestLocateOffline(t *testing.T) {
	a, out, errs := testApp()
	a.streams.In = strings.NewReader("foo\n\nmy-group\r\nfoo\npolygenelubricants\n")
	if code := runArgs(a, "locate", "--offline", "--partitions", "50", "-", "-o", "tsv"); code != exitOK || errs.String() != "" {
		t.Fatalf("exit %d: %s", code, errs)
	}
	want := "GROUP\tPARTITION\tHASH\nfoo\t__consumer_offsets-24\t101574\nmy-group\t__consumer_offsets-12\t-1906497762\npolygenelubricants\t__consumer_offsets-0\t-2147483648\n"
	if out.String() != want {
		t.Errorf("%q", out)
	}
	a, out, _ = testApp()
	if runArgs(a, "locate", "--offline", "--partitions", "50", "--transactional-id", "tx", "-o", "json"); !strings.Contains(out.String(), `"transactional_id": "tx"`) ||
		!strings.Contains(out.String(), `"topic": "__transaction_state"`) || !strings.Contains(out.String(), `"leader": null`) {
		t.Error(out)
	}
}

// The inverse, with groups that really are on the cluster.
func TestLocateInverse(t *testing.T) {
	c := newLocateCluster(t)
	// kfake places groups by a rule of its own: put each where it belongs by moving the
	// partition to the coordinator that kfake chose.
	ids := []string{"alpha", "beta", "gamma"}
	for _, id := range ids {
		p, _ := locate.Partition(id, 50)
		c.MoveTopicPartition(locate.OffsetsTopic, p, c.CoordinatorFor(id))
		cl, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.ConsumerGroup(id), kgo.ConsumeTopics("work"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(cl.Close)
	}
	c.say(func(_ int32, id string) (int32, error) { return c.CoordinatorFor(id), nil })
	await(t, func() bool {
		_, out, _ := c.kgdiag(t, "locate", "--all-groups", "-o", "tsv")
		return strings.Count(out, "\n") == 1+len(ids)
	})
	seen := 0
	for broker := range int32(3) {
		code, out, errs := c.kgdiag(t, "locate", "--broker", fmt.Sprint(broker))
		if code != exitOK {
			t.Fatalf("exit %d: %s", code, errs)
		}
		if !strings.Contains(out, "leads ") || !strings.Contains(out, "3 of 3 brokers listed their ids") {
			t.Errorf("broker %d:\n%s", broker, out)
		}
		for _, id := range ids {
			here := strings.Contains(out, "\n"+id+" ")
			if here != (c.CoordinatorFor(id) == broker) {
				t.Errorf("broker %d and %s:\n%s", broker, id, out)
			}
			if here {
				seen++
			}
		}
	}
	if seen != len(ids) {
		t.Errorf("%d groups found at brokers, want %d", seen, len(ids))
	}
	p, _ := locate.Partition("beta", 50)
	if _, out, _ := c.kgdiag(t, "locate", "--partition", fmt.Sprint(p)); !strings.Contains(out, "1 group in it") || !strings.Contains(out, "\nbeta ") {
		t.Errorf("partition %d:\n%s", p, out)
	}
	if _, out, _ := c.kgdiag(t, "locate", "--regex", "(al|be).*", "-o", "tsv"); strings.Count(out, "\n") != 3 {
		t.Errorf("--regex:\n%s", out)
	}
	if _, out, _ := c.kgdiag(t, "locate", "beta", "--if-down", fmt.Sprint(c.CoordinatorFor("beta"))); !strings.Contains(out, "-DOWN") {
		t.Errorf("--if-down:\n%s", out)
	}
}

// await waits for a condition, at most ten seconds.
func await(t *testing.T, ok func() bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for !ok() {
		select {
		case <-deadline:
			t.Fatal("waited ten seconds in vain")
		case <-time.After(20 * time.Millisecond):
		}
	}
}
