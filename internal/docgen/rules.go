package docgen

import (
	"fmt"
	"sort"
	"strings"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/cmd"
	"github.com/kgdiag/kgdiag/internal/rulefixture"
)

// notice heads every generated file.
const notice = "<!-- Generated from the program by `go generate ./...`; do not edit. -->\n\n"

// Rules is docs/rules.md. fixtures are those of all rules.
func Rules(fixtures []rulefixture.Fixture) (string, error) {
	rules := advise.Rules()
	var b strings.Builder
	b.WriteString("# Rules\n\n" + notice)
	fmt.Fprintf(&b, "%d rules. `kgdiag explain ID` shows each of them offline. Where a fact that a rule needs could not be read, the rule is\n"+
		"reported as *unchecked* with the reason. Every fix has been applied to a copy and checked again with all rules before it is shown.\n\n", len(rules))
	families := advise.Families()
	for _, digit := range familyDigits(families) {
		fmt.Fprintf(&b, "## KGD%cxx: %s\n\n", digit, families[digit])
		index(&b, rules, digit)
		for _, r := range rules {
			if r.ID[3] != digit {
				continue
			}
			if err := section(&b, r, fixtures); err != nil {
				return "", err
			}
		}
	}
	if retired := advise.Retired(); len(retired) > 0 {
		b.WriteString("## Retired\n\n")
		for _, id := range sortedKeys(retired) {
			fmt.Fprintf(&b, "- %s: %s\n", id, retired[id])
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n", nil
}

func familyDigits(families map[byte]string) []byte {
	var out []byte
	for d := range families {
		for _, r := range advise.Rules() {
			if r.ID[3] == d {
				out = append(out, d)
				break
			}
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i] < out[j] })
	return out
}

func index(b *strings.Builder, rules []advise.Rule, digit byte) {
	b.WriteString("| rule | name | at most | says |\n|---|---|---|---|\n")
	for _, r := range rules {
		if r.ID[3] == digit {
			fmt.Fprintf(b, "| [%s](#%s) | %s | %s | %s |\n", r.ID, strings.ToLower(r.ID), r.Name, r.Severity, cell(r.Doc.Summary))
		}
	}
	b.WriteString("\n")
}

func section(b *strings.Builder, r advise.Rule, fixtures []rulefixture.Fixture) error {
	fmt.Fprintf(b, "### %s\n\n**%s.** %s\n\n", r.ID, r.Name, r.Doc.Summary)
	fmt.Fprintf(b, "%s\n\n", r.Doc.Why)
	fmt.Fprintf(b, "- fix: %s\n- trade-off: %s\n- severity: at most %s\n- needs: %s\n", r.Doc.Fix, r.Doc.Price, r.Severity, facts(r))
	if len(r.SymptomOf) > 0 {
		fmt.Fprintf(b, "- can be a symptom of: %s\n", strings.Join(r.SymptomOf, ", "))
	}
	fmt.Fprintf(b, "- since: %s\n- references: %s\n\n", r.Since, strings.Join(r.Doc.Refs, "; "))
	for i := range fixtures {
		f := &fixtures[i]
		if f.Rule != r.ID || f.Kind != "fires" {
			continue
		}
		text, err := cmd.AdviseText(&f.Case, r.ID)
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "```\n$ %s\n%s```\n\n", f.Command(), text)
		return nil
	}
	return fmt.Errorf("%s: no firing fixture", r.ID)
}

func facts(r advise.Rule) string {
	var words []string
	for _, n := range r.Needs {
		words = append(words, "`"+string(n)+"`")
	}
	out := strings.Join(words, ", ")
	if len(r.Uses) == 0 {
		return out
	}
	words = nil
	for _, n := range r.Uses {
		words = append(words, "`"+string(n)+"`")
	}
	return out + "; sharper with " + strings.Join(words, ", ")
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
