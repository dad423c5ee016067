package cmd

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/collect"
	"github.com/kgdiag/kgdiag/inspect/past"
	"github.com/kgdiag/kgdiag/internal/prose"
)

// groupStates are the states that any group type can have, as Kafka spells them
// (GroupState.java of Kafka 4.1).
var groupStates = []string{"PreparingRebalance", "CompletingRebalance", "Stable", "Empty", "Dead",
	"Assigning", "Reconciling", "NotReady"}

// groupTypes are the types that --type takes.
var groupTypes = []inspect.GroupType{inspect.Classic, inspect.Consumer, inspect.Share, inspect.Streams}

// choose turns arguments and flags into what package collect reads. Without ids and
// filters the selection is empty, and the command decides what that means.
func (s *selection) choose(a *app, args []string) (collect.Selection, error) {
	ids, err := a.ids(args)
	if err != nil {
		return collect.Selection{}, err
	}
	if err := checkIDs(s.group); err != nil {
		return collect.Selection{}, err
	}
	out := collect.Selection{Groups: append(s.group, ids...)}
	if s.all && len(out.Groups) > 0 {
		return out, usage("--all-groups and group ids exclude each other", "leave one of them out")
	}
	out.All = s.any() && len(out.Groups) == 0
	if s.regex != "" {
		if out.Match, err = regexp.Compile(`\A(?:` + s.regex + `)\z`); err != nil {
			return out, usage(fmt.Sprintf("--regex %q: %v", s.regex, regexError(err)), "want an RE2 pattern that matches the whole id, such as 'orders-.*'")
		}
	}
	if out.States, err = states(s.states); err != nil {
		return out, err
	}
	out.Types, err = types(s.types)
	return out, err
}

// regexError is what is wrong with a pattern, without Go's preamble and our anchors.
func regexError(err error) string {
	var se *syntax.Error
	if errors.As(err, &se) {
		return se.Code.String()
	}
	return err.Error()
}

// states checks --state against Kafka's words, case ignored.
func states(given []string) ([]string, error) {
	for _, s := range given {
		if !slices.ContainsFunc(groupStates, func(k string) bool { return strings.EqualFold(k, s) }) {
			return nil, usagef("--state %q: not known, want %s", s, strings.Join(groupStates, ", "))
		}
	}
	return given, nil
}

// types checks --type.
func types(given []string) ([]inspect.GroupType, error) {
	var out []inspect.GroupType
	for _, s := range given {
		t := inspect.GroupType(strings.ToLower(s))
		if !slices.Contains(groupTypes, t) {
			return nil, usagef("--type %q: not known, want classic, consumer, share or streams", s)
		}
		out = append(out, t)
	}
	return out, nil
}

// groupsError gives an error of package collect its exit code and hint. What could
// not be completed weighs more than what was not found, since a retry may find it.
func groupsError(err error) error {
	if err == nil {
		return nil
	}
	var missing *collect.NotFoundError
	var open *collect.IncompleteError
	var absent *past.AbsentError
	switch {
	case errors.As(err, &absent):
		var near []string
		for _, g := range absent.Groups {
			near = append(near, prose.NearestFew(g, absent.Held)...)
		}
		if len(near) == 0 {
			return notFound(absent, "it holds "+prose.Few(absent.Held, 8))
		}
		return notFound(absent, "nearest: "+strings.Join(distinct(near), ", "))
	case errors.As(err, &open):
		return incomplete(errors.New(strings.ReplaceAll(err.Error(), "\n", "; ")), "")
	case errors.As(err, &missing):
		return notFound(missing, nearestHint(missing))
	}
	return err
}

// tells reports whether a result is worth showing: it holds something, or nothing that
// was named is missing; a program gets its document in any case.
func (a *app) tells(groups int, missing error) bool {
	return groups > 0 || missing == nil || a.flags.output == "json"
}

// nearestHint offers the ids that the missing ones may be misspellings of.
func nearestHint(e *collect.NotFoundError) string {
	var near []string
	for _, g := range e.Groups {
		for _, n := range e.Nearest[g] {
			if !slices.Contains(near, n) {
				near = append(near, n)
			}
		}
	}
	hidden := "Groups you may not DESCRIBE do not show up at all."
	if len(near) == 0 {
		return hidden
	}
	return fmt.Sprintf("nearest: %s. %s", strings.Join(near, ", "), hidden)
}
