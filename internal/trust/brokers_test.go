package trust

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/internal/wire"
)

// The limits of docs/security.md for a run against a hostile or broken broker.
const (
	brokerTimeout = 3 * time.Second
	brokerGrace   = 1500 * time.Millisecond // for the start of nine processes at once on a busy machine
	brokerMemory  = 512 * MiB
)

// live are the commands that ask a cluster, with their arguments.
var live = [][]string{
	{"locate", "orders"},
	{"describe", "orders"},
	{"why", "orders"},
	{"why"},
	{"history", "orders"},
	{"history", "--all-groups"},
	{"advise", "orders", "--fail-on", "never"},
	{"check"},
	{"record", "orders", "--to", "x.kgcase"},
}

// fault is something that goes wrong between kgdiag and the brokers.
type fault struct {
	name string
	rule wire.Rule
}

// only applies an Action to requests of these kinds.
func only(a wire.Action, keys ...int16) wire.Rule {
	return func(r wire.Request) wire.Action {
		if len(keys) == 0 || slices.Contains(keys, r.Key) {
			return a
		}
		return wire.Action{}
	}
}

func framed(change func([]byte) ([]byte, bool)) wire.Action { return wire.Action{Frame: change} }

var faults = []fault{
	{"nothing answered", only(wire.Action{Hang: true})},
	{"Metadata never answered", hang(3)},
	{"Fetch never answered", hang(1)},
	{"ListOffsets never answered", hang(2)},
	{"ListGroups never answered", hang(16)},
	{"DescribeGroups never answered", hang(15)},
	{"FindCoordinator never answered", hang(10)},
	{"OffsetFetch never answered", hang(9)},
	{"DescribeConfigs never answered", hang(32)},
	{"garbage instead of answers", only(framed(func(f []byte) ([]byte, bool) {
		for i := 8; i < len(f); i++ {
			f[i] = byte(i * 37)
		}
		return f, false
	}))},
	{"garbage instead of all but ApiVersions and Metadata", func(r wire.Request) wire.Action {
		if r.Key == 18 || r.Key == 3 {
			return wire.Action{}
		}
		return framed(func(f []byte) ([]byte, bool) {
			for i := 8; i < len(f); i++ {
				f[i] = byte(i * 37)
			}
			return f, false
		})
	}},
	{"a frame of 2 GiB announced", only(framed(func(f []byte) ([]byte, bool) {
		binary.BigEndian.PutUint32(f, 1<<31-1)
		return f, false
	}), 1, 3, 16, 15)},
	{"an array of 2 billion announced", only(framed(func(f []byte) ([]byte, bool) {
		for i := 12; i < min(len(f), 40); i++ {
			f[i] = 0x7f
		}
		return f, false
	}), 16, 15, 9)},
	{"a byte a second", only(wire.Action{Pace: time.Second}, 1, 2, 15, 16)},
	{"closed midway through an answer", only(framed(func(f []byte) ([]byte, bool) { return f[:len(f)/2], true }), 1, 15, 16)},
	{"closed instead of an answer", only(wire.Action{Cut: true}, 1, 2, 9, 15, 16)},
	{"other correlation ids", only(framed(func(f []byte) ([]byte, bool) {
		f[7]++
		return f, false
	}), 1, 15, 16)},
	{"answers cut short", only(framed(func(f []byte) ([]byte, bool) {
		f = f[:max(8, len(f)-5)]
		binary.BigEndian.PutUint32(f, uint32(len(f)-4))
		return f, false
	}), 1, 2, 9, 15, 16, 32)},
}

