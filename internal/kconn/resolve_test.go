package kconn

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kgdiag/kgdiag/internal/kconn/fault"
)

// env makes a getenv of pairs.
func env(kv ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(kv); i += 2 {
			if kv[i] == name {
				return kv[i+1]
			}
		}
		return ""
	}
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWhichCluster(t *testing.T) {
	file := write(t, "client.properties", "bootstrap.servers=file:1\n")
	bare := write(t, "bare.properties", "security.protocol=PLAINTEXT\n")
	home := t.TempDir()
	os.MkdirAll(filepath.Join(home, ".config", "kgdiag"), 0o700)
	os.WriteFile(filepath.Join(home, ".config", "kgdiag", "config.yaml"), []byte("current-context: dev\ncontexts:\n  dev:\n    bootstrap.servers: dev:1\n  prod:\n    bootstrap.servers: prod:1\n"), 0o600)
	tests := []struct {
		name    string
		opt     Options
		env     []string
		want    string
		context string
		warning string
	}{
		{name: "-b alone", opt: Options{Bootstrap: "flag"}, want: "flag:9092"},
		{name: "-b above all", opt: Options{Bootstrap: "flag:1", CommandConfig: file, Context: "prod", X: []string{"bootstrap.servers=x:1"}}, env: []string{"KAFKA_BOOTSTRAP_SERVERS", "env:1"},
			want: "flag:1", context: "prod", warning: "cluster flag:1, as --bootstrap-server says; -X bootstrap.servers says x:1"},
		{name: "--context above file", opt: Options{CommandConfig: file, Context: "prod"}, want: "prod:1", context: "prod", warning: "says file:1"},
		{name: "file above environment", opt: Options{CommandConfig: file}, env: []string{"KGDIAG_BOOTSTRAP_SERVER", "env:1", "KAFKA_BOOTSTRAP_SERVERS", "kenv:1"},
			want: "file:1", warning: "KGDIAG_BOOTSTRAP_SERVER says env:1"},
		{name: "a file without servers leaves the choice to the environment", opt: Options{CommandConfig: bare}, env: []string{"KAFKA_BOOTSTRAP_SERVERS", "kenv:1"}, want: "kenv:1"},
		{name: "KGDIAG above KAFKA", env: []string{"KGDIAG_BOOTSTRAP_SERVER", "env:1", "KAFKA_BOOTSTRAP_SERVERS", "kenv:1"}, want: "env:1", warning: "KAFKA_BOOTSTRAP_SERVERS says kenv:1"},
		{name: "the same cluster twice is no conflict", env: []string{"KGDIAG_BOOTSTRAP_SERVER", "a:1,b:1", "KAFKA_BOOTSTRAP_SERVERS", "b:1"}, want: "a:1,b:1"},
		{name: "KGDIAG_CONTEXT", env: []string{"KGDIAG_CONTEXT", "prod"}, want: "prod:1", context: "prod"},
		{name: "KGDIAG_COMMAND_CONFIG", env: []string{"KGDIAG_COMMAND_CONFIG", file}, want: "file:1"},
		{name: "KAFKA above the default context", env: []string{"KAFKA_BOOTSTRAP_SERVERS", "kenv:1"}, want: "kenv:1"},
		{name: "default context", want: "dev:1", context: "dev"},
		{name: "-b of another cluster does not borrow the default context", opt: Options{Bootstrap: "flag:1"}, want: "flag:1"},
		{name: "-b of the same cluster does", opt: Options{Bootstrap: "dev:1"}, want: "dev:1", context: "dev"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			opt := tt.opt
			opt.Getenv, opt.Home = env(tt.env...), home
			c, warnings, err := Resolve(opt)
			if err != nil {
				t.Fatal(err)
			}
			if c.Bootstrap != tt.want || c.Context != tt.context {
				t.Errorf("got %s in context %q, want %s in %q", c.Bootstrap, c.Context, tt.want, tt.context)
			}
			all := strings.Join(warnings, "\n")
			if (tt.warning == "") != (all == "") || !strings.Contains(all, tt.warning) {
				t.Errorf("warnings %q, want %q", all, tt.warning)
			}
		})
	}
}

