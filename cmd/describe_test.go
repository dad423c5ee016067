package cmd

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/fakecluster"
)

// describeCluster is a simulated cluster with the topic work of four partitions.
func describeCluster(t *testing.T, opts ...fakecluster.Option) *fakecluster.Cluster {
	t.Helper()
	fc, err := fakecluster.New(append([]fakecluster.Option{fakecluster.Topic("work", 4)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fc.Close)
	return fc
}

// joined starts a member and waits until the group is Stable with n.
func joined(t *testing.T, fc *fakecluster.Cluster, n int, cfg fakecluster.MemberConfig) *fakecluster.Member {
	t.Helper()
	cfg.Topics = []string{"work"}
	m, err := fc.Join(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := fc.WaitStable(ctx, cfg.Group, n); err != nil {
		t.Fatal(err)
	}
	return m
}

var (
	ephemeralPort = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	brokerAt      = regexp.MustCompile(`\d \(ADDR\)`)
	timeOfDay     = regexp.MustCompile(`\d\d:\d\d:\d\d`)
	generation    = regexp.MustCompile(`generation \d+`)
)

// steady replaces what differs from run to run. The date before a time is that of
// the record, which the fixed clock of the test does not share.
func steady(s string) string {
	s = ephemeralPort.ReplaceAllString(s, "ADDR")
	s = strings.ReplaceAll(s, "ADDR,… (", "ADDRS (")
	s = brokerAt.ReplaceAllString(s, "N (ADDR)")
	s = regexp.MustCompile(`\d{1,2} [A-Z][a-z][a-z] (\d\d)`).ReplaceAllString(s, "$1")
	s = regexp.MustCompile(`work:\d,\d`).ReplaceAllString(s, "work:P")
	s = timeOfDay.ReplaceAllString(s, "HH:MM:SS")
	return generation.ReplaceAllString(s, "generation G")
}

func TestDescribeText(t *testing.T) {
	fc := describeCluster(t)
	joined(t, fc, 1, fakecluster.MemberConfig{Group: "orders", ClientID: "orders-0", Host: "10.42.7.20", NoCommit: true})
	joined(t, fc, 2, fakecluster.MemberConfig{Group: "orders", ClientID: "orders-1", InstanceID: "pod-1", Host: "10.42.7.21", NoCommit: true,
		Session: 10 * time.Second, Rebalance: 8 * time.Minute})
	a, out, stderr := testApp()
	if code := runArgs(a, "-b", fc.Bootstrap(), "--utc", "describe", "orders"); code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	const want = `ADDRS (kgdiag, 3 brokers)  HH:MM:SS UTC
orders  Stable  classic  generation G  assignor range  coordinator N (ADDR)  partition 31  lag -
CLIENT-ID  GROUP-INSTANCE-ID  HOST        CLIENT  SESSION  REBALANCE TIMEOUT  #PARTITIONS  LAG  CURRENT-ASSIGNMENT
orders-0   -                  10.42.7.20  CLIENT0     45s         5m            2    -  work:P
orders-1   pod-1              10.42.7.21  CLIENT1     10s         8m            2    -  work:P
read: generation, timeouts from __consumer_offsets (HH:MM:SS); state, members from coordinator; nothing is missing
`
	got := steady(out.String())
	if oneBlank(got) != oneBlank(clients(want, got)) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// clients takes the CLIENT cells from what was printed: which library a simulated
// member looks like is the business of package family.
func clients(want, got string) string {
	for i, name := range []string{"orders-0", "orders-1"} {
		for _, line := range strings.Split(got, "\n") {
			if f := regexp.MustCompile(`^` + name + ` +\S+ +\S+  (\S.*?)  `).FindStringSubmatch(line); f != nil {
				want = strings.Replace(want, "CLIENT"+string(rune('0'+i)), f[1], 1)
			}
		}
	}
	return want
}

// oneBlank makes runs of blanks one.
func oneBlank(s string) string { return regexp.MustCompile(` +`).ReplaceAllString(s, " ") }

func TestDescribeJSON(t *testing.T) {
	fc := describeCluster(t)
	joined(t, fc, 1, fakecluster.MemberConfig{Group: "orders"})
	joined(t, fc, 1, fakecluster.MemberConfig{Group: "pay", Server: true})
	a, out, stderr := testApp()
	if code := runArgs(a, "-b", fc.Bootstrap(), "inspect", "--all-groups", "-v", "-o", "json"); code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var doc struct {
		Schema  string          `json:"schema"`
		Kgdiag  string          `json:"kgdiag"`
		At      string          `json:"generated_at"`
		Cluster inspect.Cluster `json:"cluster"`
		Gaps    []inspect.Gap   `json:"gaps"`
		Groups  []inspect.Group `json:"groups"`
		Topics  []inspect.Topic `json:"topics"`
	}
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Schema != "kgdiag.describe/v1" || doc.Kgdiag == "" || doc.At == "" || doc.Gaps == nil || doc.Cluster.OffsetsPartitions != 50 {
		t.Errorf("envelope: %+v", doc)
	}
	if len(doc.Groups) != 2 || doc.Groups[0].ID != "orders" || doc.Groups[1].Epoch == nil || doc.Groups[0].Epoch != nil {
		t.Errorf("groups: %+v", doc.Groups)
	}
	if len(doc.Topics) != 1 || doc.Topics[0].Partitions != 4 {
		t.Errorf("topics: %+v", doc.Topics)
	}
	for _, key := range []string{`"session_timeout_ms"`, `"rebalance_timeout_ms"`, `"generation_basis"`, `"sources"`, `"limits"`} {
		if !strings.Contains(out.String(), key) {
			t.Errorf("no %s", key)
		}
	}
}

func TestDescribeExitCodes(t *testing.T) {
	fc := describeCluster(t)
	joined(t, fc, 1, fakecluster.MemberConfig{Group: "orders"})
	joined(t, fc, 1, fakecluster.MemberConfig{Group: "secret"})
	fc.DenyGroup("secret")
	for _, tc := range []struct {
		args   string
		code   int
		stdout string // a piece of it
		stderr string
	}{
		{"describe", exitUsage, "", "no group is named"},
		{"describe orders --all-groups", exitUsage, "", "exclude each other"},
		{"describe --regex (", exitUsage, "", `--regex "(": missing closing )`},
		{"describe --state Sleeping", exitUsage, "", `--state "Sleeping": not known, want PreparingRebalance`},
		{"describe --type old", exitUsage, "", `--type "old": not known`},
		{"describe ordres", exitNotFound, "", "kgdiag: group \"ordres\": not found (1 group, 3 of 3 brokers answered)\nhint: nearest: orders. Groups you may not DESCRIBE do not show up at all."},
		{"describe ordres orders", exitNotFound, "orders  Stable", "not found"},
		{"describe secret", exitIncomplete, "secret  state unknown", "not authorised"},
		{"describe secret orders", exitIncomplete, "orders  Stable", `group "secret": not authorised`},
		{"describe --regex x.*", exitOK, "no group matches", ""},
		{"describe --regex o.* --type classic --state stable", exitOK, "orders  Stable", ""},
		{"describe --regex rders", exitOK, "no group matches", ""}, // the whole id
	} {
		a, out, stderr := testApp()
		code := runArgs(a, append([]string{"-b", fc.Bootstrap()}, strings.Fields(tc.args)...)...)
		if code != tc.code || !strings.Contains(out.String(), tc.stdout) || !strings.Contains(stderr.String(), tc.stderr) {
			t.Errorf("%s: exit %d\nstdout %s\nstderr %s", tc.args, code, out, stderr)
		}
		if tc.stdout == "" && out.Len() > 0 {
			t.Errorf("%s: stdout %s", tc.args, out)
		}
	}
}

func TestDescribeReadsIDsFromStdin(t *testing.T) {
	fc := describeCluster(t)
	joined(t, fc, 1, fakecluster.MemberConfig{Group: "orders"})
	a, out, stderr := testApp()
	a.streams.In = strings.NewReader("orders\r\n\n")
	if code := runArgs(a, "-b", fc.Bootstrap(), "describe", "-", "-o", "tsv"); code != exitOK || !strings.Contains(out.String(), "\norders\tclassic\tStable\t") {
		t.Errorf("exit %d: %s\n%s", code, stderr, out)
	}
}

func TestDescribeWithoutReadSaysWhatIsMissing(t *testing.T) {
	fc := describeCluster(t)
	joined(t, fc, 1, fakecluster.MemberConfig{Group: "orders"})
	fc.DenyOffsetsRead()
	a, out, stderr := testApp()
	if code := runArgs(a, "-b", fc.Bootstrap(), "describe", "orders"); code != exitOK {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if !strings.Contains(out.String(), "not read: session and rebalance timeouts, generation, leader: not authorised") ||
		!strings.Contains(out.String(), "needs READ on Topic __consumer_offsets") {
		t.Errorf("%s", out)
	}
	a, _, stderr = testApp()
	if code := runArgs(a, "-b", fc.Bootstrap(), "describe", "orders", "--strict"); code != exitIncomplete || !strings.Contains(stderr.String(), "not read: orders: session and rebalance timeouts") {
		t.Errorf("--strict: exit %d: %s", code, stderr)
	}
}

// Ids may hold what a terminal acts on; every format must neutralise it.
func TestDescribeNeutralisesIDs(t *testing.T) {
	fc := describeCluster(t)
	evil := "or\tde\nrs\x1b[31m"
	joined(t, fc, 1, fakecluster.MemberConfig{Group: evil, ClientID: "c\x1b]0;x\x07\n"})
	for _, format := range []string{"table", "tsv", "markdown", "json"} {
		a, out, stderr := testApp()
		if code := runArgs(a, "-b", fc.Bootstrap(), "describe", "-v", "-o", format, "--", evil); code != exitOK {
			t.Fatalf("exit %d: %s", code, stderr)
		}
		if strings.ContainsAny(out.String(), "\x1b\x07") || strings.Contains(out.String(), "de\nrs") || strings.Contains(out.String(), "or\tde") {
			t.Errorf("%s: %q", format, out)
		}
	}
}

// Ctrl-C while brokers hang ends at once, with a clear line and 3.
func TestDescribeInterrupted(t *testing.T) {
	fc := describeCluster(t, fakecluster.Brokers(1))
	joined(t, fc, 1, fakecluster.MemberConfig{Group: "orders"})
	a, out, stderr := testApp()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	a.cancelled = func() os.Signal {
		if ctx.Err() != nil {
			return os.Interrupt
		}
		return nil
	}
	var silenced sync.Once
	fc.Kfake().ControlKey(15, func(kmsg.Request) (kmsg.Response, error, bool) { // DescribeGroups
		fc.Kfake().KeepControl()
		silenced.Do(func() {
			if _, err := fc.Silence(0); err != nil {
				t.Error(err)
			}
			cancel(&signalError{os.Interrupt})
		})
		return nil, nil, false
	})
	start := time.Now()
	code := a.run(ctx, []string{"-b", fc.Bootstrap(), "describe", "orders"})
	if code != exitIncomplete || stderr.String() != "kgdiag: interrupted\n" || out.Len() > 0 {
		t.Errorf("exit %d\nstdout %s\nstderr %s", code, out, stderr)
	}
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("took %s", took)
	}
}

// A coordinator that does not answer is "could not complete", and says which.
func TestDescribeSilentCoordinator(t *testing.T) {
	fc := describeCluster(t, fakecluster.Brokers(1))
	joined(t, fc, 1, fakecluster.MemberConfig{Group: "orders"})
	var silenced sync.Once
	fc.Kfake().ControlKey(15, func(kmsg.Request) (kmsg.Response, error, bool) {
		fc.Kfake().KeepControl()
		silenced.Do(func() {
			if _, err := fc.Silence(0); err != nil {
				t.Error(err)
			}
		})
		return nil, nil, false
	})
	a, out, stderr := testApp()
	code := runArgs(a, "-b", fc.Bootstrap(), "--timeout", "3s", "describe", "orders")
	if code != exitIncomplete || !strings.Contains(stderr.String(), "did not answer within 500ms") || !strings.Contains(out.String(), "orders  state unknown") {
		t.Errorf("exit %d\nstdout %s\nstderr %s", code, out, stderr)
	}
}

// A case file is described as it was when it was written.
func TestDescribeFrom(t *testing.T) {
	fc := describeCluster(t)
	joined(t, fc, 1, fakecluster.MemberConfig{Group: "orders"})
	joined(t, fc, 1, fakecluster.MemberConfig{Group: "pay", Server: true})
	file := filepath.Join(t.TempDir(), "two.kgcase")
	a, _, stderr := testApp()
	a.now = time.Now
	if code := runArgs(a, "-b", fc.Bootstrap(), "record", "orders", "pay", "--to", file); code != exitOK {
		t.Fatalf("record: exit %d: %s", code, stderr)
	}
	for _, tc := range []struct {
		args           string
		code           int
		stdout, stderr string
	}{
		{"describe", exitOK, "pay  Stable  consumer", ""},
		{"describe orders", exitOK, "orders  Stable  classic  generation", ""},
		{"describe --type consumer", exitOK, "pay  Stable", ""},
		{"describe orders nix", exitNotFound, "orders  Stable", `group "nix": not found in`},
	} {
		a, out, stderr := testApp()
		code := runArgs(a, append(strings.Fields(tc.args), "--from", file)...)
		if code != tc.code || !strings.Contains(out.String(), tc.stdout) || !strings.Contains(stderr.String(), tc.stderr) {
			t.Errorf("%s: exit %d\nstdout %s\nstderr %s", tc.args, code, out, stderr)
		}
		if tc.args == "describe orders" && strings.Contains(out.String(), "pay") {
			t.Errorf("%s shows the other group: %s", tc.args, out)
		}
	}
}