// TestFaultyBrokers: whatever goes wrong, each command ends in time, within its memory,
// and says that something was wrong.
func TestFaultyBrokers(t *testing.T) {
	s := newStage(t, 2)
	s.evict(t, "orders")
	healthy, asks := map[string]ran{}, map[string]map[int16]bool{} // by the words of the command
	for _, words := range live {
		s.proxy.Reset()
		r := kgdiag(t, setup{}, append(slices.Clone(words), "-b", s.b, "--timeout", brokerTimeout.String())...)
		name := strings.Join(r.args, " ")
		healthy[name], asks[name] = r, map[int16]bool{}
		for _, q := range s.proxy.Requests() {
			asks[name][q.Key] = true
		}
	}
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			s.proxy.Rule(f.rule)
			s.proxy.Reset()
			for _, r := range together(t, live, "-b", s.b, "--timeout", brokerTimeout.String()) {
				name := strings.Join(r.args, " ")
				if err := r.sane(brokerTimeout+brokerTimeout/10+brokerGrace, brokerMemory); err != nil {
					t.Errorf("%s: %v", f.name, err)
				} else if s.touched(f.rule, asks[name]) && r.code == 0 && !tells(r, healthy[name]) {
					t.Errorf("%s: says nothing of it: %s", f.name, r)
				}
			}
		})
	}
}

// together runs commands at the same time, each with more arguments behind.
func together(t *testing.T, commands [][]string, more ...string) []ran {
	out := make([]ran, len(commands))
	var wg sync.WaitGroup
	for i, words := range commands {
		s := setup{limit: 5 * brokerTimeout, dir: t.TempDir()}
		wg.Go(func() { out[i] = kgdiag(t, s, append(slices.Clone(words), more...)...) })
	}
	wg.Wait()
	return out
}

// touched is whether a request of a kind that the command makes was met by the fault.
func (s *stage) touched(rule wire.Rule, asks map[int16]bool) bool {
	return slices.ContainsFunc(s.proxy.Requests(), func(r wire.Request) bool {
		a := rule(r)
		return asks[r.Key] && (a.Hang || a.Cut || a.Frame != nil || a.Pace > 0)
	})
}

// tells is whether a run that ended well says more often than a healthy one that
// something was not read or not as it should be.
func tells(r, healthy ran) bool {
	for _, word := range []string{"not read", "could not", "timed out", "time that --timeout", "no answer", "not answer", "unverified", "unknown", "UNKNOWN", "warning", "FAIL", "partly", "incomplete", "closed", "not connected", "no record of the group among"} {
		if strings.Count(r.out+r.err, word) > strings.Count(healthy.out+healthy.err, word) {
			return true
		}
	}
	return false
}

// TestAHealthyClusterIsNoFault keeps the others honest: without a fault all is read.
func TestAHealthyClusterIsNoFault(t *testing.T) {
	s := newStage(t, 2)
	s.evict(t, "orders")
	for _, words := range live {
		r := kgdiag(t, setup{}, append(slices.Clone(words), "-b", s.b)...)
		if err := r.sane(10*time.Second, brokerMemory); err != nil {
			t.Error(err)
		}
		if r.code != 0 || strings.Contains(r.out, "not read  ") || strings.Contains(r.out, "partly") || strings.Contains(r.err, "warning") {
			t.Errorf("healthy: %s", r)
		}
	}
}

// TestGroupsThatWereNotListedDoNotVanish: a broker that does not answer ListGroups, or
// not with all, must reach the verdict, the gate and the exit code.
func TestGroupsThatWereNotListedDoNotVanish(t *testing.T) {
	s := newStage(t, 1)
	s.evict(t, "orders")
	s.proxy.Rule(hang(16))
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"why"}, 3, "list"},
		{[]string{"why", "--fail-on", "rebalance"}, 3, "list"},
		{[]string{"history", "--all-groups"}, 3, "list"},
		{[]string{"describe", "--all-groups"}, 3, "list"},
		{[]string{"watch", "--all-groups", "--for", "2s", "--fail-on", "rebalance"}, 3, "list"},
	} {
		r := kgdiag(t, setup{}, append(tt.args, "-b", s.b, "--timeout", "3s")...)
		if r.code != tt.code || !strings.Contains(r.out+r.err, tt.want) || strings.Contains(r.out, "none of ") {
			t.Errorf("want exit %d and a word of it: %s", tt.code, r)
		}
	}
	r := kgdiag(t, setup{}, "check", "-b", s.b, "--timeout", "3s")
	if strings.Contains(r.out, "ok    groups") || strings.Count(r.out, "fully") == 0 && strings.Contains(r.out, "all commands") {
		t.Errorf("check calls the list ok: %s", r)
	}
}

