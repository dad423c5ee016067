package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/kgdiag/kgdiag"

// allowed is the import table of docs/design.md: our own packages that a package may
// import. Arrows never turn back: main → cmd → {advise/*, inspect/*} → inspect → locate.
var allowed = map[string][]string{
	"":                              {"cmd"},
	"locate":                        {},
	"inspect":                       {"locate", "internal/prose", "internal/pattern"},
	"inspect/family":                {"inspect", "internal/prose", "internal/pattern"},
	"inspect/settings":              {"inspect"},
	"inspect/collect":               {"inspect", "locate", "inspect/offsetlog", "inspect/family", "internal/hedge", "internal/pause", "internal/prose", "internal/release"},
	"inspect/offsetlog":             {"inspect", "locate", "internal/pause", "internal/prose"},
	"inspect/access":                {"inspect", "locate"},
	"inspect/membership":            {"inspect", "inspect/family"},
	"inspect/judge":                 {"inspect", "inspect/assume", "inspect/family", "inspect/membership", "internal/prose", "inspect/platform"},
	"inspect/watch":                 {"inspect", "inspect/assume", "locate", "inspect/collect", "inspect/offsetlog", "inspect/membership", "inspect/judge", "internal/pause", "internal/prose"},
	"inspect/platform":              {"inspect", "internal/pattern", "internal/prose"},
	"inspect/clientconf":            {"inspect", "inspect/settings", "inspect/clientconf/properties", "internal/prose", "internal/pattern"},
	"inspect/assume":                {"inspect", "inspect/settings", "internal/prose"},
	"inspect/look":                  {"inspect", "inspect/past", "inspect/watch"},
	"inspect/past":                  {"inspect", "locate", "inspect/collect", "inspect/offsetlog", "inspect/judge", "inspect/clientlog", "inspect/platform", "internal/input", "internal/prose"},
	"inspect/clientconf/properties": {},
	"inspect/errcode":               {},
	"inspect/clientlog":             {"inspect", "inspect/clientconf", "inspect/errcode", "internal/pattern", "internal/prose"},
	"advise":                        {"inspect", "inspect/settings", "locate", "inspect/errcode", "internal/prose", "internal/pattern"},
	"advise/diagnose":               {"inspect", "advise", "internal/prose"},
	"advise/explain":                {"inspect", "inspect/errcode", "advise", "internal/prose"},
	"internal/project":              {"advise", "inspect", "internal/prose"},
	"internal/input":                {},
	"internal/pause":                {},
	"internal/hedge":                {},
	"internal/pattern":              {},
	"internal/prose":                {},
	"internal/term":                 {},
	"internal/eventtext":            {"advise/diagnose", "inspect", "inspect/watch", "internal/prose", "internal/render", "internal/term"},
	"internal/top":                  {"advise/diagnose", "inspect", "inspect/collect", "inspect/family", "inspect/past", "inspect/watch", "internal/eventtext", "internal/pause", "internal/prose", "internal/render", "internal/show", "internal/term"},
	"internal/render":               {"internal/term", "internal/prose"},
	"internal/show":                 {"inspect", "inspect/assume", "locate", "internal/prose", "internal/render", "internal/term"},
	"internal/metrics":              {"inspect", "inspect/watch", "internal/render"},
	"internal/notify":               {"inspect/watch"},
	"internal/page":                 {"inspect", "advise", "advise/diagnose", "internal/prose", "internal/render"},
	"internal/release":              {},
	"internal/kconn":                {"internal/kconn/settings", "internal/kconn/credentials", "internal/kconn/stores", "internal/kconn/fault", "internal/hedge", "internal/prose", "internal/release"},
	"internal/kconn/settings":       {"internal/kconn/fault", "inspect/clientconf/properties", "internal/prose", "internal/input", "internal/pattern"},
	"internal/kconn/credentials":    {"internal/kconn/settings", "internal/kconn/stores", "internal/kconn/fault", "internal/pattern"},
	"internal/kconn/stores":         {"internal/kconn/settings", "internal/kconn/fault"},
	"internal/kconn/fault":          {},
	"internal/fakecluster":          {"inspect/offsetlog", "inspect", "locate"},
	"internal/demo":                 {"internal/fakecluster", "internal/pause"},
	"internal/docgen":               {"cmd", "advise", "inspect", "internal/rulefixture", "internal/render", "internal/realtest"},
	"internal/rulefixture":          {"inspect", "inspect/clientconf", "inspect/clientlog"}, // tests and documentation
	"internal/arch":                 {},
	"internal/flaghelp":             {},
	"internal/words":                {},                       // tests only
	"internal/fieldscore":           {"cmd", "internal/term"}, // tests only
	"internal/delay":                {"internal/pause"},       // tests only
	"internal/golden":               {},                       // tests only
	"internal/departures":           {"inspect"},              // tests only
	"internal/realtest":             {"*"},                    // tests only
	"internal/trust":                {"*"},                    // tests only
	"internal/wire":                 {},                       // tests only
	"internal/outsider":             {"inspect"},              // tests only
	"internal/scale":                {"locate"},               // tests only
	"cmd": {"advise", "advise/diagnose", "advise/explain", "inspect", "inspect/access", "inspect/clientconf", "inspect/clientconf/properties",
		"inspect/clientlog", "inspect/collect", "inspect/offsetlog", "inspect/look", "inspect/past", "inspect/watch", "locate",
		"internal/demo", "internal/kconn", "internal/kconn/fault", "internal/input", "internal/metrics", "internal/notify", "internal/page", "internal/project", "internal/prose", "internal/render", "internal/show", "internal/flaghelp", "internal/eventtext", "internal/term", "internal/top"},
}

