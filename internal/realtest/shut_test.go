//go:build realkafka

package realtest

import (
	"context"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/kgdiag/kgdiag/inspect"
)

// shut denies a principal DESCRIBE on a topic.
func (c *cluster) shut(topic, principal string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	acl := kadm.NewACLs().Topics(topic).ResourcePatternType(kadm.ACLPatternLiteral).Operations(kadm.OpDescribe).Deny("User:" + principal).DenyHosts()
	got, err := kadm.NewClient(c.client()).CreateACLs(ctx, acl)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, r := range got {
		if r.Err != nil {
			c.t.Fatal(r.Err)
		}
	}
}

// TestTopicWithoutDescribe: a group reads two topics of which the user may not describe
// one, on a cluster that hides the offsets topic too. What is lost is a Gap in each
// command, and a member's silence on the topic that is shown is no silence of the member.
func TestTopicWithoutDescribe(t *testing.T) {
	t.Parallel()
	c := own(t, "4.1.1", "1", "--secure", "--offsets-partitions", "5")
	shown, hidden, group := name("shown"), name("hidden"), name("shut")
	for _, topic := range []string{shown, hidden} {
		c.topic(topic, 2)
		c.produce(topic, 8)
	}
	c.shut(hidden, "viewer")
	member := start(t, c.bootstrap, client{Kind: librdkafka, Group: group, Topics: shown + "," + hidden, ClientID: "victim", Session: sessionMS, Heartbeat: heartbeatMS, MaxPoll: pollMS, Commit: "sync"})
	member.assigned(4)
	s := &scene{t: t, c: c, group: group, reach: []string{"--command-config", filepath.Join(c.home, "secure", "client-viewer.properties")}}
	as := func(args ...string) result { return kgdiag(t, append(args, s.reach...)...) }
	needs := "needs DESCRIBE on Topic " + hidden
	for _, tc := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"locate", group}, 0, "agrees"},
		{[]string{"describe", group}, 0, "lag on topic " + hidden},
		{[]string{"describe", group}, 0, needs},
		{[]string{"describe", "--strict", group}, 3, needs},
		{[]string{"why", group}, 0, needs},
		{[]string{"why", group}, 0, "--for 5m"},
		{[]string{"history", group}, 3, "--operation Read --topic __consumer_offsets"},
		{[]string{"advise", "--fail-on", "never", group}, 0, needs},
		{[]string{"check"}, 0, "one that may not be described does not show up at all"},
		{[]string{"watch", "--for", "3s", group}, 0, "0 rebalances"},
	} {
		r := as(tc.args...).wants(t, tc.code)
		if got := strings.Join(strings.Fields(r.stdout+r.stderr), " "); !strings.Contains(got, tc.says) || strings.Contains(got, "HEALTHY") {
			t.Errorf("want %q:\n%s", tc.says, r)
		}
	}

	file := filepath.Join(t.TempDir(), "seen.kgcase")
	set := []string{"--set", "session.timeout.ms=6000", "--set", "max.poll.interval.ms=15000"}
	why, record := s.look(append([]string{"why", "-o", "json"}, set...)...), s.look("record", "--to", file)
	s.hold(15 * time.Second) // for a cadence to show
	member.signal(syscall.SIGSTOP)
	s.hold(20 * time.Second)
	answer := why.interrupt().wants(t, 0)
	record.interrupt().wants(t, 0)
	kept := kgdiag(t, append([]string{"why", "-v", "--from", file, group}, set...)...).wants(t, 0)
	if v := s.answered(answer); v.cause.Eviction() || v.confidence != inspect.Low {
		t.Errorf("why --for says %s of a member that may have committed on %s\n%s", v, hidden, kept)
	}
	words := strings.Join(strings.Fields(kept.stdout), " ")
	for _, says := range []string{"polls show no committed offset of its topic " + hidden, "commits on topic " + hidden, needs} {
		if !strings.Contains(words, says) {
			t.Errorf("want %q:\n%s", says, kept)
		}
	}
}
