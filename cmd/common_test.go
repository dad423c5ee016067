package cmd

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/internal/term"
)

// testApp is an app on buffers at a fixed moment, without an environment.
func testApp() (*app, *bytes.Buffer, *bytes.Buffer) {
	var out, err bytes.Buffer
	a := &app{
		streams: &term.Streams{In: strings.NewReader(""), Out: &out, Err: &err},
		now:     func() time.Time { return time.Date(2026, 11, 29, 14, 50, 20, 0, time.UTC) },
		getenv:  func(string) string { return "" },
	}
	return a, &out, &err
}

func runArgs(a *app, args ...string) int { return a.run(context.Background(), args) }

func TestUnknownCommandNamesWhy(t *testing.T) {
	a, _, stderr := testApp()
	if code := runArgs(a, "orders"); code != exitUsage {
		t.Errorf("exit %d, want 2", code)
	}
	if want := "kgdiag: unknown command \"orders\"\nhint: for the group of that name: kgdiag why orders\n"; stderr.String() != want {
		t.Errorf("got %q", stderr)
	}
}

func TestBareShowsTheIncidentCommands(t *testing.T) {
	a, out, _ := testApp()
	if code := runArgs(a); code != exitOK || !strings.Contains(out.String(), "kgdiag why") || !strings.Contains(out.String(), "no cluster is configured") {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

func TestTimeout(t *testing.T) {
	for s, want := range map[string]time.Duration{"30s": 30 * time.Second, "5000": 5 * time.Second, "1m30s": 90 * time.Second} {
		if d, err := parseTimeout("--timeout", s); err != nil || d != want {
			t.Errorf("%s: %v %v", s, d, err)
		}
	}
	for s, want := range map[string]string{
		"30": "30 is 30 ms; write 30s", "0": "more than zero", "-5s": "want a duration", "x": "want a duration", "90000000000": "at most 24h",
	} {
		if _, err := parseTimeout("--timeout", s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", s, err)
		}
	}
}

func TestSpans(t *testing.T) {
	for s, want := range map[string]time.Duration{"90s": 90 * time.Second, "2d": 48 * time.Hour, "1w": 168 * time.Hour, "1d12h": 36 * time.Hour, "1.5h": 90 * time.Minute} {
		if d, err := parseSpan("--since", s); err != nil || d != want {
			t.Errorf("%s: %v %v", s, d, err)
		}
	}
	for _, s := range []string{"", "x", "5", "-1h", "1d-3h", "0s", "d"} {
		if d, err := parseSpan("--since", s); err == nil {
			t.Errorf("%q: %v, want an error", s, d)
		}
	}
	for d, want := range map[time.Duration]string{
		350 * time.Millisecond: "350ms", 8200 * time.Millisecond: "8.2s", 45 * time.Second: "45s",
		7*time.Minute + 29*time.Second: "7m29s", 5 * time.Minute: "5m", 218 * time.Hour: "9d02h",
	} {
		if got := prose.Span(d); got != want {
			t.Errorf("prose.Span(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestMoments(t *testing.T) {
	a, _, _ := testApp()
	a.flags.utc = true
	for s, want := range map[string]string{
		"1h": "2026-11-29T13:50:20Z", "14:00": "2026-11-29T14:00:00Z", "23:00": "2026-11-28T23:00:00Z",
		"2026-11-01T10:00:00+01:00": "2026-11-01T10:00:00+01:00",
	} {
		got, err := a.parseMoment("--since", s, a.now())
		if err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%s: %v %v", s, got, err)
		}
	}
}

func TestEnvironmentSetsFlagsThatTheLineLeavesOpen(t *testing.T) {
	a, out, _ := testApp()
	a.getenv = func(k string) string {
		return map[string]string{"KGDIAG_OUTPUT": "json"}[k]
	}
	if runArgs(a, "version"); !strings.HasPrefix(out.String(), "{") {
		t.Errorf("KGDIAG_OUTPUT ignored: %s", out)
	}
	out.Reset()
	if runArgs(a, "version", "-o", "tsv"); strings.HasPrefix(out.String(), "{") {
		t.Error("the environment beat the flag")
	}
	a.getenv = func(k string) string { return map[string]string{"KGDIAG_QUIET": "perhaps"}[k] }
	if code := runArgs(a, "version"); code != exitUsage {
		t.Errorf("bad KGDIAG_QUIET: exit %d", code)
	}
}
