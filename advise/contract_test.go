package advise_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/rulefixture"
)

// fewestRules is raised whenever rules come; an empty catalogue must not pass.
const fewestRules = 60

func TestCatalogueIsNotEmpty(t *testing.T) {
	if n := len(advise.Rules()); n < fewestRules {
		t.Errorf("%d rules, want at least %d", n, fewestRules)
	}
}

var (
	idPattern   = regexp.MustCompile(`^KGD[1-79]\d\d$`)
	namePattern = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	filePattern = regexp.MustCompile(`^rule_(kgd\d{3})_([a-z0-9_]+)\.go$`)
)

func TestRuleIdentity(t *testing.T) {
	names := map[string]string{}
	for _, r := range advise.Rules() {
		if !idPattern.MatchString(r.ID) {
			t.Errorf("%s: want KGD and three digits of a known family", r.ID)
		}
		if !namePattern.MatchString(r.Name) {
			t.Errorf("%s: name %q, want kebab case", r.ID, r.Name)
		}
		if other := names[r.Name]; other != "" {
			t.Errorf("%s and %s share the name %s", r.ID, other, r.Name)
		}
		names[r.Name] = r.ID
		if why := advise.Retired()[r.ID]; why != "" {
			t.Errorf("%s is retired: %s", r.ID, why)
		}
		if _, ok := advise.Families()[r.ID[3]]; !ok {
			t.Errorf("%s: no such family", r.ID)
		}
		for _, cause := range r.SymptomOf {
			if _, ok := advise.Lookup(cause); !ok {
				t.Errorf("%s is a symptom of %s, which does not exist", r.ID, cause)
			}
		}
	}
}

// TestOneFileARule holds file names to ids and names, one registration a file.
func TestOneFileARule(t *testing.T) {
	files, err := filepath.Glob("rule_kgd*.go")
	if err != nil || len(files) != len(advise.Rules()) {
		t.Errorf("%d rule files for %d rules (%v)", len(files), len(advise.Rules()), err)
	}
	for _, file := range files {
		m := filePattern.FindStringSubmatch(file)
		if m == nil {
			t.Errorf("%s: want rule_kgdNNN_name.go", file)
			continue
		}
		rule, ok := advise.Lookup(m[1])
		if !ok || strings.ReplaceAll(rule.Name, "-", "_") != m[2] {
			t.Errorf("%s: no rule of that id and name", file)
		}
		if n := registrations(t, file); n != 1 {
			t.Errorf("%s registers %d rules, want 1", file, n)
		}
	}
}

func registrations(t *testing.T, file string) int {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	ast.Inspect(tree, func(node ast.Node) bool {
		if call, ok := node.(*ast.CallExpr); ok {
			if name, ok := call.Fun.(*ast.Ident); ok && name.Name == "register" {
				n++
			}
		}
		return true
	})
	return n
}

func TestDocsAreComplete(t *testing.T) {
	for _, r := range advise.Rules() {
		for field, text := range map[string]string{"Summary": r.Doc.Summary, "Why": r.Doc.Why, "Fix": r.Doc.Fix} {
			if text == "" || !strings.HasSuffix(text, ".") || strings.HasSuffix(text, "..") || text[0] < 'A' || text[0] > 'z' {
				t.Errorf("%s: %s %q: want a sentence with a full stop", r.ID, field, text)
			}
		}
		if strings.Count(r.Doc.Summary, ". ") > 0 {
			t.Errorf("%s: Summary %q: want one sentence", r.ID, r.Doc.Summary)
		}
		if r.Doc.Price == "" || strings.HasSuffix(r.Doc.Price, ".") {
			t.Errorf("%s: Price %q: want a phrase without a full stop", r.ID, r.Doc.Price)
		}
		if len(r.Doc.Refs) == 0 {
			t.Errorf("%s: no references", r.ID)
		}
		if r.Severity.Rank() == 0 || r.Since == "" || r.Check == nil || len(r.Needs) == 0 {
			t.Errorf("%s: severity, since, check and needs must be there", r.ID)
		}
	}
}

