package judge

import (
	"encoding/hex"
	"slices"
	"testing"

	"github.com/kgdiag/kgdiag/inspect"
)

// As what a classic member came back is told where its client remembers the group, and
// then it is what was done: of all recordings.
func TestReturnsAreWhatWasDone(t *testing.T) {
	lived := []string{"over", "batch", "stop", "stopl"}
	told := map[inspect.Returned]int{}
	for _, h := range holdouts {
		for _, l := range readFile(t, h.file) {
			if l.Protocol != "classic" {
				continue
			}
			_, d := victimVerdict(Build(l.Read(), Options{})[0], l.FaultAt, l.Victim)
			if d == nil || d.Returned == inspect.ReturnedNo || d.Returned == inspect.ReturnedUnknown {
				continue
			}
			told[d.Returned]++
			if same := d.Returned == inspect.ReturnedSameProcess; same != slices.Contains(lived, l.Fault) {
				t.Errorf("%s: returned as %s, the fault was %q", l.Group, d.Returned, l.Fault)
			}
		}
	}
	if told[inspect.ReturnedSameProcess] < 30 || told[inspect.ReturnedNewProcess] < 30 {
		t.Errorf("told %v, want 30 of each at least", told)
	}
}

// back is a classic member that stops committing, is out after its session, and is back two
// seconds later with what its assignor sends.
func back(t *testing.T, assignor, userData string) inspect.Rebalance {
	t.Helper()
	b := newBook()
	b.assignor = assignor
	old := who{id: "a-1", client: "a", parts: []int32{0}, session: 10, rebalance: 60}
	peer := who{id: "b-1", client: "b", host: "10.0.0.2", parts: []int32{1}, session: 10, rebalance: 60}
	b.generation(0, 1, old, peer)
	b.commits(1, 30, 0.3, 0, 0, 1)
	b.commits(1, 60, 0.3, 1, 0, 1)
	both := peer
	both.parts = []int32{0, 1}
	b.generation(40.1, 2, both)
	b.commits(40.2, 42, 0.05, 0, 100, 2)
	old.id = "a-2"
	b.generation(42.1, 3, old, peer)
	sub, err := hex.DecodeString("0003" + "00000001" + "000174" + userData + "00000000" + "ffffffff" + "ffff")
	if err != nil {
		t.Fatal(err)
	}
	for i := range b.c.Records {
		if md := b.c.Records[i].Metadata; md != nil && md.Generation == 3 {
			md.Members[0].Subscription = sub
		}
	}
	return at(t, b.build(), 2)
}

// A close after draining for as long as a session, and a restart, look like an expiry and
// a return; not where the client that came back remembers what it had.
func TestMemoryRulesOutARestart(t *testing.T) {
	r := back(t, "cooperative-sticky", "00000004"+"00000001")
	want(t, r, inspect.SessionExpired, inspect.High)
	if r.Returned != inspect.ReturnedSameProcess {
		t.Errorf("returned as %s, want the same process", r.Returned)
	}
	r = back(t, "cooperative-sticky", "00000004"+"ffffffff")
	want(t, r, inspect.SessionExpired, inspect.Medium)
	if r.Returned != inspect.ReturnedNewProcess {
		t.Errorf("returned as %s, want a new process", r.Returned)
	}
	if r = back(t, "range", "ffffffff"); r.Returned != inspect.ReturnedUnknown || r.Confidence != inspect.Medium {
		t.Errorf("returned as %s, %s: range remembers nothing", r.Returned, r.Confidence)
	}
	if r = back(t, "cooperative-sticky", "00000004"+"00000002"); r.Returned == inspect.ReturnedSameProcess {
		t.Error("it remembers a generation in which the old member took no part")
	}
}

// Who worked a record has polled since that came: records that are younger than the poll
// interval rule an overrun inside a batch out, older ones do not, and neither do records
// that claim to be younger than the commit behind them.
func TestWorkedRecordsShowAPoll(t *testing.T) {
	for name, c := range map[string]struct {
		since, until int64 // where the partition ended, nine tenths of the interval before and at the last commit
		cause        inspect.Confidence
	}{
		"young records": {50, 98, inspect.High}, "old records": {98, 98, inspect.Medium}, "clocks ahead": {50, 80, inspect.Medium},
	} {
		b := newBook()
		old := who{id: "a-1", client: "a", parts: []int32{0}, session: 45, rebalance: 60}
		peer := who{id: "b-1", client: "b", host: "10.0.0.2", parts: []int32{1}, session: 45, rebalance: 60}
		b.generation(0, 1, old, peer)
		b.commits(1, 100, 1, 0, -1, 1)
		b.commits(1, 200, 0.5, 1, 0, 1)
		peer.parts = []int32{0, 1}
		b.generation(100.8, 2, peer)
		b.commits(101, 200, 0.5, 0, 98, 1)
		sortBook(b)
		var moments []inspect.OffsetQuery
		for _, q := range Questions(b.c, Options{}) {
			if q.Partition == 0 {
				moments = append(moments, q)
			}
		}
		if len(moments) != 3 {
			t.Fatalf("%d questions, want three: %v", len(moments), moments)
		}
		for i, end := range []int64{c.until, c.until + 1, c.since} {
			q := moments[i]
			b.c.OffsetsAt = append(b.c.OffsetsAt, inspect.OffsetAt{Topic: q.Topic, Partition: 0, At: q.At, Offset: end, Next: q.At, Asked: clock(200)})
		}
		t.Log(name)
		want(t, at(t, Build(b.c, Options{})[0], 2), inspect.MemberLeft, c.cause)
	}
}
