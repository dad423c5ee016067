//go:build realkafka

package realtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSecureListeners runs kgdiag against real TLS, SASL and ACLs: as a principal that
// may only DESCRIBE, as one that may also READ the offsets topic, and as nobody.
func TestSecureListeners(t *testing.T) {
	t.Parallel()
	c := own(t, "4.1.1", "1", "--secure")
	topic, group := name("secure"), name("secure")
	c.topic(topic, 2)
	start(t, c.bootstrap, client{Kind: librdkafka, Group: group, Topics: topic, ClientID: "app", Session: 9000, MaxPoll: 20000}).assigned(2)
	as := func(file string, args ...string) result {
		return kgdiag(t, append(args, "--command-config", filepath.Join(c.home, "secure", "client-"+file+".properties"))...)
	}
	secret := func(user string) string {
		text, err := os.ReadFile(filepath.Join(c.home, "secure", user+".password"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(text))
	}
	keeps := func(r result) result {
		for _, user := range []string{"viewer", "reader", "admin", "nobody", "store"} {
			if strings.Contains(r.stdout+r.stderr, secret(user)) {
				t.Errorf("%s's password is printed:\n%s", user, r)
			}
		}
		return r
	}

	t.Run("every way in", func(t *testing.T) {
		for _, way := range []string{"", "-scram256", "-plain", "-notls", "-ssl", "-p12", "-jks", "-rdkafka"} {
			var got located
			keeps(as("viewer"+way, "locate", "-o", "json", group)).wants(t, 0).decode(t, &got)
			if g := got.Groups[0]; g.Coordinator == nil || g.Coordinator.ID != 1 || g.Agreement != "agrees" {
				t.Errorf("client-viewer%s: %+v", way, g)
			}
		}
	})

	t.Run("DESCRIBE alone gives gaps", func(t *testing.T) {
		var got described
		keeps(as("viewer", "describe", "-o", "json", group)).wants(t, 0).decode(t, &got)
		g := got.Groups[0]
		if g.State != "Stable" || len(g.Members) != 1 || g.Members[0].ClientID != "app" {
			t.Errorf("the group is not shown in full: %+v", g)
		}
		if g.Members[0].Session != nil {
			t.Errorf("session timeout %d: nobody could have told", *g.Members[0].Session)
		}
		needs := fmt.Sprint(got.Gaps)
		for _, acl := range []string{"READ", "DESCRIBE_CONFIGS"} {
			if !strings.Contains(strings.ToUpper(strings.NewReplacer("DescribeConfigs", "DESCRIBE_CONFIGS", "describeconfigs", "DESCRIBE_CONFIGS").Replace(needs)), acl) {
				t.Errorf("no gap asks for %s: %v", acl, needs)
			}
		}
		for _, args := range [][]string{{"locate", group}, {"why", group}, {"why"}, {"describe", "--all-groups"}, {"watch", "--for", "3s", group}, {"advise", "--fail-on", "never", group}} {
			if r := keeps(as("viewer", args...)); r.code != 0 {
				t.Errorf("a gap became a failure:\n%s", r)
			}
		}
		// --strict is for those who want exactly that to fail.
		keeps(as("viewer", "describe", "--strict", group)).wants(t, 3)
	})

	t.Run("READ closes them", func(t *testing.T) {
		var got described
		keeps(as("reader", "describe", "-o", "json", group)).wants(t, 0).decode(t, &got)
		if len(got.Gaps) > 0 {
			t.Errorf("gaps %v", got.Gaps)
		}
		if m := got.Groups[0].Members[0]; number(m.Session) != "9000" || number(m.Rebalance) != "20000" {
			t.Errorf("session %s and rebalance timeout %s, want 9000 and 20000", number(m.Session), number(m.Rebalance))
		}
	})

	t.Run("no permission, no connection", func(t *testing.T) {
		r := keeps(as("nobody", "describe", group)).wants(t, 3)
		if !strings.Contains(strings.ToLower(r.stdout+r.stderr), "authori") {
			t.Errorf("it does not say that it was not authorised:\n%s", r)
		}
		r = keeps(as("wrong-password", "locate", group)).wants(t, 3)
		if !strings.Contains(r.stderr, "password") {
			t.Errorf("it does not speak of the password:\n%s", r)
		}
		tls := strings.TrimPrefix(strings.SplitN(as("viewer", "locate", group).stdout, " ", 2)[0], "-")
		r = kgdiag(t, "locate", "-b", tls, group).wants(t, 3)
		if !strings.Contains(r.stderr, "TLS") {
			t.Errorf("plaintext to a TLS listener: %s", r)
		}
		r = kgdiag(t, "locate", "-b", c.bootstrap, "-X", "security.protocol=SSL", group).wants(t, 3)
		if !strings.Contains(r.stderr, "TLS") {
			t.Errorf("TLS to a plaintext listener: %s", r)
		}
	})
}
