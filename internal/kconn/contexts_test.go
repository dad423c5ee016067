package kconn

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kgdiag/kgdiag/internal/kconn/fault"
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

func TestContextsAreListed(t *testing.T) {
	dir := home(t, map[string]string{".config/kgdiag/config.yaml": `
current-context: dev
contexts:
  dev: {bootstrap.servers: dev}
  prod: {bootstrap.servers: [k1:9093, k2:9093], security.protocol: SASL_SSL, sasl.mechanism: SCRAM-SHA-512, sasl.username: u, sasl.password: s3cret}
  asks: {bootstrap.servers: "a:1", security.protocol: SASL_SSL, sasl.mechanism: PLAIN, sasl.username: u}
  broken: {bootstrap.servers: "a:1", security.protocol: HTTPS}
`})
	list, path, err := Contexts(Options{Home: dir, Getenv: env("KGDIAG_CONTEXT", "nowhere")})
	if err != nil || path != filepath.Join(dir, ".config/kgdiag/config.yaml") {
		t.Fatal(path, err)
	}
	var got []string
	for _, c := range list {
		got = append(got, strings.TrimSpace(strings.Join([]string{c.Name, c.Bootstrap, c.Protocol, c.Mechanism, c.Problem}, " ")))
		if strings.Contains(c.Problem+c.Bootstrap, "s3cret") || c.Default != (c.Name == "dev") {
			t.Errorf("%+v", c)
		}
	}
	want := []string{
		"dev dev:9092 PLAINTEXT",
		"prod k1:9093,k2:9093 SASL_SSL SCRAM-SHA-512",
		"asks a:1 SASL_SSL PLAIN",
		"broken a:1   " + path + `:7: security.protocol: "HTTPS" is no protocol`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	_, _, err = Resolve(Options{Home: dir, Getenv: env("KGDIAG_CONFIG", path)})
	if err != nil {
		t.Error(err)
	}
}

// Once the clusters of four other tools were taken as TOOL/NAME.
func TestContextsOfOtherToolsAreRefused(t *testing.T) {
	for _, name := range []string{"kaf/prod", "kafkactl/remote", "kcl/default", "rpk/rp"} {
		_, _, err := Resolve(Options{Home: t.TempDir(), Context: name})
		tool, _, _ := strings.Cut(name, "/")
		if e := fault.As(err); e == nil || !e.Usage() || !strings.Contains(e.Error(), `no context "`+name+`"`) || !strings.Contains(e.Hint(), "the clusters of "+tool+" are not read") {
			t.Errorf("%s: %v", name, err)
		}
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
	if _, first, _ := c.login.Mechanisms[0].Authenticate(t.Context(), "h:1"); string(first) != "\x00mine\x00from-env" {
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
		if e := fault.As(err); e == nil || !e.Usage() || !strings.Contains(e.Error(), want) || !strings.Contains(e.Error(), "config.yaml") {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}