func TestUsageErrors(t *testing.T) {
	dir := t.TempDir()
	file := func(text string) string { return write(t, "c.properties", text) }
	tests := []struct {
		name      string
		opt       Options
		env       []string
		want, tip string
	}{
		{"no cluster", Options{}, nil, "no cluster named, and kgdiag guesses none", "-b HOST:PORT"},
		{"file without servers", Options{CommandConfig: file("a=b")}, nil, "has no bootstrap.servers", "-b HOST:PORT"},
		{"no such file", Options{CommandConfig: dir + "/none"}, nil, "--command-config: " + dir + "/none: no such file", ""},
		{"a directory", Options{CommandConfig: dir}, nil, "--command-config: " + dir + " is a directory, a file is expected", ""},
		{"a binary file", Options{CommandConfig: file("a=b\x00\x01")}, nil, "not text", "key=value"},
		{"-X without =", Options{Bootstrap: "a", X: []string{"s3cret"}}, nil, "-X: a setting is written key=value", "-X security.protocol"},
		{"bad port", Options{Bootstrap: "a:b"}, nil, `--bootstrap-server: "a:b": "b" is no port`, "HOST:PORT"},
		{"IPv6 without brackets", Options{Bootstrap: "::1:9092"}, nil, "is written [::1]:9092", ""},
		{"bad protocol", Options{Bootstrap: "a", X: []string{"security.protocol=HTTPS"}}, nil, `-X: security.protocol: "HTTPS" is no protocol`, "SASL_SSL"},
		{"bad mechanism", Options{Bootstrap: "a", X: []string{"security.protocol=SASL_SSL", "sasl.mechanism=SCRAM-SHA512"}}, nil, `"SCRAM-SHA512" is no mechanism`, "SCRAM-SHA-512"},
		{"no mechanism", Options{Bootstrap: "a", X: []string{"security.protocol=SASL_SSL", "sasl.username=u"}}, nil, "sasl.mechanism is not set", "PLAIN"},
		{"no password", Options{Bootstrap: "a", X: []string{"security.protocol=SASL_SSL", "sasl.mechanism=PLAIN", "sasl.username=u"}}, nil, "the password of u is missing", "KGDIAG_SASL_PASSWORD"},
		{"module and mechanism differ", Options{Bootstrap: "a", CommandConfig: file("security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.jaas.config=o.S.ScramLoginModule required username=\"a\" password=\"b\";\n")}, nil,
			"c.properties:2: sasl.mechanism is PLAIN, but ScramLoginModule is for SCRAM", ""},
		{"JAAS without ;", Options{Bootstrap: "a", CommandConfig: file("security.protocol=SASL_SSL\nsasl.jaas.config=o.PlainLoginModule required username=\"a\" password=\"s3cret\"\n")}, nil,
			"c.properties:2: sasl.jaas.config: it ends where an option or ; should stand; it must end in ;", "PlainLoginModule required"},
		{"unset reference", Options{Bootstrap: "a", CommandConfig: file("sasl.password=${KAFKA_PW}\n")}, nil, "c.properties:1: sasl.password: it refers to the environment variable KAFKA_PW, which is not set", ""},
		{"bad broker map", Options{Bootstrap: "a", BrokerMap: "1=x"}, nil, `--broker-map: "x": HOST:PORT is expected`, "--broker-map 1=localhost:19091"},
		{"unknown context", Options{Context: "nope"}, nil, `--context: no context "nope"`, "check --contexts"},
		{"no CA file", Options{Bootstrap: "a", X: []string{"security.protocol=SSL", "ssl.ca.location=/nope"}}, nil, "-X: ssl.ca.location: /nope: no such file", ""},
		{"a CA file without CA", Options{Bootstrap: "a", X: []string{"security.protocol=SSL", "ssl.ca.location=" + file("hello")}}, nil, "not a key store", "PEM"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			opt := tt.opt
			opt.Getenv = env(tt.env...)
			_, warnings, err := Resolve(opt)
			var e *fault.Error
			if !errors.As(err, &e) || !e.Usage() {
				t.Fatalf("got %v, want a usage error", err)
			}
			if !strings.Contains(e.Error(), tt.want) || !strings.Contains(e.Hint(), tt.tip) {
				t.Errorf("got %q, hint %q; want %q, %q", e.Error(), e.Hint(), tt.want, tt.tip)
			}
			if all := e.Error() + e.Hint() + strings.Join(warnings, ""); strings.Contains(all, "s3cret") {
				t.Errorf("a secret is shown: %s", all)
			}
		})
	}
}

