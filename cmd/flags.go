package cmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/render"
)

// parseFailOn reads --fail-on of commands that know no severities.
func parseFailOn(word string) (inspect.FailOn, error) {
	if f, ok := inspect.ParseFailOn(word); ok {
		return f, nil
	}
	return "", usage(fmt.Sprintf("--fail-on %q: not known", word), "want never, rebalance, eviction or a cause: kgdiag explain lists them")
}

// trips reports whether one of the rebalances trips --fail-on.
func trips(f inspect.FailOn, list []inspect.Rebalance) bool {
	return slices.ContainsFunc(list, func(r inspect.Rebalance) bool { return f.Rebalance(&r) })
}

// gate is the outcome of a look back that was shown whole: --fail-on has tripped if what it
// names happened, or could not look everywhere, or something was not read.
func (a *app) gate(f inspect.FailOn, gaps []inspect.Gap, happened bool) error {
	if happened {
		return tripped()
	}
	if blind := inspect.NoHistory(gaps); f != inspect.FailNever && len(blind) > 0 {
		return incomplete(fmt.Errorf("--fail-on %s: could not look: %s: %s", f, blind[0].What, blind[0].Why), "")
	}
	if err := unlisted(gaps); err != nil {
		return err
	}
	return a.strictly(gaps)
}

// noGroupLine stands where no group is shown.
func noGroupLine(gaps []inspect.Gap) render.Line {
	if len(inspect.Unlisted(gaps)) > 0 {
		return render.L("no group is known: not all brokers said which groups they have")
	}
	return render.L("no group matches")
}

// unlisted is the error of a list of groups that is not whole; nil where it is.
func unlisted(gaps []inspect.Gap) error {
	if missing := inspect.Unlisted(gaps); len(missing) > 0 {
		return incomplete(fmt.Errorf("the list of groups is not complete: %s: %s", missing[0].What, missing[0].Why), "kgdiag check says which brokers answer")
	}
	return nil
}

// parseCauses reads --cause.
func parseCauses(words []string) ([]inspect.Cause, error) {
	var out []inspect.Cause
	for _, w := range words {
		c, ok := inspect.ParseCause(w)
		if !ok {
			return nil, usage(fmt.Sprintf("--cause %q: no such cause", w), "kgdiag explain lists them")
		}
		out = append(out, c)
	}
	return out, nil
}

// parseWhatIf reads --what-if key=value; nil where none was given.
func parseWhatIf(list []string) (*inspect.Overrides, error) {
	if len(list) == 0 {
		return nil, nil
	}
	o := &inspect.Overrides{}
	for _, kv := range list {
		key, value, ok := strings.Cut(kv, "=")
		if !ok {
			return nil, usage(fmt.Sprintf("--what-if %q: want key=value", kv), "--what-if max.poll.interval.ms=600000")
		}
		switch err := o.Set(key, value); {
		case errors.Is(err, inspect.ErrNotReplayed):
			return nil, usage(fmt.Sprintf("--what-if %s: %v", kv, err), "want max.poll.interval.ms, session.timeout.ms or group.instance.id")
		case err != nil:
			return nil, usage(fmt.Sprintf("--what-if %s: %v", kv, err), "--what-if "+key+"=600000")
		}
	}
	return o, nil
}
