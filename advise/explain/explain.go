package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/prose"
)

// Topic is one thing that can be explained; exactly one of the pointers is set.
type Topic struct {
	Word  string `json:"word"`
	Rule  *Rule  `json:"rule"`
	Cause *Cause `json:"cause"`
	Term  *Term  `json:"term"`
}

// Rule is a rule without its code.
type Rule struct {
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

// Cause explains a cause: what was seen, what stands behind it, what to do.
type Cause struct {
	Cause inspect.Cause `json:"cause"`
	Seen  string        `json:"seen"`
	Means string        `json:"means"`
	Do    string        `json:"do"`
}

// Term is one of Kafka's words.
type Term struct {
	Word string   `json:"word"`
	Also []string `json:"also"`
	Text string   `json:"text"`
	See  []string `json:"see"`
}

// Rules explains every rule, by id.
func Rules() []*Rule {
	var out []*Rule
	for _, r := range advise.Rules() {
		out = append(out, ruleOf(r))
	}
	return out
}

// Causes explains every cause, in the order of the vocabulary.
func Causes() []Cause {
	var out []Cause
	for _, c := range inspect.Causes() {
		out = append(out, causeOf(c))
	}
	return out
}

// Terms explains Kafka's words and kgdiag's own as its output uses them, in order.
func Terms() []Term { return slices.Concat(glossary, screenWords, heads) }

func ruleOf(r advise.Rule) *Rule {
	return &Rule{ID: r.ID, Name: r.Name, Severity: r.Severity, Since: r.Since, Needs: r.Needs, Summary: r.Doc.Summary,
		Why: r.Doc.Why, Fix: r.Doc.Fix, Price: r.Doc.Price, Refs: r.Doc.Refs, Docs: advise.DocsURL(r.ID)}
}

func causeOf(c inspect.Cause) Cause {
	i := c.Info()
	return Cause{Cause: c, Seen: i.Seen, Means: i.Means, Do: i.Do}
}

// Words lists every word that About knows.
func Words() []string {
	var out []string
	for _, r := range advise.Rules() {
		out = append(out, r.ID, r.Name)
	}
	for _, c := range inspect.Causes() {
		out = append(out, string(c), c.Label())
	}
	for _, g := range Terms() {
		out = append(append(out, g.Word), g.Also...)
	}
	return append(out, kafkaWords()...)
}

// All explains every meaning of a word: a number may be a rule's and an error code of
// Kafka's, the rule first. The error is a *WordError.
func All(word string) ([]Topic, error) {
	t, err := About(word)
	if err != nil {
		return nil, err
	}
	if r, ok := advise.Lookup("KGD" + word); ok && t.Rule == nil {
		return []Topic{{Word: r.ID, Rule: ruleOf(r)}, t}, nil
	}
	return []Topic{t}, nil
}

// About explains a rule by its id or name, a cause, a word of Kafka's, or an error of
// Kafka by its number, name or exception, whatever their case. The error is a *WordError.
func About(word string) (Topic, error) {
	if r, ok := advise.Lookup(word); ok {
		return Topic{Word: r.ID, Rule: ruleOf(r)}, nil
	}
	if why, ok := advise.Retired()[strings.ToUpper(word)]; ok {
		return Topic{}, &WordError{text: fmt.Sprintf("%s: retired: %s", strings.ToUpper(word), why)}
	}
	key := keyOf(word)
	for _, spelled := range []string{word, key} {
		if c, ok := inspect.ParseCause(spelled); ok {
			doc := causeOf(c)
			return Topic{Word: string(c), Cause: &doc}, nil
		}
	}
	for _, t := range Terms() {
		if t.is(word, key) {
			return Topic{Word: t.Word, Term: &t}, nil
		}
	}
	if r, ok := advise.Lookup("KGD" + word); ok && !isError(word) {
		return Topic{Word: r.ID, Rule: ruleOf(r)}, nil
	}
	if t, ok := ofKafka(word, key); ok {
		return Topic{Word: t.Word, Term: &t}, nil
	}
	hint := "kgdiag explain lists all that can be explained"
	if near := prose.Nearest(word, slices.Sorted(slices.Values(Words())), len(word)/3); near != "" {
		hint = "nearest: " + near + "; " + hint
	}
	return Topic{}, &WordError{fmt.Sprintf("explain %q: not known", word), hint}
}

// is reports whether a word, or its key with underscores, names the term.
func (t *Term) is(word, key string) bool {
	return slices.ContainsFunc(append([]string{t.Word}, t.Also...), func(w string) bool {
		return strings.EqualFold(w, word) || keyOf(w) == key
	})
}

// keyOf is a word as it is compared: in lower case, its parts joined by underscores,
// without the sign of a number before it.
func keyOf(word string) string {
	if len(word) > 1 {
		word = strings.TrimPrefix(word, "#")
	}
	return strings.ToLower(strings.NewReplacer(" ", "_", "-", "_", ".", "_").Replace(word))
}

// WordError is a word that cannot be explained.
type WordError struct{ text, hint string }

// Error says why it cannot.
func (e *WordError) Error() string { return e.text }

// Hint names the nearest word that can.
func (e *WordError) Hint() string { return e.hint }

// Usage marks it as a fault of what was asked.
func (e *WordError) Usage() bool { return true }
