package advise_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/clientconf"
)

// applied follows a unified diff as patch(1) does: each line that it keeps or takes away
// must be there.
func applied(t *testing.T, text, diff string) string {
	t.Helper()
	lines := strings.Split(text, "\n")
	var out []string
	at := 0
	for _, d := range strings.Split(strings.TrimSuffix(diff, "\n"), "\n")[2:] {
		if strings.HasPrefix(d, "@@ ") {
			from, err := strconv.Atoi(d[len("@@ -"):strings.IndexByte(d, ',')])
			if err != nil || from-1 < at {
				t.Fatalf("hunk %q", d)
			}
			out, at = append(out, lines[at:from-1]...), from-1
			continue
		}
		if d[0] == '+' {
			out = append(out, d[1:])
			continue
		}
		if at >= len(lines) || lines[at] != d[1:] {
			t.Fatalf("line %d is %q, the diff has %q", at+1, lines[min(at, len(lines)-1)], d)
		}
		if d[0] == ' ' {
			out = append(out, d[1:])
		}
		at++
	}
	return strings.Join(append(out, lines[at:]...), "\n")
}

// faulty are the warnings and errors on one file whose work takes eight minutes a batch.
func faulty(name string, text []byte) []advise.Finding {
	configs, err := clientconf.Read(name, text, clientconf.Options{})
	if err != nil {
		return nil
	}
	c := inspect.Case{Configs: configs}
	c.Declared.BatchTime = inspect.Ms(8 * time.Minute)
	var out []advise.Finding
	for _, f := range advise.Evaluate(&c, advise.Options{}).Findings {
		if f.Severity != advise.Info {
			out = append(out, f)
		}
	}
	return out
}

// leftToTheReader are the files of dialects in which an edit has no certain place: the
// value or the setting stands in no line of its own, or where it would go is not known.
var leftToTheReader = map[string]bool{"dash-x": true, "deployment-pod-name": true, "helm-values": true, "kafkajs": true, "kebab": true, "kubernetes": true,
	"source-sarama": true, "source-typescript": true}

// TestPatchOfEveryDialect patches each dialect's file with all that is advised, and reads
// it again: what was placed is gone, nothing new is there, and the rest is as it was.
func TestPatchOfEveryDialect(t *testing.T) {
	files, err := filepath.Glob("../inspect/clientconf/testdata/dialects/*.txtar")
	if err != nil || len(files) < 50 {
		t.Fatal(len(files), err)
	}
	patched := 0
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name, text := ar.Files[0].Name, ar.Files[0].Data
		before := faulty(name, text)
		diff, left := advise.Patch(name, text, before)
		short := strings.TrimSuffix(filepath.Base(file), ".txtar")
		if diff == "" {
			continue
		}
		patched++
		now := applied(t, string(text), diff)
		was, is := tallyOf(before), tallyOf(faulty(name, []byte(now)))
		if len(left) == 0 {
			for id, n := range was {
				if placedAll(before, id) && is[id] >= n {
					t.Errorf("%s: %s is still there\n%s", short, id, diff)
				}
			}
		}
		for id, n := range is {
			if n > was[id] {
				t.Errorf("%s: %s is new\n%s", short, id, diff)
			}
		}
		if (len(left) > 0) != leftToTheReader[short] {
			t.Errorf("%s: left to the reader: %v, want %v", short, left, leftToTheReader[short])
		}
	}
	if patched < 25 {
		t.Errorf("%d files were patched", patched)
	}
}

// tallyOf counts findings by rule and by what they are about.
func tallyOf(fs []advise.Finding) map[string]int {
	out := map[string]int{}
	for _, f := range fs {
		out[fmt.Sprintf("%s %s", f.ID, f.Subject)]++
	}
	return out
}

// placedAll reports whether all findings of a rule and a subject come with edits.
func placedAll(fs []advise.Finding, id string) bool {
	return !slices.ContainsFunc(fs, func(f advise.Finding) bool {
		return fmt.Sprintf("%s %s", f.ID, f.Subject) == id && (f.Fix == nil || len(f.Fix.Set)+len(f.Fix.Delete) == 0)
	})
}

var _ = maps.Keys[map[string]int]
