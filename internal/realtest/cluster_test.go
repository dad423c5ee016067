//go:build realkafka

package realtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/kgdiag/kgdiag/locate"
)

// patience is how long a client or watch may take to show what a test waits for:
// much longer than it ever takes, since a busy machine is not a fault of kgdiag's.
const patience = 150 * time.Second

// cluster is a running Kafka cluster.
type cluster struct {
	t         *testing.T
	bootstrap string
	home      string // KGDIAG_KAFKA_HOME
}

// shared is the cluster that scripts/test brought up: not to be broken.
func shared(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{t: t, bootstrap: os.Getenv("KGDIAG_TEST_BOOTSTRAP"), home: os.Getenv("KGDIAG_KAFKA_HOME")}
	if c.bootstrap == "" || c.home == "" {
		t.Fatal("KGDIAG_TEST_BOOTSTRAP and KGDIAG_KAFKA_HOME are not set: run scripts/test")
	}
	return c
}

// own starts a cluster for this test alone and ends it with the test.
func own(t *testing.T, args ...string) *cluster {
	t.Helper()
	c := &cluster{t: t, home: filepath.Join(t.TempDir(), "kafka")}
	t.Cleanup(func() { c.script("down") })
	c.bootstrap = strings.TrimSpace(c.script(append([]string{"up"}, args...)...))
	return c
}

// script runs scripts/kafka on the cluster and gives its standard output.
func (c *cluster) script(args ...string) string {
	c.t.Helper()
	cmd := exec.Command(filepath.Join(repository, "scripts", "kafka"), args...)
	cmd.Env = append(os.Environ(), "KGDIAG_KAFKA_HOME="+c.home)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		c.t.Fatalf("scripts/kafka %s: %v\n%s%s", strings.Join(args, " "), err, stdout.String(), stderr.String())
	}
	return stdout.String()
}

// client is a fresh franz-go client, closed with the test.
func (c *cluster) client(opts ...kgo.Opt) *kgo.Client {
	c.t.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(strings.Split(c.bootstrap, ",")...)}, opts...)...)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(cl.Close)
	return cl
}

// topic makes a topic, with three replicas where the cluster has so many brokers, and
// waits until every broker has heard of it.
func (c *cluster) topic(name string, partitions int32) {
	c.t.Helper()
	replicas := int16(min(3, len(strings.Split(c.bootstrap, ","))))
	ctx, cancel := context.WithTimeout(c.t.Context(), 30*time.Second)
	defer cancel()
	cl := c.client()
	if _, err := kadm.NewClient(cl).CreateTopic(ctx, partitions, replicas, nil, name); err != nil {
		c.t.Fatalf("topic %s: %v", name, err)
	}
	req := kmsg.NewPtrMetadataRequest()
	asked := kmsg.NewMetadataRequestTopic()
	asked.Topic = kmsg.StringPtr(name)
	req.Topics = append(req.Topics, asked)
	for _, b := range cl.DiscoveredBrokers() {
		eventually(c.t, patience, "every broker knows "+name, func() error {
			resp, err := req.RequestWith(ctx, b)
			if err != nil {
				return err
			}
			return kerr.ErrorForCode(resp.Topics[0].ErrorCode)
		})
	}
}

// produce keeps perSecond records a second flowing into the topic, over all its
// partitions in turn, until the test ends.
func (c *cluster) produce(topic string, perSecond int) {
	c.t.Helper()
	// Not every client of the laboratory reads snappy, franz-go's own choice.
	cl := c.client(kgo.DefaultProduceTopic(topic), kgo.RecordPartitioner(kgo.RoundRobinPartitioner()),
		kgo.ProducerBatchCompression(kgo.NoCompression()))
	stop := make(chan struct{})
	ended := make(chan struct{})
	c.t.Cleanup(func() { close(stop); <-ended })
	go func() {
		defer close(ended)
		tick := time.NewTicker(time.Second / time.Duration(perSecond))
		defer tick.Stop()
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			case <-tick.C:
				cl.Produce(context.Background(), kgo.StringRecord(strconv.Itoa(n)), nil)
			}
		}
	}()
}

// topics lists all topics, internal ones too, as a fresh client sees them.
func (c *cluster) topics() []string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 30*time.Second)
	defer cancel()
	list, err := kadm.NewClient(c.client()).ListTopicsWithInternal(ctx)
	if err != nil {
		c.t.Fatal(err)
	}
	return list.Names()
}

// coordinator is the broker that the cluster names for a group.
func (c *cluster) coordinator(group string) int32 {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 30*time.Second)
	defer cancel()
	for {
		r := kadm.NewClient(c.client()).FindGroupCoordinators(ctx, group)[group]
		if r.Err == nil {
			return r.NodeID
		}
		if ctx.Err() != nil {
			c.t.Fatalf("coordinator of %s: %v", group, r.Err)
		}
	}
}

