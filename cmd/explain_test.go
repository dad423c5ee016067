package cmd

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/kgdiag/kgdiag/advise/diagnose"
	"github.com/kgdiag/kgdiag/advise/explain"
)

// inCapitals is a word that stands in capitals on a screen: a head of a column, a label
// or a verdict, with the signs that Cols takes before it.
var inCapitals = regexp.MustCompile(`^[>~?]*(#?[A-Z][A-Z]+(?:[ -][A-Z]+)*)$`)

// notShown are literals in capitals that no screen shows: of formats and encodings.
var notShown = map[string]bool{"MST": true, "UTC": true, "PEM": true, "SIGHUP": true, "SASL": true, "TLS": true}

// Every word in capitals that a screen shows, every verdict and every state is explained:
// a reader who meets one at night asks kgdiag explain.
func TestExplainKnowsWhatScreensShow(t *testing.T) {
	var words []string
	for _, pattern := range []string{"*_view.go", "triage.go", "../internal/show/*.go", "../internal/eventtext/*.go", "../internal/top/view.go", "../internal/top/pane.go", "../advise/diagnose/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			words = append(words, capitals(t, file)...)
		}
	}
	if len(words) < 60 {
		t.Fatalf("only %d words found: the walk is broken", len(words))
	}
	for _, v := range []diagnose.Verdict{diagnose.Healthy, diagnose.OK, diagnose.Unstable, diagnose.Stuck, diagnose.Empty, diagnose.Unknown, diagnose.Gone} {
		words = append(words, string(v))
	}
	words = append(words, groupStates...)
	words = append(words, "eviction", "silent", "gen", "batch", "lag", "epoch", "commit", "poll", "coordinator", "generation", "member", "likely", "very likely", "possible", "not known", "observed", "stated", "inferred")
	for _, word := range words {
		if _, err := explain.All(word); err != nil && !notShown[word] {
			t.Errorf("explain %q: %v", word, err)
		}
	}
}

// capitals are the literals in capitals of a source file.
func capitals(t *testing.T, file string) []string {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	ast.Inspect(f, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				if m := inCapitals.FindStringSubmatch(text); m != nil {
					out = append(out, m[1])
				}
			}
		}
		return true
	})
	return out
}