// onlyImporter names libraries that one package alone may know, so that a change of
// theirs is felt in one place.
var onlyImporter = map[string]string{
	"github.com/clipperhouse/displaywidth": "internal/prose",
	"github.com/olekukonko/tablewriter":    "internal/render",
	"github.com/fatih/color":               "internal/term",
	"github.com/prometheus/client_golang":  "internal/metrics",
	"github.com/spf13/cobra":               "cmd",
	"charm.land/bubbletea":                 "internal/top",
}

// pure packages neither do I/O nor look at the clock.
var pure = []string{"locate", "advise", "advise/diagnose", "advise/explain", "inspect/judge", "inspect/membership", "inspect/family", "inspect/settings", "inspect/assume", "inspect/clientconf", "inspect/clientlog", "internal/prose", "inspect/platform"}

type source struct {
	pkg  string // path below the module, "" for main
	file string
	ast  *ast.File
	test bool
}

func sources(t *testing.T) []source {
	t.Helper()
	root := filepath.Join("..", "..")
	var out []source
	fset := token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		if d.IsDir() {
			if name := d.Name(); rel != "." && (strings.HasPrefix(name, ".") || name == "testdata" || name == "scripts") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		f, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(filepath.Dir(rel))
		if pkg == "." {
			pkg = ""
		}
		out = append(out, source{pkg, rel, f, strings.HasSuffix(path, "_test.go")})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 20 {
		t.Fatalf("only %d files found: the walk is broken", len(out))
	}
	return out
}

func TestImports(t *testing.T) {
	for _, s := range sources(t) {
		table, known := allowed[s.pkg]
		if !known {
			t.Errorf("%s: package %q is not in the import table", s.file, s.pkg)
			continue
		}
		for _, imp := range s.ast.Imports {
			path, _ := strconv.Unquote(imp.Path.Value)
			if own, ok := strings.CutPrefix(path, module+"/"); ok {
				if !s.test && !slices.Contains(table, own) && !slices.Contains(table, "*") {
					t.Errorf("%s imports %s, which the table does not allow for %s", s.file, own, s.pkg)
				}
				continue
			}
			for lib, only := range onlyImporter {
				if (path == lib || strings.HasPrefix(path, lib+"/")) && s.pkg != only && !s.test && s.pkg != "internal/docgen" {
					t.Errorf("%s imports %s, which only %s may", s.file, path, only)
				}
			}
		}
	}
}

// calls walks the selector calls of a file as "package.Name".
func calls(f *ast.File, visit func(string)) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			// A registry may panic on a duplicate: that is a fault of the build.
			if strings.HasPrefix(n.Name.Name, "register") {
				return false
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Obj == nil {
				visit(x.Name + "." + n.Sel.Name)
			}
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "panic" {
				visit("panic")
			}
		}
		return true
	})
}

func TestNothingExitsOrPrintsBelowCmd(t *testing.T) {
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		calls(s.ast, func(name string) {
			switch {
			case name == "os.Exit" && s.file != "main.go",
				strings.HasPrefix(name, "log.Fatal"), strings.HasPrefix(name, "log.Panic"):
				t.Errorf("%s: %s: only main exits", s.file, name)
			case name == "panic":
				t.Errorf("%s: panic: return an error", s.file)
			case name == "fmt.Print" || name == "fmt.Println" || name == "fmt.Printf",
				strings.HasPrefix(name, "log.Print"):
				t.Errorf("%s: %s: write to the streams that cmd holds", s.file, name)
			case (name == "os.Stdout" || name == "os.Stderr" || name == "os.Stdin") && s.pkg != "internal/term":
				t.Errorf("%s: %s: streams belong to internal/term", s.file, name)
			case (name == "os.Getenv" || name == "os.Args" || name == "flag.Parse") && s.pkg != "cmd" && s.pkg != "":
				t.Errorf("%s: %s: the environment and flags belong to cmd", s.file, name)
			case name == "time.Sleep":
				t.Errorf("%s: time.Sleep: wait for a condition or a context", s.file)
			}
		})
	}
}