// generations reads the group's metadata records from its offsets partition, with
// kmsg's decoder: the classic generations that the broker wrote, in order.
func (c *cluster) generations(group string) []int32 {
	c.t.Helper()
	var out []int32
	for _, r := range c.offsetsRecords() {
		var k kmsg.GroupMetadataKey
		if k.ReadFrom(r.Key) != nil || k.Version != 2 || k.Group != group || r.Value == nil {
			continue
		}
		var v kmsg.GroupMetadataValue
		if err := v.ReadFrom(r.Value); err != nil {
			c.t.Fatalf("record %d of partition %d: %v", r.Offset, r.Partition, err)
		}
		out = append(out, v.Generation)
	}
	return out
}

// offsetsRecords reads all of __consumer_offsets as it is now, fetch by fetch: a consumer that
// waits for the record before the end waits forever where the cleaner has just eaten it.
func (c *cluster) offsetsRecords() []*kgo.Record {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	cl := c.client(kgo.MaxVersions(kversion.V2_8_0())) // names topics, where later ones give their ids
	ends, err := kadm.NewClient(cl).ListEndOffsets(ctx, locate.OffsetsTopic)
	if err != nil {
		c.t.Fatal(err)
	}
	topics, err := kadm.NewClient(cl).ListTopicsWithInternal(ctx, locate.OffsetsTopic)
	if err != nil {
		c.t.Fatal(err)
	}
	starts, err := kadm.NewClient(cl).ListStartOffsets(ctx, locate.OffsetsTopic)
	if err != nil {
		c.t.Fatal(err)
	}
	var out []*kgo.Record
	ends.Each(func(end kadm.ListedOffset) {
		start, _ := starts.Lookup(end.Topic, end.Partition)
		leader := topics[end.Topic].Partitions[end.Partition].Leader
		for at := start.Offset; at < end.Offset; {
			p := c.fetchOffsets(ctx, cl.Broker(int(leader)), end.Partition, at)
			if len(p.RecordBatches) == 0 && p.HighWatermark >= end.Offset {
				return // the cleaner has taken the rest
			}
			read, next := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{Topic: end.Topic, Partition: end.Partition, Offset: at}, p, kgo.DefaultDecompressor(), nil)
			if read.Err != nil {
				c.t.Fatalf("%s/%d, offset %d: %v", end.Topic, end.Partition, at, read.Err)
			}
			out, at = append(out, read.Records...), next
		}
	})
	return out
}

// fetchOffsets fetches from one partition of __consumer_offsets.
func (c *cluster) fetchOffsets(ctx context.Context, leader *kgo.Broker, partition int32, at int64) *kmsg.FetchResponseTopicPartition {
	c.t.Helper()
	req := kmsg.NewPtrFetchRequest()
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes = 500, 1, 1<<24
	part := kmsg.NewFetchRequestTopicPartition()
	part.Partition, part.FetchOffset, part.PartitionMaxBytes = partition, at, 1<<24
	topic := kmsg.NewFetchRequestTopic()
	topic.Topic, topic.Partitions = locate.OffsetsTopic, append(topic.Partitions, part)
	req.Topics = append(req.Topics, topic)
	resp, err := req.RequestWith(ctx, leader)
	if err != nil {
		c.t.Fatalf("%s/%d, offset %d: %v", locate.OffsetsTopic, partition, at, err)
	}
	if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
		c.t.Fatalf("%s/%d, offset %d: answer %+v", locate.OffsetsTopic, partition, at, resp)
	}
	return &resp.Topics[0].Partitions[0]
}

// logged waits until a line of some broker's log matches, and gives its time.
func (c *cluster) logged(pattern string) time.Time {
	c.t.Helper()
	var at time.Time
	eventually(c.t, 60*time.Second, "a broker's log says "+pattern, func() error {
		times, err := c.grep(pattern)
		if err != nil {
			return err
		}
		if len(times) == 0 {
			return errors.New("no such line")
		}
		at = times[0]
		return nil
	})
	return at
}

// hasLogged reports whether a line that matches was written after a moment.
func (c *cluster) hasLogged(since time.Time, pattern string) bool {
	c.t.Helper()
	times, err := c.grep(pattern)
	if err != nil {
		c.t.Fatal(err)
	}
	return slices.ContainsFunc(times, since.Before)
}

// grep gives the times of the lines in all brokers' logs that match.
func (c *cluster) grep(pattern string) ([]time.Time, error) {
	re := regexp.MustCompile(pattern)
	files, err := filepath.Glob(filepath.Join(c.home, "node-*", "logs", "server.log"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no broker logs in %s", c.home)
	}
	var out []time.Time
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		for line := range bytes.Lines(text) {
			if !re.Match(line) || len(line) <= 24 || line[0] != '[' {
				continue
			}
			at, err := time.ParseInLocation("2006-01-02 15:04:05,000", string(line[1:24]), time.Local)
			if err != nil {
				return nil, err
			}
			out = append(out, at)
		}
	}
	return out, nil
}

// eventually calls f until it gives no error.
func eventually(t *testing.T, limit time.Duration, what string, f func() error) {
	t.Helper()
	end := time.Now().Add(limit)
	for {
		err := f()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s: not within %s: %v", what, limit, err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

var names atomic.Int64

// name makes a name that no other test and no earlier run on the cluster uses.
func name(prefix string) string {
	return fmt.Sprintf("rt-%s-%x-%d", prefix, os.Getpid(), names.Add(1))
}