// TestUnreadHistoryIsNotZero: where the log could not be read, no number stands for it,
// and a gate that could not look does not pass.
func TestUnreadHistoryIsNotZero(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	s.evict(t, "orders")
	for name, rule := range map[string]wire.Rule{
		"Fetch hung":       hang(1),
		"ListOffsets hung": hang(2),
		"Fetch denied":     denyFetch,
	} {
		s.proxy.Rule(rule)
		for _, words := range [][]string{{"why", "orders"}, {"why"}, {"history", "orders"}} {
			args := append(slices.Clone(words), "-b", s.b, "--timeout", "2s")
			if r := kgdiag(t, setup{}, args...); strings.Contains(r.out, "0 rebalances") || strings.Contains(r.out, "0 rebalanced") || strings.Contains(r.out, "none of ") {
				t.Errorf("%s: a zero for what was not read: %s", name, r)
			}
			if r := kgdiag(t, setup{}, append(args, "--fail-on", "rebalance")...); r.code != 3 {
				t.Errorf("%s: the gate passes: %s", name, r)
			}
			if r := kgdiag(t, setup{}, append(args, "-o", "json")...); strings.Contains(r.out, `"rebalances":0`) || strings.Contains(r.out, `"rebalances": 0`) {
				t.Errorf("%s: a zero in JSON: %s", name, r)
			}
		}
	}
}

// denyFetch answers Fetch as a broker whose ACLs do not allow READ on the topic.
func denyFetch(r wire.Request) wire.Action {
	if r.Key != 1 {
		return wire.Action{}
	}
	return wire.Action{Answer: func(resp kmsg.Response) kmsg.Response {
		f := resp.(*kmsg.FetchResponse)
		for i := range f.Topics {
			for j := range f.Topics[i].Partitions {
				p := &f.Topics[i].Partitions[j]
				p.ErrorCode, p.RecordBatches, p.HighWatermark = 29, nil, -1
			}
		}
		return f
	}}
}

// many groups and brokers are answered by the proxy alone.
func manyGroups(n int) wire.Rule {
	return func(r wire.Request) wire.Action {
		if r.Key != 16 {
			return wire.Action{}
		}
		return wire.Action{Answer: func(resp kmsg.Response) kmsg.Response {
			l := resp.(*kmsg.ListGroupsResponse)
			for i := range n {
				g := kmsg.NewListGroupsResponseGroup()
				g.Group, g.ProtocolType, g.GroupState, g.GroupType = fmt.Sprintf("made-up-%d", i), "consumer", "Stable", "classic"
				l.Groups = append(l.Groups, g)
			}
			return l
		}}
	}
}

func manyBrokers(n int) wire.Rule {
	return func(r wire.Request) wire.Action {
		if r.Key != 3 {
			return wire.Action{}
		}
		return wire.Action{Answer: func(resp kmsg.Response) kmsg.Response {
			m := resp.(*kmsg.MetadataResponse)
			for i := range n {
				b := kmsg.NewMetadataResponseBroker()
				b.NodeID, b.Host, b.Port = int32(1000+i), "127.0.0.1", 1
				m.Brokers = append(m.Brokers, b)
			}
			return m
		}}
	}
}

// TestCrowdedClusters: groups that are no more than names, in numbers. The table of 100,000
// rows of locate --broker takes longer to lay out than is promised (docs/security.md).
func TestCrowdedClusters(t *testing.T) {
	s := newStage(t, 1)
	s.evict(t, "orders")
	s.proxy.Rule(manyGroups(100_000))
	s.each(t, "100,000 groups", 10*time.Second, "locate --broker 0")
}
