package trust

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/internal/wire"
)

// every are the commands that ask a cluster, those that look at all of it and for a while too.
func every() [][]string {
	return append(slices.Clone(live), []string{"describe", "--all-groups"}, []string{"locate", "--broker", "0"}, []string{"advise", "--all-groups", "--fail-on", "never"},
		[]string{"record", "--all-groups", "--to", "all.kgcase"}, []string{"watch", "orders", "--for", "1s"}, []string{"watch", "--all-groups", "--for", "1s"}, []string{"why", "orders", "--for", "1s"})
}

// heavyGroups are listed in numbers, and each description is members of so many bytes,
// twice. An answer that would be larger than any client takes is announced as it would be.
func heavyGroups(n, members, bytes int) wire.Rule {
	pad := make([]byte, bytes)
	list := manyGroups(n)
	return func(r wire.Request) wire.Action {
		ask, ok := r.Body.(*kmsg.DescribeGroupsRequest)
		switch {
		case !ok:
			return list(r)
		case len(ask.Groups)*members*bytes*2 > 95<<20:
			return framed(func(f []byte) ([]byte, bool) {
				binary.BigEndian.PutUint32(f, uint32(min(len(ask.Groups)*members*bytes*2, 1<<31-1)))
				return f, false
			})
		}
		return wire.Action{Answer: func(resp kmsg.Response) kmsg.Response {
			d := resp.(*kmsg.DescribeGroupsResponse)
			for i := range d.Groups {
				g := &d.Groups[i]
				g.ErrorCode, g.State, g.ProtocolType, g.Protocol = 0, "Stable", "consumer", "range"
				for m := range members {
					x := kmsg.NewDescribeGroupsResponseGroupMember()
					x.MemberID, x.ClientID, x.ClientHost, x.ProtocolMetadata, x.MemberAssignment = fmt.Sprintf("m-%d-%d", i, m), "c", "/10.0.0.1", pad, pad
					g.Members = append(g.Members, x)
				}
			}
			return d
		}}
	}
}

// TestManyNodes: however many brokers there are of which none answers, each command ends
// within its --timeout and a tenth.
func TestManyNodes(t *testing.T) {
	s := newStage(t, 1)
	s.evict(t, "orders")
	nodes, timeout := 1000, 4*time.Second
	if os.Getenv("KGDIAG_TEST_FULL") != "" {
		nodes, timeout = 10_000, 10*time.Second
	}
	s.proxy.Rule(manyBrokers(nodes))
	s.each(t, fmt.Sprintf("%d nodes", nodes), timeout)
}

// TestHeavyGroups: groups without number, each of which is described by megabytes; and as
// many as go into the largest answers that a client takes.
func TestHeavyGroups(t *testing.T) {
	s := newStage(t, 1)
	s.evict(t, "orders")
	n, timeout := 10_000, 4*time.Second
	if os.Getenv("KGDIAG_TEST_FULL") != "" {
		n, timeout = 100_000, 10*time.Second
	}
	for _, g := range []struct{ n, members, bytes int }{{n, 10, 512 << 10}, {1600, 2, 100 << 10}} {
		s.proxy.Rule(heavyGroups(g.n, g.members, g.bytes))
		s.most = brokerMemory
		if g.n == 100_000 { // docs/security.md says that it is more than is promised of others
			s.most *= 2
		}
		s.each(t, fmt.Sprintf("%d groups of %d KiB", g.n, 2*g.members*g.bytes>>10), timeout)
	}
}

// each runs every command but some alone, and holds it to its time and memory.
func (s *stage) each(t *testing.T, of string, timeout time.Duration, but ...string) {
	t.Helper()
	var most ran
	var longest time.Duration
	for _, words := range every() {
		if slices.Contains(but, strings.Join(words, " ")) {
			continue
		}
		asked := time.Duration(0)
		if slices.Contains(words, "--for") {
			asked = time.Second
		}
		r := kgdiag(t, setup{limit: 4*timeout + 20*time.Second}, append(slices.Clone(words), "-b", s.b, "--timeout", timeout.String())...)
		if err := r.sane(asked+timeout+timeout/10+brokerGrace, cmp.Or(s.most, brokerMemory)); err != nil {
			t.Errorf("%s: %v", of, err)
		}
		if r.peak > most.peak {
			most = r
		}
		longest = max(longest, r.took-asked)
	}
	t.Logf("%s: %d commands, at most %v and %d MiB (%s)", of, len(every())-len(but), longest.Round(time.Millisecond), most.peak/MiB, strings.Join(most.args, " "))
}
