package advise

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
)

// evidence names what the rules look at that lack a fact, where it is one thing.
var evidence = map[string]string{"add -f FILE": "client settings", "add --log FILE": "logs", "add --gc-pause": "pauses of the process",
	"add --batch-time": "the time of the work", "add --client NAME@VERSION": "faults of the client's version"}

// NotChecked lists unchecked rules in one line, by what would make them checked: what
// most of them lack first.
func NotChecked(us []Unchecked) string {
	byHint := map[string][]string{}
	var hints []string
	seen := map[string]bool{}
	for _, u := range us {
		if seen[u.Hint+"\x00"+u.ID] {
			continue
		}
		seen[u.Hint+"\x00"+u.ID] = true
		if byHint[u.Hint] == nil {
			hints = append(hints, u.Hint)
		}
		byHint[u.Hint] = append(byHint[u.Hint], u.ID)
	}
	slices.SortStableFunc(hints, func(a, b string) int { return len(byHint[b]) - len(byHint[a]) })
	var parts []string
	for _, h := range hints {
		ids := byHint[h]
		what := strings.Join(ids, ", ")
		if name := evidence[h]; name != "" {
			what = name
		} else if len(ids) > 4 {
			what = fmt.Sprintf("%d rules", len(ids))
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", what, h))
	}
	return strings.Join(parts, "; ")
}

// CountRules is how many rules there are in a list, each counted once.
func CountRules(us []Unchecked) int {
	ids := map[string]bool{}
	for _, u := range us {
		ids[u.ID] = true
	}
	return len(ids)
}

// UncheckedByReason is a rule that was not checked, for one reason.
type UncheckedByReason struct {
	Unchecked
	// Groups are named where the reason is the same for several; Group is then "".
	Groups []string `json:"groups,omitempty"`
}

// ByReason joins the entries of several groups that have one reason, so that two
// thousand groups without a file do not make fifty thousand entries.
func ByReason(us []Unchecked) []UncheckedByReason {
	type key struct{ id, reason string }
	at := map[key]int{}
	out := []UncheckedByReason{}
	for _, u := range us {
		k := key{u.ID, u.Reason}
		i, seen := at[k]
		if !seen || u.Group == "" || out[i].Group == "" && len(out[i].Groups) == 0 {
			at[k] = len(out)
			out = append(out, UncheckedByReason{Unchecked: u})
			continue
		}
		e := &out[i]
		if len(e.Groups) == 0 {
			if e.Group == u.Group {
				continue
			}
			e.Groups, e.Group, e.Subject = []string{e.Group}, "", ""
		}
		if e.Groups[len(e.Groups)-1] != u.Group {
			e.Groups = append(e.Groups, u.Group)
		}
	}
	return out
}

// Pressing are the unchecked rules that concern something the user asked about, and
// not clusters and groups that nobody named.
func Pressing(us []Unchecked, c *inspect.Case) []Unchecked {
	offline := c.Cluster == (inspect.Cluster{})
	var out []Unchecked
	for _, u := range us {
		if u.Subject != "" && !(offline && fromCluster(u.Fact)) {
			out = append(out, u)
		}
	}
	return out
}

// fromCluster reports whether a fact comes from a running group alone: its cluster,
// or its logs.
func fromCluster(f inspect.Fact) bool {
	switch f {
	case inspect.FactClientConfig, inspect.FactTimeouts, inspect.FactPollTime, inspect.FactPause, inspect.FactDeclared:
		return false
	}
	return true
}
