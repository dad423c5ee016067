//go:build realkafka

package realtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// virginRuns are all the ways to call a command that talks to a cluster. What they
// print is not at issue here, only that none of them makes a topic.
func virginRuns(t *testing.T) [][]string {
	properties := filepath.Join(t.TempDir(), "consumer.properties")
	if err := os.WriteFile(properties, []byte("group.id=orders\nsession.timeout.ms=45000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	caseFile := filepath.Join(t.TempDir(), "orders.kgcase")
	return [][]string{
		{"check"},
		{"locate", "orders"},
		{"locate", "-v", "orders", "payments"},
		{"locate", "--transactional-id", "tx-1"},
		{"locate", "--partition", "7"},
		{"locate", "--broker", "1"},
		{"locate", "--if-down", "1", "orders"},
		{"describe", "orders"},
		{"describe", "--all-groups"},
		{"describe", "-v", "orders"},
		{"history", "orders"},
		{"history", "--all-groups"},
		{"why"},
		{"why", "orders"},
		{"why", "-v", "orders", "--what-if", "max.poll.interval.ms=600000"},
		{"watch", "--for", "2s"},
		{"watch", "--for", "2s", "orders"},
		{"watch", "--for", "2s", "--since", "1h", "orders"},
		{"advise", "orders"},
		{"advise", "--all-groups"},
		{"advise", "orders", "-f", properties},
		{"record", "orders", "--to", caseFile},
	}
}

// TestVirginBrokerStaysVirgin runs every command on a broker that has no topic at all.
// FindCoordinator and everything routed by coordinator would create
// __consumer_offsets: kgdiag must not send them, and must not write anything else.
func TestVirginBrokerStaysVirgin(t *testing.T) {
	t.Parallel()
	c := own(t, "4.1.1", "1", "--set", "auto.create.topics.enable=true")
	for _, args := range virginRuns(t) {
		r := kgdiag(t, append(args, "-b", c.bootstrap)...)
		if r.code < 0 || r.code > 4 {
			t.Errorf("exit %d:\n%s", r.code, r)
		}
		if topics := c.topics(); len(topics) > 0 {
			t.Fatalf("topics %v after:\n%s", topics, r)
		}
	}
	r := kgdiag(t, "locate", "-b", c.bootstrap, "orders").wants(t, 4)
	if !strings.Contains(r.stderr, "__consumer_offsets does not exist") {
		t.Errorf("locate does not say what is missing:\n%s", r)
	}
}
