package advise_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/clientconf"
)

// TestPatchFollowsTheAdvice applies the patch of a file with patch(1) and reads it again:
// the finding is gone, and the rest of the text is as it was.
func TestPatchFollowsTheAdvice(t *testing.T) {
	for _, tc := range []struct{ name, file, text, gone, line string }{
		{"a value is replaced", "c.properties", "# orders\ngroup.id=orders\nmax.poll.interval.ms = 300000\n# end\n", "KGD105", "max.poll.interval.ms = 600000"},
		{"a default is set", "c.properties", "group.id=orders\nsession.timeout.ms=45000\n", "KGD105", "max.poll.interval.ms=600000"},
		{"in YAML, nested", "application.yml", "spring:\n  kafka:\n    consumer:\n      group-id: orders\n      max-poll-interval: PT5M # long\n", "KGD105", "      max-poll-interval: PT10M # long"},
		{"in YAML, not set", "connect.yaml", "input:\n  kafka_franz:\n    seed_brokers: [k:9092]\n    consumer_group: orders\n", "KGD112", "    rebalance_timeout: 10m"},
		{"a key is deleted", "c.properties", "group.id=orders\nmax.poll.interval.ms=900000\ngroup.max.size=3\n", "KGD502", ""},
	} {
		before := read(t, tc.file, tc.text)
		diff, left := advise.Patch(tc.file, []byte(tc.text), before)
		if diff == "" || len(left) > 0 {
			t.Errorf("%s: diff %q, left %+v", tc.name, diff, left)
			continue
		}
		dir := t.TempDir()
		path := filepath.Join(dir, tc.file)
		if err := os.WriteFile(path, []byte(tc.text), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("git", "apply", "--unidiff-zero", "-p0", "-")
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(diff)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s\n%s", tc.name, err, out, diff)
			continue
		}
		now, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if tc.line != "" && !strings.Contains("\n"+string(now), "\n"+tc.line+"\n") {
			t.Errorf("%s: want the line %q in\n%s", tc.name, tc.line, now)
		}
		for _, f := range read(t, tc.file, string(now)) {
			if f.ID == tc.gone {
				t.Errorf("%s: %s is still there: %s", tc.name, f.ID, f.Message)
			}
		}
	}
}

func read(t *testing.T, name, text string) []advise.Finding {
	t.Helper()
	configs, err := clientconf.Read(name, []byte(text), clientconf.Options{Version: "3.7.0"})
	if err != nil {
		t.Fatal(err)
	}
	c := inspect.Case{Configs: configs}
	c.Declared.BatchTime = inspect.Ms(8 * time.Minute)
	var out []advise.Finding
	for _, f := range advise.Evaluate(&c, advise.Options{}).Findings {
		if f.Severity != advise.Info || f.ID == "KGD112" {
			out = append(out, f)
		}
	}
	return out
}

// TestPatchLeavesWhatIsNotCertain never guesses a place: one line of JSON with all
// settings is left alone where it must grow.
func TestPatchLeavesWhatIsNotCertain(t *testing.T) {
	const text = `{"group.id":"orders","session.timeout.ms":45000}`
	diff, left := advise.Patch("c.json", []byte(text), read(t, "c.json", text))
	if diff != "" || len(left) != 1 || left[0].Key != "max.poll.interval.ms" {
		t.Errorf("diff %q, left %+v", diff, left)
	}
}

func TestTogetherTellsManyOnce(t *testing.T) {
	var fs []advise.Finding
	for _, g := range []string{"a", "b", "c", "d", "e"} {
		fs = append(fs, advise.Finding{ID: "KGD101", Severity: advise.Warning, Group: g}, advise.Finding{ID: "KGD109", Severity: advise.Warning, Group: g, BecauseOf: "KGD101"})
	}
	fs = append(fs, advise.Finding{ID: "KGD102", Severity: advise.Error, Group: "a"}, advise.Finding{ID: "KGD102", Severity: advise.Error, Group: "b"})
	got := advise.Together(fs, false)
	if len(got) != 3 || got[0].Others() != "4 others: b, c, d, e" || len(got[0].Symptoms) != 1 || got[1].Others() != "" || got[2].Group != "b" {
		t.Errorf("%+v", got)
	}
	if all := advise.Together(fs, true); len(all) != 7 || all[4].Symptoms[0].Group != "e" {
		t.Errorf("%d entries", len(all))
	}
}
