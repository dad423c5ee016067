//go:build realkafka

package realtest

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// secureCluster is a broker with TLS, SASL and ACLs; KGDIAG_TEST_SECURE_HOME names
// one that is up already, for work on these tests.
func secureCluster(t *testing.T) *cluster {
	t.Helper()
	if home := os.Getenv("KGDIAG_TEST_SECURE_HOME"); home != "" {
		c := &cluster{t: t, home: home}
		c.bootstrap = strings.TrimSpace(c.script("address"))
		return c
	}
	return own(t, "4.1.1", "1", "--secure")
}

func (c *cluster) secureFile(name string) string { return filepath.Join(c.home, "secure", name) }

// clientFile is client-NAME.properties of the cluster.
func (c *cluster) clientFile(name string) string {
	return c.secureFile("client-" + name + ".properties")
}

func (c *cluster) port(listener string) string {
	c.t.Helper()
	b, err := os.ReadFile(filepath.Join(c.home, "node-1", "port"+listener))
	if err != nil {
		c.t.Fatal(err)
	}
	return "127.0.0.1:" + strings.TrimSpace(string(b))
}

// property reads one key of a client file.
func property(t *testing.T, file, key string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(key) + `=(.*)$`).FindSubmatch(b)
	if m == nil {
		t.Fatalf("%s has no %s", file, key)
	}
	return string(m[1])
}

// tokenEndpoint answers client credentials with a token that the brokers accept.
func (c *cluster) tokenEndpoint() string {
	c.t.Helper()
	text, err := os.ReadFile(c.secureFile("oauth.key.pem"))
	if err != nil {
		c.t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		c.t.Fatal(err)
	}
	key := parsed.(*rsa.PrivateKey)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, secret, _ := r.BasicAuth()
		if r.FormValue("grant_type") != "client_credentials" || r.FormValue("scope") != "kafka" || id != "viewer" || secret != "s3cret" {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"error":"invalid_client"}`)
			return
		}
		now := time.Now()
		token := signed(key, fmt.Sprintf(`{"iss":"kgdiag","aud":"kafka","sub":"viewer","scope":"kafka","iat":%d,"exp":%d}`, now.Unix(), now.Add(time.Hour).Unix()))
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"access_token":%q,"token_type":"bearer","expires_in":3600}`, token)
	}))
	c.t.Cleanup(srv.Close)
	return srv.URL + "/token"
}

// signed is a JWT (RS256) of the key that the brokers know as kgdiag.
func signed(key *rsa.PrivateKey, claims string) string {
	enc := base64.RawURLEncoding
	text := enc.EncodeToString([]byte(`{"alg":"RS256","typ":"JWT","kid":"kgdiag"}`)) + "." + enc.EncodeToString([]byte(claims))
	sum := sha256.Sum256([]byte(text))
	sig, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		return ""
	}
	return text + "." + enc.EncodeToString(sig)
}

// endpointFile is the client file for the token endpoint.
func (c *cluster) endpointFile(endpoint string) string {
	c.t.Helper()
	b, err := os.ReadFile(c.clientFile("viewer-oauth-file"))
	if err != nil {
		c.t.Fatal(err)
	}
	text := regexp.MustCompile(`(?m)^sasl\.(oauthbearer|jaas).*\n`).ReplaceAllString(string(b), "")
	text += "sasl.oauthbearer.token.endpoint.url=" + endpoint + "\n" +
		`sasl.jaas.config=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required clientId="viewer" clientSecret="s3cret" scope="kafka";` + "\n"
	file := filepath.Join(c.t.TempDir(), "client-viewer-oauth-endpoint.properties")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
	return file
}

// member joins a group, as the anonymous super user of the plaintext listener.
func (c *cluster) member(group, topic string) {
	c.t.Helper()
	c.topic(topic, 3)
	c.client(kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic), kgo.ClientID("member-of-"+group))
	eventually(c.t, time.Minute, group+" is Stable", func() error {
		out := c.script("groups", "--describe", "--group", group, "--state")
		if !strings.Contains(out, "Stable") {
			return fmt.Errorf("%s", out)
		}
		return nil
	})
}