func TestSettingsPrecedence(t *testing.T) {
	file := write(t, "c.properties", "bootstrap.servers=a:1\nsecurity.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config=x.PlainLoginModule required \\\n  username=\"file\" password=\"pw\";\n")
	for _, tt := range []struct {
		name string
		x    []string
		env  []string
		want string
	}{
		{"file", nil, nil, "file"},
		{"environment above file", nil, []string{"KGDIAG_SASL_USERNAME", "env"}, "env"},
		{"-X above environment", []string{"sasl.username=x"}, []string{"KGDIAG_SASL_USERNAME", "env"}, "x"},
		{"KGDIAG_X is environment", nil, []string{"KGDIAG_X", "sasl.username=kx\nclient.dns.lookup=use_all_dns_ips"}, "kx"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, _, err := Resolve(Options{CommandConfig: file, X: tt.x, Getenv: env(tt.env...)})
			if err != nil {
				t.Fatal(err)
			}
			if c.User != tt.want || c.Mechanism != "PLAIN" || c.Protocol != "SASL_PLAINTEXT" {
				t.Errorf("got %+v user %s, want user %s", c, c.User, tt.want)
			}
		})
	}
}

func TestTheBrokerMapIsASettingLikeOthers(t *testing.T) {
	dir := home(t, map[string]string{".config/kgdiag/config.yaml": "contexts:\n  c: {bootstrap.servers: a, broker-map: 1=context:1}\n  bad: {bootstrap.servers: a, broker-map: x=}\n"})
	for _, tt := range []struct {
		flag string
		env  []string
		want string
	}{
		{"", nil, "context:1"},
		{"", []string{"KGDIAG_BROKER_MAP", "1=env:1"}, "env:1"},
		{"1=flag:1", []string{"KGDIAG_BROKER_MAP", "1=env:1"}, "flag:1"},
	} {
		c, warnings, err := Resolve(Options{Home: dir, Context: "c", BrokerMap: tt.flag, Getenv: env(tt.env...)})
		if err != nil || c.brokers.byID[1] != tt.want || len(warnings) > 0 {
			t.Errorf("--broker-map %q, %v: %v %v %q, want %s", tt.flag, tt.env, c.brokers, err, warnings, tt.want)
		}
	}
	_, _, err := Resolve(Options{Home: dir, Context: "bad"})
	if e := fault.As(err); e == nil || !e.Usage() || !strings.Contains(e.Error(), "config.yaml:3: broker-map: ") {
		t.Errorf("got %v, want file and line", err)
	}
}

func TestAContextExpandsItsServers(t *testing.T) {
	dir := home(t, map[string]string{".config/kgdiag/config.yaml": "contexts:\n  c: {bootstrap.servers: '${HOST}:1'}\n"})
	c, _, err := Resolve(Options{Home: dir, Context: "c", Getenv: env("HOST", "k")})
	if err != nil || c.Bootstrap != "k:1" || c.Source != "context c" {
		t.Errorf("got %v from %s, %v", c, c.Source, err)
	}
	_, _, err = Resolve(Options{Home: dir, Context: "c"})
	if err == nil || !strings.Contains(err.Error(), "config.yaml:2: bootstrap.servers: it refers to the environment variable HOST, which is not set") {
		t.Errorf("got %v", err)
	}
}

func TestWarnings(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		x          []string
		want       string
	}{
		{"typo", "bootstrap.server=a:1\n", nil, "c.properties:1: bootstrap.server: unknown key, not used; did you mean bootstrap.servers?"},
		{"other spelling", "security_protocol=SSL\n", nil, "did you mean security.protocol?"},
		{"no idea", "quux.frob=1\n", nil, "c.properties:1: quux.frob: unknown key, not used"},
		{"known and of no concern", "group.id=g\nsession.timeout.ms=1\nauto.offset.reset=earliest\nschema.registry.url=x\nconfig.providers=env\nstatistics.interval.ms=1\n", nil, ""},
		{"duplicate", "client.id=a\n\nclient.id=b\n", nil, "client.id stands on lines 1 and 3; the last one counts"},
		{"unsupported", "ssl.engine.factory.class=x.Y\n", nil, "not acted upon; use ssl.keystore.location"},
		{"password in ps", "", []string{"sasl.password=s3cret"}, "sasl.password on the command line: every user of this machine can read it"},
		{"forgotten protocol", "sasl.mechanism=PLAIN\n", nil, "sasl.mechanism is set and security.protocol is not: the connection is PLAINTEXT"},
		{"no verification", "security.protocol=SSL\nenable.ssl.certificate.verification=false\n", nil, "anyone on the way can pose as the broker"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, warnings, err := Resolve(Options{Bootstrap: "a", CommandConfig: write(t, "c.properties", tt.text), X: tt.x})
			if err != nil {
				t.Fatal(err)
			}
			all := strings.Join(warnings, "\n")
			if (tt.want == "") != (all == "") || !strings.Contains(all, tt.want) {
				t.Errorf("got %q, want %q", all, tt.want)
			}
			if strings.Contains(all, "s3cret") {
				t.Errorf("a secret is shown: %s", all)
			}
		})
	}
}

