package words

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// out are the words that no user reads, each with what is said instead. A pattern
// matches whole words, whatever their case.
var out = []struct{ pattern, say string }{
	{`(is|are|was|were|be|been|being|get|gets|got) (\w+ )?put out|puts? (it|them|him|a member|members|the member|somebody) out|puts out`, "evicted (session expired), left the group (poll interval exceeded), or fenced: they differ"},
	{`st(and|ands|ood|anding) still`, "not consumed for 46 s (3 partitions)"},
	{`what was read (fits|does not tell|tells)`, "could also be: …; the cause is not in what was read"},
	{`else KGD\d+ follows`, "(must not be below session.timeout.ms)"},
	{`(the|its|their|no|whose|with) price`, "trade-off"},
	{`price:`, "trade-off"},
	{`nothing of weight`, "no problem found in …, and what was looked at"},
	{`about to be out`, "about to be evicted"},
	{`would not have been`, "would have been avoided"},
	{`rebalances? less`, "3 fewer rebalances"},
	{`of several brokers`, "what is common, counted"},
	{`compaction eats`, "compaction removes"},
	{`out anew`, "reassigning"},
	{`groups beside`, "as well"},
	{`which for which`, "ambiguous: they share a client.id"},
	{`does not exist \(any more\)`, "NOT FOUND"},
	{`\(perhaps\)`, "java?"},
	{`milder`, "lower-severity"},
	{`reckons?|reckoned|reckoning`, "estimate"},
	{`stirs?|stirred`, "change"},
	{`(it|kgdiag|this|that|which|records?|log|polls?|evidence|alone|nothing|cannot|not|to|would) tells?|tells? (why|whether|which|how|what|of|a|the|apart)|is told|are told|was told|were told|be told|told (of|why|whether|apart)`, "report, show, say"},
	{`(went|goes|gone) by itself`, "left by itself"},
	{`came anew|begun anew|started anew|begins anew|starts anew|begin anew|start anew`, "again, new"},
	{`is no (more|longer one)`, "no longer"},
	{`works? off|worked off|working off`, "catch up on, process"},
	{`of weight`, "serious"},
	{`stopped ~?\d[\d.]*m?s`, "paused 2.2 s"},
	{`checks made`, "NOT CHECKED 32 of 86 rules: …"},
	{`shared cause\?`, "no shared cause: …"},
	{`confidence (high|medium|low), (inferred|stated)`, "likely, inferred from commit gaps"},
	{`out (at about|\d\d:\d\d)`, "leaves at, left"},
	{`different hosts and moments`, "different hosts and times"},
	{`somebody`, "a member, another process, or who it is"},
	{`at all events|in all events|upon which|thereupon|whence|wherein`, "a short sentence of its own"},
}

// bounded makes a pattern match whole words alone; a pattern that begins or ends with
// a sign needs no bound there.
func bounded(pattern string) string {
	p := `(?i)(?:` + pattern + `)`
	if !strings.HasPrefix(pattern, `\(`) {
		p = `\b` + p
	}
	if !strings.HasSuffix(pattern, `:`) && !strings.HasSuffix(pattern, `?`) && !strings.HasSuffix(pattern, `\)`) {
		p += `\b`
	}
	return p
}

// wordOut is a pattern that was compiled, and what is said instead.
type wordOut struct {
	re  *regexp.Regexp
	say string
}

func compiled() []wordOut {
	list := make([]wordOut, len(out))
	for i, o := range out {
		list[i] = wordOut{regexp.MustCompile(bounded(o.pattern)), o.say}
	}
	return list
}

// TestPatterns holds that each word is found, whatever is around it, and nothing else.
func TestPatterns(t *testing.T) {
	find := func(text string) (all []string) {
		for _, o := range compiled() {
			all = append(all, o.re.FindAllString(text, -1)...)
		}
		return all
	}
	for _, text := range []string{"it was put out 3 times", "STOOD STILL", "price: a hang", "java (perhaps)", "the group does not exist (any more)",
		"what was read fits member_left as well", "54 of 86 checks made", "stopped 2.2s", "shared cause? no", "the log tells why", "confidence medium, inferred"} {
		if find(text) == nil {
			t.Errorf("%q: not found", text)
		}
	}
	for _, text := range []string{"the member was evicted", "put a price on it later", "a stirrup", "the broker stopped", "intelligence", "it still stands",
		"confidence medium", "shared cause: within 2s"} {
		if got := find(text); got != nil {
			t.Errorf("%q: %q is found", text, got)
		}
	}
}

// TestNothingThatIsReadHoldsAWordThatIsOut reads every string literal of the sources
// below the repository's root, its documents and the transcripts of its tests.
func TestNothingThatIsReadHoldsAWordThatIsOut(t *testing.T) {
	root, list, read := filepath.Join("..", ".."), compiled(), 0
	check := func(place, text string) {
		read++
		for _, o := range list {
			for _, m := range o.re.FindAllString(text, -1) {
				t.Errorf("%s: %q: say: %s", place, m, o.say)
			}
		}
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel != "." && strings.HasPrefix(d.Name(), ".") || slices.Contains(unread, rel) {
				return filepath.SkipDir
			}
			return nil
		}
		switch {
		case strings.HasSuffix(rel, "_test.go"):
		case strings.HasSuffix(rel, ".go"):
			return literals(path, func(line int, text string) { check(rel+":"+strconv.Itoa(line), text) })
		case document(rel):
			return lines(path, func(line int, text string) { check(rel+":"+strconv.Itoa(line), text) })
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if read < 1000 {
		t.Fatalf("only %d texts read: the walk is broken", read)
	}
}

// unread are folders that no user reads: words' own list, what runs in the laboratory,
// and reports as others wrote them.
var unread = []string{"internal/words", "internal/realtest", "scripts", "internal/fieldscore/testdata"}

// document reports a file that users read, or a transcript of what they see.
func document(rel string) bool {
	return rel == "README.md" || rel == "CHANGELOG.md" || strings.HasPrefix(rel, "cmd/testdata/") ||
		strings.HasPrefix(rel, "docs/") && strings.HasSuffix(rel, ".md") && rel != "docs/design.md"
}

// lines hands on the lines of a text but for the comments of a script.
func lines(path string, visit func(line int, text string)) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for i, line := range strings.Split(string(text), "\n") {
		if !strings.HasSuffix(path, ".txtar") || !strings.HasPrefix(line, "# ") {
			visit(i+1, line)
		}
	}
	return nil
}

// literals hands on the string literals of a source that hold prose: more than one word.
func literals(path string, visit func(line int, text string)) error {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, path, nil, 0)
	if err != nil {
		return err
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil && strings.Contains(text, " ") {
				visit(fset.Position(lit.Pos()).Line, text)
			}
		}
		return true
	})
	return nil
}