// apacheSays runs kafka-consumer-groups with the file and returns the coordinator.
func (c *cluster) apacheSays(t *testing.T, file, group, urls string) string {
	t.Helper()
	cmd := exec.Command(filepath.Join(repository, "scripts", "kafka"), "tool", "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
		"--bootstrap-server", property(t, file, "bootstrap.servers"), "--command-config", file, "--describe", "--group", group, "--state")
	cmd.Env = append(os.Environ(), "KGDIAG_KAFKA_HOME="+c.home, "KGDIAG_KAFKA_OAUTH_URLS="+urls)
	out, err := cmd.CombinedOutput()
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(group) + `\s+(\S+)\s+\((\d+)\)`).FindSubmatch(out)
	if err != nil || m == nil {
		t.Fatalf("kafka-consumer-groups --command-config %s: %v\n%s", file, err, out)
	}
	return string(m[1]) + " " + string(m[2])
}

// librdkafkaSays lists groups with confluent-kafka and the same file. The brokers are
// asked for first: librdkafka lists the groups of those that it knows, none at the start.
func librdkafkaSays(t *testing.T, file, group string) {
	t.Helper()
	const script = `import sys
from confluent_kafka.admin import AdminClient
conf = dict(l.strip().split("=", 1) for l in open(sys.argv[1]) if "=" in l)
client = AdminClient(conf)
client.list_topics(timeout=30)
print([g.group_id for g in client.list_consumer_groups(request_timeout=30).result(timeout=40).valid])`
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, python, "-c", script, file).CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("'"+group+"'")) {
		t.Fatalf("confluent-kafka with %s: %v\n%s", file, err, out)
	}
}

// coordinators is what locate -o json says of one group.
type coordinators struct {
	Groups []struct {
		Coordinator struct {
			ID   int    `json:"id"`
			Host string `json:"host"`
			Port int    `json:"port"`
		} `json:"coordinator"`
		Agreement string `json:"agreement"`
	} `json:"groups"`
}

// TestWaysIn: each client file opens the cluster for kgdiag as it does for Apache's
// own tool, and both name the same coordinator.
func TestWaysIn(t *testing.T) {
	c := secureCluster(t)
	group, topic := name("ways"), name("ways-topic")
	c.member(group, topic)
	endpoint := c.tokenEndpoint()
	for _, w := range Ways {
		t.Run(w.File, func(t *testing.T) {
			file := c.clientFile(w.File)
			if w.File == "viewer-oauth-endpoint" {
				file = c.endpointFile(endpoint)
			}
			var loc coordinators
			r := kgdiag(t, "locate", group, "--command-config", file, "-o", "json").wants(t, 0)
			r.decode(t, &loc)
			if len(loc.Groups) != 1 || loc.Groups[0].Agreement != "agrees" {
				t.Fatalf("locate: %s", r)
			}
			g := loc.Groups[0].Coordinator
			got := fmt.Sprintf("%s %d", net.JoinHostPort(g.Host, fmt.Sprint(g.Port)), g.ID)
			switch w.Held {
			case BesideApache:
				if want := c.apacheSays(t, file, group, endpoint); got != want {
					t.Errorf("locate: coordinator %s, Apache's tool says %s", got, want)
				}
			case BesideLibrdkafka:
				librdkafkaSays(t, file, group)
			}
			if r := kgdiag(t, "describe", group, "--command-config", file).wants(t, 0); !strings.Contains(r.stdout, "member-of-"+group) {
				t.Errorf("describe shows no member: %s", r)
			}
			if r := kgdiag(t, "watch", group, "--for", "1s", "--command-config", file).wants(t, 0); !strings.Contains(r.stdout, group) {
				t.Errorf("watch shows nothing: %s", r)
			}
			if r := kgdiag(t, "check", "--command-config", file).wants(t, 0); strings.Contains(r.stdout, "FAIL") || r.stderr != "" {
				t.Errorf("check: %s", r)
			}
		})
	}
}

// checkDoc is the part of check -o json that the tests look at.
type checkDoc struct {
	OK    bool `json:"ok"`
	Error *struct {
		Kind    string `json:"kind"`
		Message string `json:"message"`
		Hint    string `json:"hint"`
	} `json:"error"`
	Connection struct {
		Principal string `json:"principal"`
	} `json:"connection"`
	Rights []struct {
		ID    string `json:"id"`
		State string `json:"state"`
	} `json:"rights"`
	Commands []struct {
		Command string `json:"command"`
		Works   string `json:"works"`
	} `json:"commands"`
}

