package cmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/advise/explain"
)

// inTemp changes into a folder with these files.
func inTemp(t *testing.T, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
}

const slowFile = "group.id=orders\nsession.timeout.ms=45000\nheartbeat.interval.ms=20000\nmax.poll.interval.ms=300000\n"

func TestAdviseOnAFile(t *testing.T) {
	inTemp(t, map[string]string{"c.properties": slowFile})
	a, out, _ := testApp()
	if code := runArgs(a, "advise", "-f", "c.properties", "--client", "java@3.7.0", "--batch-time", "8m"); code != exitTripped {
		t.Errorf("exit %d, want 1", code)
	}
	want := `error  KGD105 poll-interval-too-short    c.properties:4
       max.poll.interval.ms is 5m; the work between two polls takes 8m
       (--batch-time)
       set       max.poll.interval.ms=600000    8m x 1.25 = 10m
       or        max.poll.records=250           500 in 8m: 250 fit with the same margin
       trade-off a consumer that hangs is noticed after 10m instead of 5m
warning KGD101 heartbeat-over-third    c.properties:3
       heartbeat.interval.ms is 20s, over a third of session.timeout.ms (45s): 2
       heartbeats fit into one session, three should
       set       heartbeat.interval.ms=15000          45s / 3 = 15s
       or        session.timeout.ms=60000 (line 2)    3 x 20s, rounded up; a dead member is then noticed after 1m
       trade-off a few more small requests to the coordinator
1 error, 1 warning
NOT CHECKED  `
	if got := out.String(); !strings.HasPrefix(got, want) {
		t.Error(cmp.Diff(want, got))
	}
	if next := "next  kgdiag advise --batch-time 8m --client java@3.7.0 -f c.properties --diff\n        # all of it as one patch\n"; !strings.HasSuffix(out.String(), next) {
		t.Errorf("%s\nwant at its end\n%s", out, next)
	}
}

