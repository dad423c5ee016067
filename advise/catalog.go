package advise

import (
	"sort"
	"strings"
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
	for _, r := range catalog {
		out = append(out, r)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].ID < out[j].ID })
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
		'5': "configuration files", '6': "known bugs by version", '9': "limits of this tool",
	}
}

// DocsURL is where the documentation of a rule is published.
func DocsURL(id string) string {
	return "https://github.com/kgdiag/kgdiag/blob/main/docs/rules.md#" + strings.ToLower(id)
}
