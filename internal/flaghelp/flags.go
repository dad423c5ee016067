package flaghelp

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// groups say under which title a flag stands; those of no group come first.
var groups = []struct {
	title string
	names []string
}{
	{"Flags", nil},
	{"Select groups", []string{"group", "all-groups", "regex", "state", "type"}},
	{"Look back", []string{"since", "until", "from", "log", "gc-log", "pods"}},
	{"Limit the reading", []string{"budget", "rate-limit"}},
	{"Connect", []string{"bootstrap-server", "command-config", "X", "context", "broker-map", "timeout"}},
	{"Output", []string{"output", "color", "quiet", "verbose", "debug", "utc", "strict"}},
}

// own are flags that need no word.
var own = []string{"help", "version"}

// group is the place of a flag in groups.
func group(name string) int {
	for i := range groups {
		if slices.Contains(groups[i].names, name) {
			return i
		}
	}
	return 0
}

// Flags are the flags of a set that are not hidden, by groups, each with its title;
// "" for none.
func Flags(flags *pflag.FlagSet, width int) string {
	sets := make([]pflag.FlagSet, len(groups))
	flags.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(own, f.Name) {
			set := &sets[group(f.Name)]
			set.SortFlags = false
			set.AddFlag(f)
		}
	})
	var b strings.Builder
	for i := range sets {
		if sets[i].HasAvailableFlags() {
			b.WriteString("\n" + groups[i].title + ":\n" + sets[i].FlagUsagesWrapped(width))
		}
	}
	return b.String()
}
