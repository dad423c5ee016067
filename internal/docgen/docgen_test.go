package docgen

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kgdiag/kgdiag/cmd"
	"github.com/kgdiag/kgdiag/internal/rulefixture"
)

var update = flag.Bool("update", false, "write the generated files")

func TestRules(t *testing.T) {
	fixtures, err := rulefixture.All("../../advise/testdata")
	if err != nil {
		t.Fatal(err)
	}
	text, err := Rules(fixtures)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "rules.md", text)
}

func TestCLI(t *testing.T) { compare(t, "cli.md", CLI(cmd.Tree())) }

func TestConnecting(t *testing.T) {
	old, err := os.ReadFile("../../docs/connecting.md")
	if err != nil {
		t.Fatal(err)
	}
	text, err := Connecting(string(old))
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "connecting.md", text)
}

// TestCompatibilityIsCurrent holds docs/compatibility.md to what scripts/compat found, and what it found to having no fault.
func TestCompatibilityIsCurrent(t *testing.T) {
	found, err := ReadCompatibility("testdata/compat")
	if err != nil {
		t.Fatal(err)
	}
	// Open: on 4.0 a member of a consumer group that holds partitions past its rebalance timeout is told as one that left, at low confidence.
	open := map[string]int{"4.0.2": 1}
	for _, k := range found {
		if len(k.Failed) > open[k.Version] || k.Causes["wrong"] > open[k.Version] || len(k.Passed) == 0 || len(k.Groups) < 2 {
			t.Errorf("%s: failed %v, %d wrong causes, %d tests passed, %d kinds of group", k.Version, k.Failed, k.Causes["wrong"], len(k.Passed), len(k.Groups))
		}
	}
	dialects, err := ReadDialects("testdata/dialects")
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "compatibility.md", Compatibility(found, dialects))
}

func TestREADME(t *testing.T) {
	have, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	text, err := README(string(have))
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "../README.md", text)
	for _, broken := range []string{"<!-- generated: exit codes -->\nno end", "<!-- generated: poems -->\n<!-- end generated -->"} {
		if _, err := README(broken); err == nil {
			t.Errorf("%q was taken", broken)
		}
	}
}

func compare(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("..", "..", "docs", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s is not what the program says: go generate ./...\n%s", name, d)
	}
}
