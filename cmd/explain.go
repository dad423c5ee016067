package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/prose"
)

var _ = command(90, newExplainCmd)

func newExplainCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "explain [ID|CAUSE|WORD…]",
		Aliases: []string{"rules"},
		Short:   "rules, causes and Kafka's words, offline",
		Long:    "Rules, causes and Kafka's words, without a cluster. Without an argument: the list of all.",
		Example: "  kgdiag explain KGD105\n  kgdiag explain poll_interval_exceeded\n  kgdiag explain generation",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return explainable(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.show(explainListView(a.explainEnvelope()))
			}
			var topics []topic
			for _, word := range args {
				t, err := explain(word)
				if err != nil {
					return err
				}
				topics = append(topics, t)
			}
			return a.show(explainView(a.explainEnvelope(), topics))
		},
	}
}

func (a *app) explainEnvelope() envelope { return a.envelopeOf("kgdiag.explain/v1", nil) }

// topic is one thing that can be explained; exactly one of the pointers is set.
type topic struct {
	Word  string       `json:"word"`
	Rule  *ruleDoc     `json:"rule"`
	Cause *causeDoc    `json:"cause"`
	Term  *glossaryDoc `json:"term"`
}

// ruleDoc is a rule without its code.
type ruleDoc struct {
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Severity advise.Severity `json:"severity"`
	Since    string          `json:"since"`
	Needs    []inspect.Fact  `json:"needs"`
	Summary  string          `json:"summary"`
	Why      string          `json:"why"`
	Fix      string          `json:"fix"`
	Price    string          `json:"price"`
	Refs     []string        `json:"refs"`
	Docs     string          `json:"docs"`
}

func ruleDocOf(r advise.Rule) *ruleDoc {
	return &ruleDoc{ID: r.ID, Name: r.Name, Severity: r.Severity, Since: r.Since, Needs: r.Needs, Summary: r.Doc.Summary,
		Why: r.Doc.Why, Fix: r.Doc.Fix, Price: r.Doc.Price, Refs: r.Doc.Refs, Docs: advise.DocsURL(r.ID)}
}

// explainable lists every word that explain knows.
func explainable() []string {
	var out []string
	for _, r := range advise.Rules() {
		out = append(out, r.ID, r.Name)
	}
	for _, c := range inspect.Causes() {
		out = append(out, string(c))
	}
	for _, g := range glossary {
		out = append(out, g.Word)
	}
	return out
}

func explain(word string) (topic, error) {
	if r, ok := advise.Lookup(word); ok {
		return topic{Word: r.ID, Rule: ruleDocOf(r)}, nil
	}
	if why, ok := advise.Retired()[strings.ToUpper(word)]; ok {
		return topic{}, usagef("%s: retired: %s", strings.ToUpper(word), why)
	}
	key := strings.ToLower(strings.NewReplacer(" ", "_", "-", "_").Replace(word))
	if c := inspect.Cause(key); slices.Contains(inspect.Causes(), c) {
		d := causeDocOf(c)
		return topic{Word: key, Cause: &d}, nil
	}
	for i := range glossary {
		for _, w := range append([]string{glossary[i].Word}, glossary[i].Also...) {
			if strings.EqualFold(w, word) || strings.EqualFold(strings.ReplaceAll(w, " ", "_"), key) {
				return topic{Word: glossary[i].Word, Term: &glossary[i]}, nil
			}
		}
	}
	hint := "kgdiag explain lists all that can be explained"
	if near := nearestWord(word); near != "" {
		hint = "nearest: " + near + "; " + hint
	}
	return topic{}, usage(fmt.Sprintf("explain %q: not known", word), hint)
}

// nearestWord is the word with the fewest edits, at most a third of its length.
func nearestWord(word string) string {
	return prose.Nearest(word, slices.Sorted(slices.Values(explainable())), len(word)/3)
}
