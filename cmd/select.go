package cmd

import (
	"fmt"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// selection are the flags by which commands choose groups.
type selection struct {
	group  []string // hidden alias of the positional ids, as Apache's tools spell it
	all    bool
	regex  string
	states []string
	types  []string
}

// addFlags adds the flags of the selection to a command.
func (s *selection) addFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringArrayVar(&s.group, "group", nil, "")
	_ = f.MarkHidden("group") // added above
	f.BoolVar(&s.all, "all-groups", false, "all groups")
	f.StringVar(&s.regex, "regex", "", "groups whose whole id matches this `pattern` (RE2)")
	f.StringSliceVar(&s.states, "state", nil, "groups in these `STATES`, as Kafka spells them")
	f.StringSliceVar(&s.types, "type", nil, "groups of these `TYPES`: classic, consumer, share, streams")
}

// any reports whether groups are chosen by other means than their ids.
func (s *selection) any() bool {
	return s.all || s.regex != "" || len(s.states) > 0 || len(s.types) > 0
}

// checkIDs refuses ids that no JVM can hold: their hash would be a guess.
func checkIDs(ids []string) error {
	for _, id := range ids {
		if id == "" {
			return usage("group id is empty", "a group id has at least one character")
		}
		if !utf8.ValidString(id) {
			return usage(fmt.Sprintf("group id %q: not valid UTF-8", id), "Kafka replaces the bad bytes before hashing, so no client can use this id as typed")
		}
	}
	return nil
}
