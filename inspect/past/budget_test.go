package past

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/collect"
	"github.com/kgdiag/kgdiag/inspect/offsetlog"
	"github.com/kgdiag/kgdiag/locate"
)

// busyLog is a cluster whose one offsets partition holds n commits of others, the newest
// of now and 40 of them a minute.
func busyLog(t *testing.T, n int) *Reader {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, locate.OffsetsTopic))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.DisableClientMetrics())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	now := time.Now()
	records := make([]*kgo.Record, 0, n)
	for i := range n {
		key := kmsg.OffsetCommitKey{Version: 1, Group: fmt.Sprintf("other-%d", i%20), Topic: "work"}
		at := now.Add(time.Duration(i-n) * 1500 * time.Millisecond)
		value := kmsg.OffsetCommitValue{Version: 3, Offset: int64(i), LeaderEpoch: -1, CommitTimestamp: at.UnixMilli()}
		records = append(records, &kgo.Record{Topic: locate.OffsetsTopic, Key: key.AppendTo(nil), Value: value.AppendTo(nil), Timestamp: at})
	}
	if err := cl.ProduceSync(t.Context(), records...).FirstErr(); err != nil {
		t.Fatal(err)
	}
	scanner := &offsetlog.Scanner{Client: cl}
	return &Reader{Collector: collect.New(cl, collect.Options{Log: scanner}), Scanner: scanner}
}

func hour() Query {
	now := time.Now()
	return Query{Selection: collect.Selection{Groups: []string{"quiet"}}, Gone: true,
		Window: inspect.Window{From: inspect.At(now.Add(-time.Hour)), To: inspect.At(now)}}
}

// The records of an hour are found by their time, and a budget keeps the newest of them
// and says how many it left out.
func TestBudgetKeepsTheNewest(t *testing.T) {
	r := busyLog(t, 20_000)
	q := hour()
	q.Budget = 100_000
	p, err := r.Read(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Case.Logs) != 1 {
		t.Fatalf("logs %+v", p.Case.Logs)
	}
	l := p.Case.Logs[0]
	if l.To != 20_000 || l.From != 20_000-100_000/200 || l.Bytes > 2*q.Budget {
		t.Errorf("read %d to %d, %d bytes, want the newest 500 offsets", l.From, l.To, l.Bytes)
	}
	var said string
	for _, g := range p.Case.Gaps {
		if g.Needs == "a larger --budget" {
			said = g.What + ": " + g.Why
		}
	}
	// An hour and the prelude hold 3,600 commits, of which 500 fit.
	if !strings.HasPrefix(said, "older records of __consumer_offsets: 3,") || !strings.Contains(said, "offsets in 1 partition were left out, to read about 100 kB") {
		t.Errorf("gap %q", said)
	}
}

// What is older than the window is read up to a bound of its own, and what is in it as
// a whole.
func TestWithoutABudgetTheWindowIsWhole(t *testing.T) {
	r := busyLog(t, 5000)
	p, err := r.Read(context.Background(), hour())
	if err != nil {
		t.Fatal(err)
	}
	if l := p.Case.Logs[0]; l.From != 0 || l.To != 5000 {
		t.Errorf("read %d to %d, want all: the group is nowhere in it", l.From, l.To)
	}
	for _, g := range p.Case.Gaps {
		if strings.Contains(g.Needs, "--budget") {
			t.Errorf("gap %+v without a budget", g)
		}
	}
}