// unsignedToken writes a token of viewer that nobody has signed, which ends at a moment
// in seconds since the Unix epoch.
func unsignedToken(t *testing.T, expires int64) (file string) {
	t.Helper()
	enc := base64.RawURLEncoding
	claims := fmt.Sprintf(`{"sub":"viewer","iat":%d,"exp":%d}`, expires-3600, expires)
	file = filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(enc.EncodeToString([]byte(`{"alg":"none"}`))+"."+enc.EncodeToString([]byte(claims))+"."), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestConnectionFaults: every way of getting it wrong has its own line, a hint that
// helps, and exit 3.
func TestConnectionFaults(t *testing.T) {
	c := secureCluster(t)
	plain, ssl, saslSSL, saslPlain := c.port(""), c.port("-SSL"), c.port("-SASL_SSL"), c.port("-SASL_PLAINTEXT")
	ca := "ssl.ca.location=" + c.secureFile("ca.pem")
	pass, err := os.ReadFile(c.secureFile("viewer.password"))
	if err != nil {
		t.Fatal(err)
	}
	secret := strings.TrimSpace(string(pass))
	user := []string{"sasl.username=viewer", "sasl.password.file=" + c.secureFile("viewer.password")}
	other := filepath.Join(t.TempDir(), "ca.pem")
	if out, err := exec.Command("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=other", "-keyout", other+".key", "-out", other).CombinedOutput(); err != nil {
		t.Fatalf("openssl: %v\n%s", err, out)
	}
	old, unsigned := unsignedToken(t, 1_700_000_000), unsignedToken(t, time.Now().Add(time.Hour).Unix())
	for _, tt := range []struct {
		name, addr string
		x          []string
		kind       string
		says, hint string
	}{
		{"plaintext to TLS", ssl, nil, "plaintext_to_tls", "this listener speaks TLS, the connection is plaintext", "-X security.protocol=SSL"},
		{"plaintext to SASL_SSL", saslSSL, nil, "plaintext_to_tls", "this listener speaks TLS", "-X security.protocol=SASL_SSL -X sasl.mechanism=OAUTHBEARER (or PLAIN, SCRAM-SHA-256, SCRAM-SHA-512)"},
		{"TLS to plaintext", plain, []string{"security.protocol=SSL"}, "tls_to_plaintext", "this listener speaks plaintext, the connection is TLS", "-X security.protocol=PLAINTEXT"},
		{"no client certificate", ssl, []string{"security.protocol=SSL", ca}, "client_certificate", "the broker asks for a client certificate, and none is set", "ssl.keystore.location"},
		{"CA not trusted", saslSSL, append([]string{"security.protocol=SASL_SSL", "sasl.mechanism=PLAIN"}, user...), "unknown_ca", "signed by CN=kgdiag-test-ca, which is not trusted here", "ssl.ca.location=FILE"},
		{"wrong CA", saslSSL, append([]string{"security.protocol=SASL_SSL", "sasl.mechanism=PLAIN", "ssl.ca.location=" + other}, user...), "unknown_ca", "signed by CN=kgdiag-test-ca", "has to hold the CA that signed it"},
		{"no SASL", saslPlain, nil, "sasl_required", "this listener asks for SASL (SCRAM-SHA-256, SCRAM-SHA-512), and none is set", "-X security.protocol=SASL_PLAINTEXT -X sasl.mechanism=SCRAM-SHA-256"},
		{"SASL to a listener without", plain, append([]string{"security.protocol=SASL_PLAINTEXT", "sasl.mechanism=PLAIN"}, user...), "sasl_unexpected", "this listener asks for no user, and PLAIN is set", "-X security.protocol=PLAINTEXT"},
		{"mechanism not enabled", saslPlain, append([]string{"security.protocol=SASL_PLAINTEXT", "sasl.mechanism=PLAIN"}, user...), "mechanism", "does not offer PLAIN, but SCRAM-SHA-256, SCRAM-SHA-512", "-X sasl.mechanism=SCRAM-SHA-256"},
		{"wrong password", saslPlain, []string{"security.protocol=SASL_PLAINTEXT", "sasl.mechanism=SCRAM-SHA-512", "sasl.username=viewer", "sasl.password=wrong"}, "credentials", "authentication of SCRAM-SHA-512 user viewer failed", "wrong user or password"},
		{"wrong password, PLAIN", saslSSL, []string{"security.protocol=SASL_SSL", ca, "sasl.mechanism=PLAIN", "sasl.username=viewer", "sasl.password=wrong"}, "credentials", "authentication of PLAIN user viewer failed: Authentication failed: Invalid username or password", "wrong user or password"},
		{"expired token", saslSSL, []string{"security.protocol=SASL_SSL", ca, "sasl.mechanism=OAUTHBEARER", "sasl.oauthbearer.token.endpoint.url=file://" + old}, "token", "the OAuth token expired on 2023-11-14", "fetch a new one"},
		{"token that nobody signed", saslSSL, []string{"security.protocol=SASL_SSL", ca, "sasl.mechanism=OAUTHBEARER", "sasl.oauthbearer.token.endpoint.url=file://" + unsigned}, "credentials", "authentication of OAUTHBEARER failed", "the token is expired, or not for this cluster"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args := []string{"check", "-o", "json", "-b", tt.addr}
			for _, x := range tt.x {
				args = append(args, "-X", x)
			}
			r := kgdiag(t, args...).wants(t, 3)
			var doc checkDoc
			r.decode(t, &doc)
			if doc.OK || doc.Error == nil || doc.Error.Kind != tt.kind || !strings.Contains(doc.Error.Message, tt.says) || !strings.Contains(doc.Error.Hint, tt.hint) {
				t.Errorf("want %s %q, hint %q, got %s", tt.kind, tt.says, tt.hint, r)
			}
			if strings.Contains(r.stdout+r.stderr, secret) {
				t.Error("the password is shown")
			}
		})
	}
}

