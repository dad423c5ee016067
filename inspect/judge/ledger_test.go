package judge

import (
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// commitAt is the commit of an offset on a partition, some milliseconds after a start.
func commitAt(group string, partition int32, log, ms, offset int64) *inspect.Record {
	when := inspect.AtMillis(1_700_000_000_000 + ms)
	return &inspect.Record{Type: inspect.RecOffsetCommit, Partition: 4, Offset: log, Time: when, LeaderEpoch: 2, Version: 3, Group: group, Topic: "orders", TopicPartition: partition,
		Commit: &inspect.OffsetCommit{Offset: offset, LeaderEpoch: 1, Time: inspect.AtMillis(when.UnixMilli() - 1)}}
}

// ofLedger are the records that a ledger keeps of one group, in order.
func ofLedger(l *Ledger) []inspect.Record {
	out := l.Records()
	slices.SortFunc(out, func(a, b inspect.Record) int { return int(a.Offset - b.Offset) })
	return out
}

// TestLedgerKeepsFewCommits: few commits are kept as they are; what comes after a change of
// members, of leader or of the log's version too.
func TestLedgerKeepsFewCommits(t *testing.T) {
	var l Ledger
	var want []inspect.Record
	for i := range int64(300) {
		r := commitAt("g", int32(i%3), i, i*700, i*5)
		switch {
		case i > 200:
			r.LeaderEpoch, r.Version, r.Commit.TopicID = 3, 4, "id"
		case i > 100:
			r.Commit.After, r.Commit.Thinned = inspect.AtMillis(r.Time.UnixMilli()-250), 7
		}
		want = append(want, *r)
		if !l.Add(r) {
			t.Fatalf("%+v is not taken", r)
		}
		if i == 150 {
			l.Change(r.Time.Time)
		}
	}
	if got := ofLedger(&l); !reflect.DeepEqual(got, want) {
		t.Errorf("%d records come back, want the %d as they were", len(got), len(want))
	}
	if l.Add(&inspect.Record{Type: inspect.RecOffsetCommit, Tombstone: true}) || l.Add(&inspect.Record{Type: inspect.RecGroupMetadata}) {
		t.Error("a record that is no commit was taken")
	}
	cut := want[240].Time.Time
	l.Forget(cut)
	if got := ofLedger(&l); !reflect.DeepEqual(got, want[237:]) {
		t.Errorf("%d records are left, want the newest of each partition before %v and the %d after it", len(got), cut, 60)
	}
}

// TestLedgerKeepsWhatVerdictsRead: of very many commits the last ones, the first ones after a
// change, the longest pauses and the last advance are kept, and what is left out is counted.
func TestLedgerKeepsWhatVerdictsRead(t *testing.T) {
	var l Ledger
	const n, changed, paused, froze = 50_000, 20_000, 35_000, 49_000
	ms := int64(0)
	for i := range int64(n) {
		ms += 100
		if i == paused {
			ms += 90_000
		}
		r := commitAt("g", 0, i, ms, min(i, froze))
		if i == changed {
			l.Change(r.Time.Time)
		}
		l.Add(r)
	}
	got := ofLedger(&l)
	if len(got) > 2*ledgerFull {
		t.Errorf("%d commits are kept of %d", len(got), n)
	}
	kept, counted := map[int64]bool{}, int64(0)
	for _, r := range got {
		kept[r.Offset] = true
		counted += 1 + r.Commit.Thinned
	}
	if counted != n {
		t.Errorf("%d commits are kept or counted, of %d", counted, n)
	}
	for what, span := range map[string][2]int64{"before the change": {changed - ringSize, changed}, "after it": {changed, changed + freshCount},
		"of the pause": {paused - 1, paused + 1}, "of the end": {n - ringSize, n}, "up to the last advance": {froze - recent, froze + 1}} {
		for i := span[0]; i < span[1]; i++ {
			if !kept[i] {
				t.Errorf("commit %d, %s, is not kept", i, what)
			}
		}
	}
}

// TestLedgerStaysFlat: hours of commits of many groups take no more memory than the first
// one, whichever pace they have.
func TestLedgerStaysFlat(t *testing.T) {
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	const groups, partitions = 12, 10
	for _, every := range []time.Duration{200 * time.Millisecond, time.Second, 5 * time.Second} {
		ledgers := make([]Ledger, groups)
		names := make([]string, groups)
		for g := range names {
			names[g] = strconv.Itoa(g)
		}
		before, log := heap(), int64(0)
		hour := func(h int64) int64 {
			for at := range time.Hour / every {
				ms := h*time.Hour.Milliseconds() + int64(at)*every.Milliseconds()
				for g := range ledgers {
					for p := range int32(partitions) {
						log++
						ledgers[g].Add(commitAt(names[g], p, log, ms+int64(p), ms/every.Milliseconds()))
					}
				}
			}
			return (heap() - before) / groups
		}
		first, second := hour(0), hour(1)
		t.Logf("a commit each %v on %d partitions: %d bytes a group after an hour, %d after two", every, partitions, first, second)
		if second > 40_000 || second > first*5/4 {
			t.Errorf("a commit each %v: %d bytes a group after an hour, %d after two, want at most 40000 and no growth", every, first, second)
		}
		runtime.KeepAlive(ledgers)
	}
}
