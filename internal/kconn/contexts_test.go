package kconn

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// home makes a home directory with these files.
func home(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

var neighbourFiles = map[string]string{
	".kaf/config": `current-cluster: local
clusters:
- name: local
  brokers: [localhost:9092]
- name: prod
  brokers: [k1:9093, k2:9093]
  SASL: {mechanism: SCRAM-SHA-512, username: u, password: s3cret}
  TLS: {cafile: "", insecure: false}
  security-protocol: SASL_SSL
`,
	".config/kafkactl/config.yml": `contexts:
  default:
    brokers: [localhost:9092]
  remote:
    brokers: [r1:9092, r2:9092]
    tls: {enabled: true, insecure: true}
    sasl: {enabled: true, username: admin, password: s3cret, mechanism: scram-sha256}
  pod:
    brokers: [p:9092]
    kubernetes: {enabled: true}
current-context: default
`,
	".config/rpk/rpk.yaml": `version: 6
current_profile: rp
profiles:
- name: rp
  kafka_api:
    brokers: [rp:9092]
    tls: {}
    sasl: {user: u, password: s3cret, mechanism: SCRAM-SHA-256}
`,
	".config/kcl/config.toml": `seed_brokers = ["kcl:9092"]
[sasl]
method = "plain"
user = "u"
pass = "s3cret"
[profiles.prod]
seed_brokers = ["kclprod:9092"]
`,
}

func TestNeighbours(t *testing.T) {
	dir := home(t, neighbourFiles)
	list, _, err := Contexts(Options{Home: dir})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range list {
		got = append(got, strings.TrimSpace(strings.Join([]string{c.Name, c.Bootstrap, c.Protocol, c.Mechanism, firstOf(c.Problem, "")}, " ")))
		if strings.Contains(c.Problem+c.Bootstrap, "s3cret") {
			t.Error("a secret is shown")
		}
	}
	want := []string{
		"kaf/local localhost:9092 PLAINTEXT",
		"kaf/prod k1:9093,k2:9093 SASL_SSL SCRAM-SHA-512",
		"kafkactl/default localhost:9092 PLAINTEXT",
		"kafkactl/pod p:9092   it runs inside a pod; here: kubectl port-forward and --broker-map",
		"kafkactl/remote r1:9092,r2:9092 SASL_SSL SCRAM-SHA-256",
		"kcl/default kcl:9092 SASL_PLAINTEXT PLAIN",
		"kcl/prod kclprod:9092 PLAINTEXT",
		"rpk/rp rp:9092 SASL_SSL SCRAM-SHA-256",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	// By name they work, and never by default.
	if c, _, err := Resolve(Options{Home: dir, Context: "kaf/prod"}); err != nil || c.Bootstrap != "k1:9093,k2:9093" || c.User != "u" {
		t.Errorf("got %v, %v", c, err)
	}
	_, _, err = Resolve(Options{Home: dir})
	if e := asError(err); e == nil || e.Kind != KindNoCluster || !strings.Contains(e.Hint(), "--context kaf/prod") {
		t.Errorf("got %v", err)
	}
	_, _, err = Resolve(Options{Home: dir, Context: "remote"})
	if e := asError(err); e == nil || e.Hint() != "--context kafkactl/remote" {
		t.Errorf("got %v", err)
	}
	if _, _, err = Resolve(Options{Home: dir, Context: "kafkactl/pod"}); err == nil || !strings.Contains(err.Error(), "inside a pod") {
		t.Errorf("got %v", err)
	}
}

func TestOwnContexts(t *testing.T) {
	props := write(t, "client.properties", "bootstrap.servers=ignored:1\nsecurity.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.username=file\nsasl.password=p\n")
	dir := home(t, map[string]string{".config/kgdiag/config.yaml": `
current-context: dev
contexts:
  dev: {bootstrap.servers: "dev:1"}
  prod:
    bootstrap.servers: [k1:9093, k2:9093]
    command-config: ` + props + `
    sasl.username: mine
    sasl.password: ${KAFKA_PW}
    broker-map: 1=localhost:19091
`})
	c, warnings, err := Resolve(Options{Home: dir, Context: "prod", Getenv: env("KAFKA_PW", "from-env")})
	if err != nil {
		t.Fatal(err)
	}
	if c.Bootstrap != "k1:9093,k2:9093" || c.Context != "prod" || c.User != "mine" || c.Protocol != "SASL_SSL" || c.brokers.byID[1] != "localhost:19091" || len(warnings) > 0 {
		t.Errorf("got %+v, user %s, %q", c, c.User, warnings)
	}
	if _, first, _ := c.sasl[0].Authenticate(t.Context(), "h:1"); string(first) != "\x00mine\x00from-env" {
		t.Errorf("got %q", first)
	}
}

func TestBrokenContexts(t *testing.T) {
	for text, want := range map[string]string{
		"contexts: [a]":                            "line 1: key: value lines are expected",
		"context:\n  a: {}\n":                      "line 1: context: current-context and contexts are known",
		"contexts:\n  a:\n    b: {c: d}\n":         "line 3: b: a value is expected",
		"\tx":                                      "cannot start any token",
		"contexts:\n  a:\n    - x\n":               "line 3: key: value lines are expected",
		"current-context: b\ncontexts:\n  a: {}\n": `no context "b"`,
	} {
		dir := home(t, map[string]string{".config/kgdiag/config.yaml": text})
		_, _, err := Resolve(Options{Home: dir})
		if e := asError(err); e == nil || !e.Usage() || !strings.Contains(e.Error(), want) || !strings.Contains(e.Error(), "config.yaml") {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

func FuzzContexts(f *testing.F) {
	f.Add([]byte("contexts:\n  a: {bootstrap.servers: [b, c]}\n"))
	for _, text := range neighbourFiles {
		f.Add([]byte(text))
	}
	f.Fuzz(func(_ *testing.T, b []byte) {
		c := &contexts{}
		_ = c.parse(b) // must not panic
		for _, n := range neighbours {
			if list, err := n.parse(b); err == nil {
				for _, p := range list {
					p.context(n.name, "f")
				}
			}
		}
	})
}
