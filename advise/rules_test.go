package advise_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/rulefixture"
)

var update = flag.Bool("update", false, "rewrite want.txt of the fixtures")

func fixtures(t testing.TB) []rulefixture.Fixture {
	t.Helper()
	fs, err := rulefixture.All("testdata")
	if err != nil {
		t.Fatal(err)
	}
	if len(fs) == 0 {
		t.Fatal("no fixtures")
	}
	return fs
}

// TestFixtures runs every rule on its fixtures: want.txt holds what the rule of the
// folder says, and which other rules have a warning or an error.
func TestFixtures(t *testing.T) {
	for _, f := range fixtures(t) {
		t.Run(strings.TrimPrefix(f.Path, "testdata/"), func(t *testing.T) {
			got := summary(advise.Evaluate(&f.Case, advise.Options{}), f.Rule)
			if *update {
				if err := f.Rewrite(got); err != nil {
					t.Fatal(err)
				}
			} else if d := cmp.Diff(f.Want, got); d != "" {
				t.Errorf("-want +got (go test -update rewrites)\n%s", d)
			}
			checkKind(t, f, got)
		})
	}
}

// checkKind holds want.txt to the name of its file, so that -update cannot turn a
// firing fixture into a quiet one.
func checkKind(t *testing.T, f rulefixture.Fixture, got string) {
	t.Helper()
	fires := strings.Contains(got, " "+f.Rule+" ") && !strings.HasPrefix(got, "unchecked")
	unknown := strings.Contains(got, "unchecked "+f.Rule)
	switch f.Kind {
	case "fires":
		if !fires {
			t.Errorf("%s did not fire", f.Rule)
		}
	case "quiet":
		if fires || unknown {
			t.Errorf("%s was not quiet", f.Rule)
		}
	case "unknown":
		if fires || !unknown {
			t.Errorf("%s was not unchecked", f.Rule)
		}
	default:
		t.Errorf("the name starts with %q, want fires, quiet or unknown", f.Kind)
	}
}

func summary(r advise.Report, rule string) string {
	var b strings.Builder
	var also []string
	for _, f := range r.Findings {
		if f.ID == rule {
			writeFinding(&b, f)
		} else if f.Severity != advise.Info {
			also = append(also, f.ID)
		}
	}
	for _, u := range r.Unchecked {
		if u.ID == rule {
			fmt.Fprintf(&b, "unchecked %s %s: %s\n", u.ID, u.Group, u.Reason)
		}
	}
	if len(also) > 0 {
		fmt.Fprintf(&b, "also %s\n", strings.Join(also, " "))
	}
	if b.Len() == 0 {
		return "quiet\n"
	}
	return b.String()
}

func writeFinding(b *strings.Builder, f advise.Finding) {
	place := ""
	if f.Where != nil {
		place = fmt.Sprintf(" at %s:%d", f.Where.File, f.Where.Line)
	}
	fmt.Fprintf(b, "%s %s %s, group %q, %s%s, confidence %s\n  %s\n", f.Severity, f.ID, f.Name, f.Group, f.Subject, place, f.Confidence, f.Message)
	for _, e := range f.Evidence {
		fmt.Fprintf(b, "  evidence: %s\n", e)
	}
	if f.BecauseOf != "" {
		fmt.Fprintf(b, "  because of %s\n", f.BecauseOf)
	}
	if f.Fix == nil {
		return
	}
	fmt.Fprintf(b, "  fix: %s\n", f.Fix.Summary)
	for _, e := range f.Fix.Edits {
		verb := "set"
		if e.Alternative > 0 {
			verb = fmt.Sprintf("or %d", e.Alternative)
		}
		if e.Delete {
			fmt.Fprintf(b, "  delete %s\n", e.Spelled)
			continue
		}
		fmt.Fprintf(b, "  %s %s=%s (%s)\n", verb, e.Spelled, e.Value, f.Fix.Notes[e.Key])
	}
	fmt.Fprintf(b, "  price: %s\n", f.Fix.Price)
	if f.Fix.WouldHaveAvoided != nil {
		fmt.Fprintf(b, "  would have avoided: %d\n", *f.Fix.WouldHaveAvoided)
	}
}

func describeCase(c *inspect.Case) string {
	b, err := json.Marshal(c)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