// TestCheckTellsTheTruth runs what check says works, and what it says does not.
func TestCheckTellsTheTruth(t *testing.T) {
	c := secureCluster(t)
	group, topic := name("truth"), name("truth-topic")
	c.member(group, topic)
	want := map[string]map[string]string{
		"viewer": {"offsets_topic": "yes", "offsets_read": "no", "groups": "yes", "topics": "yes", "broker_configs": "no", "group_configs": "no", "cluster": "yes"},
		"reader": {"offsets_topic": "yes", "offsets_read": "yes", "groups": "yes", "topics": "yes", "broker_configs": "yes", "group_configs": "yes", "cluster": "yes"},
		"nobody": {"offsets_topic": "no", "offsets_read": "no", "groups": "unknown", "topics": "unknown", "broker_configs": "no", "group_configs": "no", "cluster": "no"},
	}
	for user, rights := range want {
		t.Run(user, func(t *testing.T) {
			file := c.clientFile(user)
			code := 0
			if user == "nobody" {
				code = 3
			}
			var doc checkDoc
			r := kgdiag(t, "check", "-o", "json", "--command-config", file).wants(t, code)
			r.decode(t, &doc)
			for _, x := range doc.Rights {
				if rights[x.ID] != x.State {
					t.Errorf("%s: %s, want %s", x.ID, x.State, rights[x.ID])
				}
			}
			if len(doc.Rights) != len(rights) || doc.Connection.Principal != "User:"+user {
				t.Errorf("check: %s", r)
			}
			for _, cmd := range doc.Commands {
				args := map[string][]string{"locate": {"locate", group}, "describe": {"describe", group}, "history": {"history", group}, "why": {"why", group}, "advise": {"advise", group}}[cmd.Command]
				if args == nil {
					continue
				}
				got := kgdiag(t, append(args, "--command-config", file)...)
				if strings.Contains(got.stderr, "unknown command") {
					continue // of a release to come
				}
				if (cmd.Works == "no") != (got.code != 0 && got.code != 1) {
					t.Errorf("check says of %s: %s, but %s", cmd.Command, cmd.Works, got)
				}
			}
		})
	}
}

// TestGrantsWork gives nobody what check prints, and asks again.
func TestGrantsWork(t *testing.T) {
	if os.Getenv("KGDIAG_TEST_SECURE_HOME") != "" {
		t.Skip("it changes the cluster's ACLs")
	}
	c := secureCluster(t)
	group, topic := name("grants"), name("grants-topic")
	c.member(group, topic)
	file := c.clientFile("nobody")
	var doc struct {
		Grants []struct {
			Command string `json:"command"`
		} `json:"grants"`
	}
	kgdiag(t, "check", "-o", "json", "--command-config", file).wants(t, 3).decode(t, &doc)
	if len(doc.Grants) == 0 {
		t.Fatal("no grants")
	}
	for _, g := range doc.Grants {
		args := strings.Fields(strings.ReplaceAll(g.Command, "'", ""))[1:]
		for i, a := range args {
			switch {
			case i > 0 && args[i-1] == "--bootstrap-server":
				args[i] = c.port("-SASL_SSL")
			case a == "ADMIN.properties":
				args[i] = c.clientFile("admin")
			}
		}
		c.script(append([]string{"tool", "org.apache.kafka.tools.AclCommand"}, args...)...)
	}
	eventually(t, time.Minute, "every command works fully", func() error {
		r := kgdiag(t, "check", "--strict", "--command-config", file)
		if r.code != 0 {
			return fmt.Errorf("%s", r)
		}
		return nil
	})
}
