package docgen

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	code    = regexp.MustCompile("`[^`\n]+`")
	inTree  = regexp.MustCompile(`^(?:\./)?(?:advise|cmd|docs|inspect|internal|locate|scripts)/[\w./-]*$`)
	example = regexp.MustCompile(`NNN|(?:^|/)x(?:_view)?\.\w+$`) // a name that the reader chooses
	ofType  = regexp.MustCompile(`\.[A-Z]\w*$`)                  // a package's own: inspect/past.Past
	testRun = regexp.MustCompile(`go test \./([\w/]+) -run '?(\w+)`)
)

// TestNamedPlacesExist holds the documents for contributors to the tree: a file, package
// or test that they send somebody to must be there.
func TestNamedPlacesExist(t *testing.T) {
	for _, doc := range []string{"CONTRIBUTING.md", "docs/design.md"} {
		text, err := os.ReadFile(filepath.Join("../..", doc))
		if err != nil {
			t.Fatal(err)
		}
		named := 0
		for _, span := range code.FindAllString(string(text), -1) {
			for _, word := range strings.Fields(strings.Trim(span, "`")) {
				if !inTree.MatchString(word) || strings.HasSuffix(word, "...") || example.MatchString(word) {
					continue
				}
				named++
				if _, err := os.Stat(filepath.Join("../..", ofType.ReplaceAllString(word, ""))); err != nil {
					t.Errorf("%s: %s: there is no %s", doc, span, word)
				}
			}
		}
		if named < 10 {
			t.Errorf("%s: only %d places found", doc, named)
		}
		for _, m := range testRun.FindAllStringSubmatch(string(text), -1) {
			if !hasTest(t, m[1], m[2]) {
				t.Errorf("%s: %s: no test of that name in %s", doc, m[0], m[1])
			}
		}
	}
}

// hasTest reports whether a package has a test whose name holds the word.
func hasTest(t *testing.T, pkg, word string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", pkg, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`(?m)^func (?:Test\w*` + word + `|` + word + `\()`)
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && name.Match(text) {
			return true
		}
	}
	return false
}