func TestAdviseSaysWhatWasNotChecked(t *testing.T) {
	inTemp(t, map[string]string{"c.properties": "group.id=orders\n"})
	a, out, _ := testApp()
	if code := runArgs(a, "advise", "-f", "c.properties", "--client", "java@3.7.0"); code != exitOK {
		t.Errorf("exit %d, want 0", code)
	}
	for _, want := range []string{"ok     c.properties: ", "none fired", "logs (add --log FILE)", "the\n      time of the work (add --batch-time)", "pauses of the process (add\n      --gc-pause)"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestAdviseExitCodes(t *testing.T) {
	inTemp(t, map[string]string{"slow": slowFile, "ok": "group.id=orders\n", "third": "heartbeat.interval.ms=20000\n"})
	for _, tc := range []struct {
		args string
		want int
	}{
		{"-f slow --batch-time 8m", exitTripped},
		{"-f slow --batch-time 8m --fail-on never", exitOK},
		{"-f slow --batch-time 8m --disable KGD105", exitOK},
		{"-f third", exitOK},
		{"-f third --fail-on warning", exitTripped},
		{"-f third --fail-on warning -o json", exitTripped},
		{"-f third --fail-on warning -o sarif", exitTripped},
		{"-f ok --strict", exitIncomplete},
		{"-f ok --strict --batch-time 1m --gc-pause 1s --client java@3.7.0", exitOK},
		{"", exitUsage},
		{"-f nowhere", exitUsage},
		{"-f ok --min-severity loud", exitUsage},
		{"-f ok --fail-on loud", exitUsage},
		{"-f ok --disable KGD999", exitUsage},
		{"-f ok --client cobol@3", exitUsage},
		{"-f ok --client java@new", exitUsage},
		{"-f ok --batch-time 8", exitUsage},
		{"-f ok --set novalue", exitUsage},
		{"--set max.poll.interval.ms=300000 --batch-time 8m", exitTripped},
		{"--batch-time 8m", exitTripped},
	} {
		a, _, stderr := testApp()
		if code := runArgs(a, append([]string{"advise"}, strings.Fields(tc.args)...)...); code != tc.want {
			t.Errorf("advise %s: exit %d, want %d\n%s", tc.args, code, tc.want, stderr)
		}
	}
}

func TestAdviseRefusesBadFiles(t *testing.T) {
	inTemp(t, map[string]string{"binary": "\x7fELF\x00\x01\x02", "huge": strings.Repeat("# comment\n", 2<<20), "escape": "group.id=g\nname=\\u00"})
	for args, want := range map[string]string{
		"-f .": "is a directory", "-f binary": "not text", "-f huge": "16 MiB", "-f nowhere": "nowhere: no such file",
		"-f escape": "escape: line 2: ", "--log nowhere": "no such file",
	} {
		a, out, stderr := testApp()
		if code := runArgs(a, append([]string{"advise"}, strings.Fields(args)...)...); code != exitUsage {
			t.Errorf("%s: exit %d, want 2", args, code)
		}
		if !strings.Contains(stderr.String(), want) || out.Len() > 0 {
			t.Errorf("%s: got %q, want it to say %q", args, stderr, want)
		}
	}
}

func TestAdviseReadsStandardInput(t *testing.T) {
	inTemp(t, nil)
	a, out, _ := testApp()
	a.streams.In = strings.NewReader("session.timeout.ms=10000\nheartbeat.interval.ms=10000\n")
	if code := runArgs(a, "advise", "-f", "-"); code != exitTripped || !strings.Contains(out.String(), "KGD102") {
		t.Errorf("exit %d\n%s", code, out)
	}
}

// TestAdviseJSON retypes the fields that scripts lean on.
func TestAdviseJSON(t *testing.T) {
	inTemp(t, map[string]string{"c.properties": slowFile})
	a, out, _ := testApp()
	runArgs(a, "advise", "-f", "c.properties", "--client", "java@3.7.0", "--batch-time", "8m", "-o", "json")
	var doc struct {
		Schema   string `json:"schema"`
		Cluster  any    `json:"cluster"`
		Findings []struct {
			ID, Name, Severity, Confidence, Group, Subject, Message, Docs string
			Where                                                         struct {
				File string
				Line int
			}
			Evidence []string
			Fix      struct {
				Summary      string
				Set          map[string]string
				Delete       []string
				Alternatives []map[string]string
				Price        string
			}
		}
		Checked   int
		Unchecked []struct{ ID, Reason string }
	}
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	f := doc.Findings[0]
	if doc.Schema != "kgdiag.advise/v1" || doc.Cluster != nil || f.ID != "KGD105" || f.Severity != "error" || f.Where.Line != 4 || f.Group != "orders" ||
		f.Fix.Set["max.poll.interval.ms"] != "600000" || f.Fix.Alternatives[0]["max.poll.records"] != "250" || doc.Checked == 0 || len(doc.Unchecked) == 0 {
		t.Errorf("got %+v", doc)
	}
}

func TestAdviseProjectFile(t *testing.T) {
	inTemp(t, map[string]string{"c.properties": slowFile, ".kgdiag.yaml": "rules:\n  disable: [KGD101]\n  severity: {KGD105: warning}\ngroups:\n  orders: {batch-time: 8m}\n"})
	a, out, _ := testApp()
	if code := runArgs(a, "advise", "-f", "c.properties"); code != exitOK {
		t.Errorf("exit %d, want 0: the project made the finding a warning", code)
	}
	if got := out.String(); !strings.Contains(got, "warning KGD105") || strings.Contains(got, "KGD101 heartbeat") || !strings.Contains(got, "takes 8m (declared") {
		t.Errorf("got\n%s", got)
	}
	for text, want := range map[string]string{"rules: {severity: {KGD1: error}}": "no such rule", "rule: {}": "field rule not found",
		"rules: {severity: {KGD105: loud}}": "want info", "groups: {g: {batch-time: 8}}": "batch-time"} {
		inTemp(t, map[string]string{"c.properties": slowFile, ".kgdiag.yaml": text})
		a, _, stderr := testApp()
		if code := runArgs(a, "advise", "-f", "c.properties"); code != exitUsage || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: exit %d, %s", text, code, stderr)
		}
	}
}

func TestAdviseOnLogs(t *testing.T) {
	inTemp(t, map[string]string{"gc.log": "[2026-11-29T14:00:00.123+0000] GC(12) Pause Full (Allocation Failure) 3900M->3800M(4096M) 50321.111ms\n"})
	a, out, stderr := testApp()
	if code := runArgs(a, "advise", "--gc-log", "gc.log", "--client", "java@3.7.0"); code != exitTripped || !strings.Contains(out.String(), "gc.log:1") {
		t.Errorf("exit %d\n%s%s", code, out, stderr)
	}
}

func TestExplain(t *testing.T) {
	for _, word := range explain.Words() {
		a, out, _ := testApp()
		if code := runArgs(a, "explain", word); code != exitOK || out.Len() == 0 {
			t.Errorf("explain %s: exit %d", word, code)
		}
	}
	a, out, _ := testApp()
	if code := runArgs(a, "rules"); code != exitOK {
		t.Errorf("rules: exit %d", code)
	}
	for _, r := range advise.Rules() {
		if !strings.Contains(out.String(), r.ID) {
			t.Errorf("%s is not listed", r.ID)
		}
	}
	a, _, stderr := testApp()
	if code := runArgs(a, "explain", "poll_interval_exceded"); code != exitUsage || !strings.Contains(stderr.String(), "nearest: poll_interval_exceeded") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
