package clientconf

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/clientconf/properties"
)

func readOne(t *testing.T, text string, o Options) inspect.ClientConfig {
	t.Helper()
	cs, err := Read("c.properties", []byte(text), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(cs) != 1 {
		t.Fatalf("got %d consumers, want 1", len(cs))
	}
	return cs[0]
}

func TestJavaSettings(t *testing.T) {
	c := readOne(t, "group.id=orders\n# a comment\nsession.timeout.ms = 45000 \nsasl.jaas.config=x password=\"hunter2\";\n", Options{})
	if c.Group != "orders" || c.Family != inspect.Java || !c.Assumed || c.Dialect != "java" {
		t.Errorf("got %+v", c)
	}
	s, ok := c.Get("session.timeout.ms")
	if !ok || s.Value != "45000" || s.Millis == nil || s.Millis.Duration() != 45*time.Second || s.Where.Line != 3 {
		t.Errorf("got %+v", s)
	}
	for _, s := range c.Settings {
		if strings.Contains(s.Value, "hunter2") {
			t.Errorf("a secret was kept in %s", s.Key)
		}
	}
}

func TestClientIsTaken(t *testing.T) {
	c := readOne(t, "session.timeout.ms=1\n", Options{Family: inspect.Librdkafka, Version: "2.3.0"})
	if c.Family != inspect.Librdkafka || c.Version != "2.3.0" || c.Assumed {
		t.Errorf("got %+v", c)
	}
}

func TestLastOneWinsAndBothAreNamed(t *testing.T) {
	c := readOne(t, "session.timeout.ms=10 seconds\nsession.timeout.ms=20000", Options{})
	s, _ := c.Get("session.timeout.ms")
	if s.Value != "20000" || s.Overrides == nil || s.Overrides.Line != 1 || len(c.Settings) != 1 {
		t.Errorf("got %+v", c.Settings)
	}
	if len(c.Problems) != 1 || !strings.Contains(c.Problems[0].Message, "line 1 and again on line 2") {
		t.Errorf("got %+v", c.Problems)
	}
}

func TestProblems(t *testing.T) {
	for _, tc := range []struct{ line, kind, says string }{
		{"max.poll.intervall.ms=1000", "unknown_key", "nearest is max.poll.interval.ms"},
		{"max_poll_interval=1000", "unknown_key", "nearest is max.poll.interval.ms"},
		{"my.application.colour=red", "unknown_key", "no setting of a Kafka consumer"},
		{"group.max.size=3", "broker_key", "broker's setting"},
		{"linger.ms=3", "producer_key", "producer's setting"},
		{"session.timeout.ms=30000   # thirty", "not_a_number", "line of their own"},
		{"session.timeout.ms=30s", "not_a_number", "write 30000"},
		{"session.timeout.ms=${TIMEOUT}", "placeholder", "placeholder"},
		{"max.poll.records=many", "not_a_number", "not a whole number"},
	} {
		c := readOne(t, "group.id=g\n"+tc.line, Options{})
		if len(c.Problems) != 1 || c.Problems[0].Kind != tc.kind || !strings.Contains(c.Problems[0].Message, tc.says) || c.Problems[0].Where.Line != 2 {
			t.Errorf("%s: got %+v, want %s saying %q", tc.line, c.Problems, tc.kind, tc.says)
		}
	}
}

func TestKnownKeysHaveNoProblem(t *testing.T) {
	c := readOne(t, "ssl.truststore.location=/x\nsecurity.protocol=SSL\nsession_timeout_ms=30000\nfetch.wait.max.ms=5", Options{})
	if len(c.Problems) != 0 {
		t.Errorf("got %+v", c.Problems)
	}
	if _, ok := c.Get("session.timeout.ms"); !ok {
		t.Error("the Python spelling is not known")
	}
	if s, ok := c.Get("fetch.max.wait.ms"); !ok || s.Spelled != "fetch.wait.max.ms" {
		t.Error("the librdkafka spelling is not known")
	}
}

func TestRefusedFiles(t *testing.T) {
	for _, tc := range []struct {
		text string
		is   error
		says string
	}{
		{"\x7fELF\x00\x01", properties.ErrNotText, "c.properties: line 1"},
		{strings.Repeat("a=b\n", 5<<20), properties.ErrTooLarge, "16 MB"},
		{"a=\\u00", nil, "c.properties: line 1"},
	} {
		_, err := Read("c.properties", []byte(tc.text), Options{})
		if err == nil || tc.is != nil && !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("got %v, want it to say %q", err, tc.says)
		}
	}
	if _, err := Read("c", []byte("a=1"), Options{Dialect: "cobol"}); err == nil || !strings.Contains(err.Error(), "java") {
		t.Errorf("got %v", err)
	}
}

func TestOverride(t *testing.T) {
	c := readOne(t, "session.timeout.ms=1000", Options{})
	Override(&c, "session.timeout.ms", "20000")
	Override(&c, "group.id", "g")
	s, _ := c.Get("session.timeout.ms")
	if s.Origin != inspect.OriginFlag || s.Millis.Duration() != 20*time.Second || s.Overrides.Line != 1 || c.Group != "g" {
		t.Errorf("got %+v", c)
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"session.timeout.ms=45000", "a=\\u0041", "=\n:", "max.poll.interval.ms=9223372036854775807"} {
		f.Add("c.properties", []byte(s))
	}
	f.Fuzz(func(_ *testing.T, name string, data []byte) { _, _ = Read(name, data, Options{}) })
}
