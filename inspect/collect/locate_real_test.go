//go:build realkafka

package collect

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/locate"
)

// randomID is an id of any valid UTF-8 that no other run has used.
func randomID(rng *rand.Rand, run int64, i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "locate-%x-%d-", run, i)
	for range rng.IntN(20) {
		switch r := rune(rng.Int32N(0x10ffff) + 1); {
		case rng.IntN(2) == 0:
			b.WriteRune('a' + rng.Int32N(26))
		case r >= 0xd800 && r < 0xe000:
			b.WriteRune('é')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Each id commits an offset; the partition in which the record lands is the truth.
func TestRealRecordsLandWhereLocateSays(t *testing.T) {
	bootstrap := os.Getenv("KGDIAG_TEST_BOOTSTRAP")
	if bootstrap == "" {
		t.Fatal("KGDIAG_TEST_BOOTSTRAP is not set: run scripts/test")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	seeds := kgo.SeedBrokers(strings.Split(bootstrap, ",")...)
	cl, err := kgo.NewClient(seeds)
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	run := time.Now().UnixNano()
	rng := rand.New(rand.NewPCG(uint64(run), 7))
	t.Logf("seed %d", run)
	topic := fmt.Sprintf("locate-%x", run)
	adm := kadm.NewClient(cl)
	if _, err := adm.CreateTopic(ctx, 1, 1, nil, topic); err != nil {
		t.Fatal(err)
	}
	defer adm.DeleteTopics(context.Background(), topic)

	ids := []string{fmt.Sprintf("locate-%x-long-%s", run, strings.Repeat("é", 300))}
	for i := range 199 {
		ids = append(ids, randomID(rng, run, i))
	}
	defer adm.DeleteGroups(context.Background(), ids...)
	commitAll(t, ctx, adm, topic, ids)
	landed := partitionsOfCommits(t, ctx, seeds, topic, len(ids))

	l, err := New(cl, Options{}).Locate(ctx, LocateQuery{IDs: ids})
	if err != nil {
		t.Fatal(err)
	}
	for _, loc := range l.Locations {
		if got, ok := landed[loc.ID]; !ok || got != loc.Partition {
			t.Errorf("%q: located in %d, its record is in %d (%v)", loc.ID, loc.Partition, got, ok)
		}
		if loc.Agreement != Agrees || loc.Coordinator != loc.State.Leader {
			t.Errorf("%q: %s, leader %d, coordinator %d, %s, answers %v", loc.ID, loc.Agreement, loc.State.Leader, loc.Coordinator, loc.Why, loc.Answers)
		}
	}
	t.Logf("%d ids: partition and coordinator as the brokers have them", len(l.Locations))
}

// commitAll commits an offset for each id, as a group without members does.
func commitAll(t *testing.T, ctx context.Context, adm *kadm.Client, topic string, ids []string) {
	t.Helper()
	var wg sync.WaitGroup
	slots := make(chan struct{}, 8)
	for _, id := range ids {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			var offsets kadm.Offsets
			offsets.Add(kadm.Offset{Topic: topic, Partition: 0, At: 0, LeaderEpoch: -1})
			err := adm.CommitAllOffsets(ctx, id, offsets)
			for errors.Is(err, kerr.UnknownTopicOrPartition) && ctx.Err() == nil { // the coordinator has not heard of the new topic yet
				err = adm.CommitAllOffsets(ctx, id, offsets)
			}
			if err != nil {
				t.Errorf("commit for %q: %v", id, err)
			}
		})
	}
	wg.Wait()
}

// partitionsOfCommits reads __consumer_offsets until want groups have been seen to
// commit on topic.
func partitionsOfCommits(t *testing.T, ctx context.Context, seeds kgo.Opt, topic string, want int) map[string]int32 {
	t.Helper()
	cl, err := kgo.NewClient(seeds, kgo.ConsumeTopics(locate.OffsetsTopic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	landed := map[string]int32{}
	for len(landed) < want {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatalf("%d of %d records found: %v", len(landed), want, err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			key := kmsg.NewOffsetCommitKey()
			if err := key.ReadFrom(r.Key); err == nil && (key.Version == 0 || key.Version == 1) && key.Topic == topic {
				landed[key.Group] = r.Partition
			}
		})
	}
	return landed
}
