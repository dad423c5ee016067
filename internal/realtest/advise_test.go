//go:build realkafka

package realtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// advised is what the tests read of kgdiag.advise/v1.
type advised struct {
	Findings []struct {
		ID       string         `json:"id"`
		Severity string         `json:"severity"`
		Group    string         `json:"group"`
		Message  string         `json:"message"`
		Fix      map[string]any `json:"fix"`
	} `json:"findings"`
	Checked   int `json:"checked"`
	Unchecked []struct {
		ID     string `json:"id"`
		Reason string `json:"reason"`
	} `json:"unchecked"`
}

// finds runs advise on a live group until one of the rules has fired, and gives its
// message.
func finds(t *testing.T, c *cluster, group string, rules ...string) string {
	t.Helper()
	var message string
	eventually(t, patience, strings.Join(rules, " or ")+" fires", func() error {
		var got advised
		r := kgdiag(t, "advise", "-b", c.bootstrap, "-o", "json", "--min-severity", "info", "--fail-on", "never", group).wants(t, 0)
		r.decode(t, &got)
		for _, f := range got.Findings {
			if slices.Contains(rules, f.ID) && f.Group == group {
				message = f.Message
				return nil
			}
		}
		return fmt.Errorf("no finding:\n%s", r)
	})
	return message
}

func TestAdviseFindsASessionAtTheBrokersMinimum(t *testing.T) {
	t.Parallel()
	c := shared(t)
	topic, group := name("minimum"), name("minimum")
	c.topic(topic, 2)
	start(t, c.bootstrap, client{Kind: librdkafka, Group: group, Topics: topic, ClientID: "tight", Session: 6000, Heartbeat: 2000, MaxPoll: 300000}).assigned(2)
	if m := finds(t, c, group, "KGD109"); !strings.Contains(m, "6s") {
		t.Errorf("the message names no 6s: %q", m)
	}
	// The error severity is for what is refused: a session on the minimum is not.
	kgdiag(t, "advise", "-b", c.bootstrap, group).wants(t, 0)
}

func TestAdviseFindsTwoSubscriptionsInOneGroup(t *testing.T) {
	t.Parallel()
	c := shared(t)
	one, two, group := name("one"), name("two"), name("mixed")
	c.topic(one, 2)
	c.topic(two, 2)
	spec := client{Kind: franzGo, Group: group, Topics: one, ClientID: "first", Assignor: "range"}
	start(t, c.bootstrap, spec).assigned(2)
	spec.Topics, spec.ClientID, spec.Kind = two, "second", librdkafka
	start(t, c.bootstrap, spec).assigned(2)
	m := finds(t, c, group, "KGD404", "KGD405")
	if !strings.Contains(m, one) || !strings.Contains(m, two) {
		t.Errorf("the message does not name both topics: %q", m)
	}
}

// A default configuration of each client is no reason to warn anybody.
func TestAdviseHasNothingAgainstDefaults(t *testing.T) {
	t.Parallel()
	c := shared(t)
	topic := name("defaults")
	c.topic(topic, 4)
	var groups []string
	for _, k := range []kind{javaClient, librdkafka, kafkaPython, aiokafka, franzGo} {
		group := name("defaults-" + string(k))
		groups = append(groups, group)
		startAssigned(t, c.bootstrap, client{Kind: k, Group: group, Topics: topic, ClientID: "app"}, 4)
	}
	var got advised
	r := kgdiag(t, append([]string{"advise", "-b", c.bootstrap, "-o", "json"}, groups...)...).wants(t, 0)
	r.decode(t, &got)
	for _, f := range got.Findings {
		if slices.Contains([]string{"warning", "error"}, f.Severity) {
			t.Errorf("%s: %s %s: %s", f.Group, f.ID, f.Severity, f.Message)
		}
	}
	if got.Checked == 0 {
		t.Errorf("no rule was checked:\n%s", r)
	}
}