// ruleID is the whole of a string that names a rule, as code that decides by rules does.
var ruleID = regexp.MustCompile(`^"KGD[0-9]{3}"$`)

// weights are the fields of the tables by which causes and rules are weighed.
var weights = []string{"Weight", "Acts", "Evicts", "Departs", "Planned", "Explains"}

// TestCmdJudgesNothing holds the command layer to showing: what a cause, a return or a
// rule means is decided by inspect and advise, so cmd names none of them.
func TestCmdJudgesNothing(t *testing.T) {
	all := sources(t)
	words := vocabulary(all)
	if len(words) < 20 {
		t.Fatalf("only %d words found in package inspect: the search is broken", len(words))
	}
	for _, s := range all {
		if s.pkg != "cmd" || s.test {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				x, ok := n.X.(*ast.Ident)
				if ok && x.Name == "inspect" && words[n.Sel.Name] != "" {
					t.Errorf("%s decides by inspect.%s: give package inspect or advise a method that says what it means", s.file, n.Sel.Name)
				}
				if slices.Contains(weights, n.Sel.Name) {
					t.Errorf("%s weighs by %s: leave that to advise/diagnose", s.file, n.Sel.Name)
				}
			case *ast.BasicLit:
				if ruleID.MatchString(n.Value) {
					t.Errorf("%s decides by rule %s: a rule says itself what it explains", s.file, n.Value)
				}
				for name, value := range words {
					if value == n.Value && value != `"unknown"` && value != `"no"` {
						t.Errorf("%s decides by %s, which is inspect.%s", s.file, value, name)
					}
				}
			}
			return true
		})
	}
}

// vocabulary are the constants of package inspect that name causes and returns, with
// their values as Go writes them.
func vocabulary(all []source) map[string]string {
	out := map[string]string{}
	for _, s := range all {
		if s.pkg != "inspect" || s.test {
			continue
		}
		for _, d := range s.ast.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, spec := range g.Specs {
				v := spec.(*ast.ValueSpec)
				typ, ok := v.Type.(*ast.Ident)
				if !ok || typ.Name != "Cause" && typ.Name != "Returned" {
					continue
				}
				for i, n := range v.Names {
					if lit, ok := v.Values[i].(*ast.BasicLit); ok {
						out[n.Name] = lit.Value
					}
				}
			}
		}
	}
	return out
}

func TestPurePackagesHaveNoClockAndNoIO(t *testing.T) {
	forbidden := []string{"os", "net", "net/http", "os/exec", "github.com/twmb/franz-go/pkg/kgo", "github.com/twmb/franz-go/pkg/kadm"}
	for _, s := range sources(t) {
		if s.test || !slices.Contains(pure, s.pkg) {
			continue
		}
		for _, imp := range s.ast.Imports {
			if path, _ := strconv.Unquote(imp.Path.Value); slices.Contains(forbidden, path) {
				t.Errorf("%s imports %s: the package is pure", s.file, path)
			}
		}
		calls(s.ast, func(name string) {
			if name == "time.Now" || name == "time.Since" || name == "time.Until" || name == "time.After" || name == "time.NewTicker" {
				t.Errorf("%s: %s: the package has no clock", s.file, name)
			}
		})
	}
}

func TestEveryPackageHasADocFile(t *testing.T) {
	has, files := map[string]bool{}, map[string]bool{}
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		files[s.pkg] = true
		if (filepath.Base(s.file) == "doc.go" || s.pkg == "") && s.ast.Doc != nil {
			has[s.pkg] = true
		}
	}
	for pkg := range files {
		if !has[pkg] {
			t.Errorf("package %q has no doc.go with a package comment", pkg)
		}
	}
}

func TestExportedNamesAreDocumented(t *testing.T) {
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		for _, d := range s.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && d.Doc == nil && receiverExported(d) {
					t.Errorf("%s: %s has no doc comment", s.file, d.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if n, doc := exported(spec); n != "" && doc == nil && d.Doc == nil {
						t.Errorf("%s: %s has no doc comment", s.file, n)
					}
				}
			}
		}
	}
}

func exported(spec ast.Spec) (string, *ast.CommentGroup) {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		if spec.Name.IsExported() {
			return spec.Name.Name, spec.Doc
		}
	case *ast.ValueSpec:
		for _, n := range spec.Names {
			if n.IsExported() {
				if spec.Doc != nil {
					return n.Name, spec.Doc
				}
				return n.Name, spec.Comment
			}
		}
	}
	return "", nil
}

// receiverExported is false for methods of unexported types and for methods that
// only satisfy a well-known interface, whose doc the interface holds.
func receiverExported(d *ast.FuncDecl) bool {
	switch d.Name.Name {
	case "Error", "Unwrap", "String", "Len", "Less", "Swap", "Is", "As":
		return false
	}
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	id, ok := typ.(*ast.Ident)
	return ok && id.IsExported()
}
