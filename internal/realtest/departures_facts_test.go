//go:build realkafka

package realtest

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/collect"
)

// version is the brokers' version.
func (c *cluster) version() string {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.home, "version"))
	if err != nil {
		c.t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// poll looks at the group every 250 ms, as watch does, until the function it gives is
// called, which gives what was seen.
func (c *cluster) poll(group string) func() []inspect.Observation {
	p := collect.New(c.client(), collect.Options{}).NewPoller(group)
	var seen []inspect.Observation
	stop, ended := make(chan struct{}), make(chan struct{})
	end := sync.OnceFunc(func() { close(stop); <-ended })
	c.t.Cleanup(end)
	go func() {
		defer close(ended)
		tick := time.NewTicker(250 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			for _, o := range p.Poll(context.Background()) {
				seen = extend(seen, o)
			}
		}
	}()
	return func() []inspect.Observation { end(); return seen }
}

// extend lengthens the last run if the poll saw the same.
func extend(seen []inspect.Observation, o inspect.Observation) []inspect.Observation {
	if n := len(seen); n > 0 {
		same := o
		same.From, same.To = seen[n-1].From, seen[n-1].To
		if reflect.DeepEqual(same, seen[n-1]) {
			seen[n-1].To = o.To
			return seen
		}
	}
	return append(seen, o)
}

// appended reads the timestamps of the topic's records from a moment on.
func (c *cluster) appended(topic string, since int64) []appended {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	adm := kadm.NewClient(c.client())
	from, err := adm.ListOffsetsAfterMilli(ctx, since, topic)
	if err != nil {
		c.t.Fatal(err)
	}
	to, err := adm.ListEndOffsets(ctx, topic)
	if err != nil {
		c.t.Fatal(err)
	}
	at, left := make(map[int32]kgo.Offset), 0
	byPartition := make(map[int32]*appended)
	from.Each(func(o kadm.ListedOffset) {
		end, _ := to.Lookup(topic, o.Partition)
		if o.Offset < end.Offset {
			at[o.Partition] = kgo.NewOffset().At(o.Offset)
			left++
		}
	})
	if left == 0 {
		return nil
	}
	cl := c.client(kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: at}))
	last := make(map[int32]int64)
	for left > 0 {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			c.t.Fatalf("%s: %v", topic, err)
		}
		for it := fetches.RecordIter(); !it.Done(); {
			r := it.Next()
			end, _ := to.Lookup(topic, r.Partition)
			if r.Offset >= end.Offset {
				continue
			}
			ms := r.Timestamp.UnixMilli()
			if a := byPartition[r.Partition]; a == nil {
				byPartition[r.Partition] = &appended{Partition: r.Partition, Offset: r.Offset, At: ms, Then: []int64{}}
			} else {
				a.Then = append(a.Then, ms-last[r.Partition])
			}
			last[r.Partition] = ms
			if r.Offset == end.Offset-1 {
				left--
			}
		}
	}
	var out []appended
	for _, a := range byPartition {
		out = append(out, *a)
	}
	slices.SortFunc(out, func(a, b appended) int { return int(a.Partition - b.Partition) })
	return out
}

// departuresAsked bounds for how many departures of a group the ends are asked for.
const departuresAsked = 3

// ends asks where the group's partitions ended at the departures, and at the last
// commit before each on the partition, as kgdiag itself would.
func (c *cluster) ends(l *labelled, records []inspect.Record) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 30*time.Second)
	defer cancel()
	queries := make(map[inspect.OffsetQuery]bool)
	for _, d := range l.Departures[:min(len(l.Departures), departuresAsked)] {
		last := make(map[inspect.OffsetQuery]inspect.Time) // without a moment: the partition
		for _, r := range records {
			if r.Commit != nil && r.Time.UnixMilli() <= d.At {
				last[inspect.OffsetQuery{Topic: r.Topic, Partition: r.TopicPartition}] = r.Time
			}
		}
		for q, commit := range last {
			for _, q.At = range []inspect.Time{commit, inspect.AtMillis(d.At)} {
				queries[q] = true
			}
		}
	}
	got, gaps, err := collect.New(c.client(), collect.Options{}).OffsetsAt(ctx, slices.Collect(maps.Keys(queries)), nil, nil)
	if err != nil || len(gaps) > 0 {
		c.t.Fatalf("%s: offsets at the departures: %v %v", l.Group, err, gaps)
	}
	l.OffsetsAt = got
}