// TestCausesAreExplained: what somebody has to act on has a rule that says how.
func TestCausesAreExplained(t *testing.T) {
	for _, c := range inspect.Causes() {
		if c.Info().Acts && len(advise.Explaining(c)) == 0 {
			t.Errorf("%s asks somebody to act, and no rule explains it", c)
		}
	}
	for _, r := range advise.Rules() {
		for c, rank := range r.Explains {
			if c.Info().Cause == "" || rank < 1 {
				t.Errorf("%s explains %q with rank %d: want a cause of the vocabulary and a rank from 1", r.ID, c, rank)
			}
		}
	}
}

// TestOrderOfCure: the record over which members go comes before any setting, and the
// setting itself before what only counts.
func TestOrderOfCure(t *testing.T) {
	for c, want := range map[inspect.Cause]string{
		inspect.PollIntervalExceeded: "KGD210 KGD105 KGD236 KGD108 KGD204 KGD203 KGD207",
		inspect.SessionExpired:       "KGD210 KGD201 KGD103 KGD109 KGD101 KGD102 KGD227 KGD107 KGD204 KGD203",
		inspect.UnknownCause:         "KGD210 KGD203 KGD204",
		inspect.MemberJoined:         "",
	} {
		if got := strings.Join(advise.Explaining(c), " "); got != want {
			t.Errorf("%s: %s, want %s", c, got, want)
		}
	}
}

func TestEveryRuleHasFixtures(t *testing.T) {
	have := map[string]map[string]int{}
	for _, f := range fixtures(t) {
		if have[f.Rule] == nil {
			have[f.Rule] = map[string]int{}
		}
		have[f.Rule][f.Kind]++
	}
	for _, r := range advise.Rules() {
		for _, kind := range []string{"fires", "quiet"} {
			if have[r.ID][kind] == 0 {
				t.Errorf("%s has no %s fixture", r.ID, kind)
			}
		}
		for _, fact := range r.Needs {
			if r.Scope == advise.PerFile {
				continue // without a file there is nothing that it could be about
			}
			path := filepath.Join("testdata", r.ID, "unknown-"+string(fact)+".txtar")
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s needs %s, but there is no %s", r.ID, fact, path)
			}
		}
		delete(have, r.ID)
	}
	for id := range have {
		t.Errorf("testdata/%s belongs to no rule", id)
	}
}

// implied facts come along with a declared one.
var implied = map[inspect.Fact][]inspect.Fact{
	inspect.FactPollTime: {inspect.FactDeclared, inspect.FactHistory, inspect.FactClientLog, inspect.FactClientConfig, inspect.FactTimeouts},
	inspect.FactPause:    {inspect.FactDeclared, inspect.FactClientLog},
	inspect.FactTimeouts: {inspect.FactClientConfig, inspect.FactMembers},
	// Members carry these facts, and are gone with them.
	inspect.FactSubscription: {inspect.FactMembers}, inspect.FactAssignment: {inspect.FactMembers},
	inspect.FactTopics:       {inspect.FactSubscription, inspect.FactMembers},
	inspect.FactBrokerConfig: {inspect.FactMembers},
	inspect.FactHistory:      {inspect.FactTimeouts},
}

// TestBlankOut erases every fact that a rule does not declare: its finding must
// stay as it was, or the declaration is wrong.
func TestBlankOut(t *testing.T) {
	for _, f := range fixtures(t) {
		if f.Kind != "fires" {
			continue
		}
		rule, ok := advise.Lookup(f.Rule)
		if !ok {
			continue
		}
		declared := map[inspect.Fact]bool{}
		for _, fact := range append(append([]inspect.Fact{}, rule.Needs...), rule.Uses...) {
			declared[fact] = true
			for _, more := range implied[fact] {
				declared[more] = true
			}
		}
		want := verdicts(&f.Case, f.Rule)
		for _, fact := range rulefixture.Facts() {
			if declared[fact] {
				continue
			}
			blanked := f.Case
			rulefixture.Erase(&blanked, fact)
			if got := verdicts(&blanked, f.Rule); got != want {
				t.Errorf("%s: without %s, which %s does not declare:\n%s\nwith it:\n%s", f.Path, fact, f.Rule, got, want)
			}
		}
	}
}

func verdicts(c *inspect.Case, id string) string {
	var b strings.Builder
	for _, f := range advise.Evaluate(c, advise.Options{}).Findings {
		if f.ID == id {
			fmt.Fprintf(&b, "%s %s %s %s\n", f.Severity, f.Group, f.Subject, f.Message)
		}
	}
	return b.String()
}