func TestSecrets(t *testing.T) {
	secret := write(t, "pw", "from-file\n")
	base := []string{"security.protocol=SASL_SSL", "sasl.mechanism=PLAIN", "sasl.username=u"}
	for _, tt := range []struct {
		name   string
		x      []string
		env    []string
		prompt func(string) (string, error)
	}{
		{"KGDIAG_SASL_PASSWORD_FILE", nil, []string{"KGDIAG_SASL_PASSWORD_FILE", secret}, nil},
		{"-X sasl.password.file", []string{"sasl.password.file=" + secret}, nil, nil},
		{"${NAME}", []string{"sasl.password=${PW}"}, []string{"PW", "from-file"}, nil},
		{"${env:NAME}", []string{"sasl.password=${env:PW}"}, []string{"PW", "from-file"}, nil},
		{"${file:PATH:KEY}", []string{"sasl.password=${file:" + write(t, "s.properties", "pw=from-file") + ":pw}"}, nil, nil},
		{"prompt", nil, nil, func(label string) (string, error) {
			if label != "password of u" {
				t.Errorf("asked for %q", label)
			}
			return "from-file", nil
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, warnings, err := Resolve(Options{Bootstrap: "a", X: append(base, tt.x...), Getenv: env(tt.env...), Prompt: tt.prompt})
			if err != nil {
				t.Fatal(err)
			}
			if len(warnings) > 0 {
				t.Errorf("warnings: %q", warnings)
			}
			_, first, err := c.login.Mechanisms[0].Authenticate(t.Context(), "h:1")
			if err != nil || string(first) != "\x00u\x00from-file" {
				t.Errorf("got %q, %v", first, err)
			}
		})
	}
}

func TestConfigPrintsNoSecret(t *testing.T) {
	c, _, err := Resolve(Options{Bootstrap: "a", X: []string{"security.protocol=SASL_SSL", "sasl.mechanism=PLAIN", "sasl.username=u", "sasl.password=s3cret"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"%v", "%+v", "%#v", "%s"} {
		if s := fmt.Sprintf(f, c); strings.Contains(s, "s3cret") {
			t.Errorf("%s shows the password: %s", f, s)
		}
	}
}

func TestLibrdkafkaBackslash(t *testing.T) {
	c, _, err := Resolve(Options{CommandConfig: write(t, "kcat.conf", "metadata.broker.list=a:1\nsecurity.protocol=sasl_plaintext\nsasl.mechanisms=PLAIN\nsasl.username=u\nsasl.password=p\\w\n")})
	if err != nil {
		t.Fatal(err)
	}
	if _, first, _ := c.login.Mechanisms[0].Authenticate(t.Context(), "h:1"); string(first) != "\x00u\x00p\\w" {
		t.Errorf("got %q: librdkafka knows no escapes", first)
	}
}

func FuzzResolve(f *testing.F) {
	for _, s := range []string{"bootstrap.servers=a:1,[::1]:2\nsecurity.protocol=SSL", "sasl.jaas.config=x.PlainLoginModule required username=\"a\" password=\"b\";\nsecurity.protocol=SASL_SSL\nsasl.mechanism=PLAIN",
		"security.protocol=SSL\nssl.truststore.certificates=-----BEGIN CERTIFICATE-----\\nAAAA\\n-----END CERTIFICATE-----", "a=${X}${env:Y}${file:/z:q}", "broker.address.family=v9\nproxy.url=socks5://:%zz@"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "c")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := Resolve(Options{CommandConfig: path, Bootstrap: "a:1"})
		var e *fault.Error
		if err != nil && (!errors.As(err, &e) || !e.Usage()) {
			t.Fatalf("an error of another kind: %v", err)
		}
	})
}
