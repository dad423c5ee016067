package advise

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/kgdiag/kgdiag/inspect"
)

var catalog = map[string]Rule{}

// register makes a rule known at package initialisation.
func register(r Rule) struct{} {
	if _, twice := catalog[r.ID]; twice {
		panic("advise: rule " + r.ID + " is registered twice")
	}
	catalog[r.ID] = r
	return struct{}{}
}

// Rules lists all rules by id.
func Rules() []Rule {
	out := make([]Rule, 0, len(catalog))
	for _, r := range sorted() {
		out = append(out, *r)
	}
	return out
}

// sorted is the catalogue by id, worked out once: every rule has registered itself
// before the first call.
var sorted = sync.OnceValue(func() []*Rule {
	out := make([]*Rule, 0, len(catalog))
	for _, id := range sortedKeys(catalog) {
		r := catalog[id]
		out = append(out, &r)
	}
	return out
})

// Explaining are the ids of the rules that explain or cure a cause, in the order in
// which they are to be shown.
func Explaining(c inspect.Cause) []string {
	var out []string
	for _, r := range sorted() {
		if r.Explains[c] > 0 {
			out = append(out, r.ID)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(catalog[a].Explains[c], catalog[b].Explains[c]) })
	return out
}

// Lookup finds a rule by id or name, whatever their case.
func Lookup(word string) (Rule, bool) {
	if r, ok := catalog[strings.ToUpper(word)]; ok {
		return r, true
	}
	for _, r := range catalog {
		if strings.EqualFold(r.Name, word) {
			return r, true
		}
	}
	return Rule{}, false
}

// Retired maps the ids of rules that are gone to the reason. An id is never used
// again.
func Retired() map[string]string { return map[string]string{} }

// Families are the headings of the catalogue by the first digit of an id.
func Families() map[byte]string {
	return map[byte]string{
		'1': "timing", '2': "membership churn", '3': "coordinator and offsets topic", '4': "protocol and assignment",
		'5': "configuration files", '6': "known bugs by version", '7': "what the program does", '9': "limits of this tool",
	}
}

// DocsURL is where the documentation of a rule is published.
func DocsURL(id string) string {
	return "https://github.com/kgdiag/kgdiag/blob/main/docs/rules.md#" + strings.ToLower(id)
}
