package diagnose

import (
	"fmt"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/prose"
)

// Cost is what the rebalances of the window cost.
type Cost struct {
	Partitions []string        `json:"partitions"` // of departed members, that were not consumed
	Idle       *inspect.Millis `json:"idle_ms"`    // in all
	// Stopped and StoppedAtMost are how long rebalances paused members that stayed.
	Stopped       *inspect.Millis `json:"stopped_ms"`
	StoppedAtMost *inspect.Millis `json:"stopped_at_most_ms"`
	Moved         int             `json:"moved"`

	summary  inspect.Summary // that Idle is of
	caughtUp bool            // no record waits now

	slowest *inspect.Rebalance // the one that took longest to converge; nil for none
}

// String says what it cost, in one sentence; "" for nothing.
func (c *Cost) String() string {
	var parts []string
	if c.Idle != nil && c.Idle.Duration() >= time.Second && len(c.Partitions) > 0 {
		parts = append(parts, fmt.Sprintf("partitions %s not consumed for %s", prose.Ranges(c.Partitions, 4), IdleText(c.summary)))
		if c.caughtUp {
			parts = append(parts, "caught up by now (lag 0)")
		}
	}
	if text := Paused(c.Stopped, c.StoppedAtMost); text == "none" {
		parts = append(parts, "the group as a whole was not paused")
	} else if text != "-" {
		parts = append(parts, "members paused for "+text+" in all")
	}
	if c.Moved > 0 {
		parts = append(parts, prose.Plural(c.Moved, "partition")+" moved")
	}
	if r := c.slowest; r != nil {
		parts = append(parts, fmt.Sprintf("the slowest rebalance (epoch %s) converged in %s, %s last", GenerationText(*r), prose.Span(r.Converged.Duration()), r.ConvergedLast))
	}
	return strings.Join(parts, "; ")
}

// NotConsumed is how long partitions of departed members were not consumed in all; "-"
// for none.
func (c *Cost) NotConsumed() string {
	if c.Idle == nil || c.Idle.Duration() < time.Second {
		return "-"
	}
	return prose.Span(prose.Rounded(c.Idle.Duration()))
}

// IdleText is how long partitions of departed members were not consumed: of one
// departure, or the sum over several, with how many of all departures those are.
func IdleText(s inspect.Summary) string {
	text := prose.Span(prose.Rounded(s.Idle.Duration()))
	switch {
	case s.IdleOf == 0: // each of them for less than a second
		text += " in all"
	case s.IdleOf == 1 && s.Departures > 1:
		text += fmt.Sprintf(", over 1 of %d departures", s.Departures)
	case s.IdleOf < s.Departures:
		text += fmt.Sprintf(" in all, over %d of %d departures", s.IdleOf, s.Departures)
	case s.IdleOf > 1:
		text += fmt.Sprintf(" in all, over %d departures", s.IdleOf)
	}
	return text
}

// tooWide is how many times its least a range's most may be before the least says nothing.
const tooWide = 10

// Paused is how long rebalances paused members that stayed: "9–30ms", "at least 9ms",
// "none", or "-" where it is not known.
func Paused(least, most *inspect.Millis) string {
	switch {
	case most != nil && *most == 0:
		return "none"
	case most == nil && inspect.Or(least, 0) == 0:
		return "-"
	case most == nil:
		return "at least " + prose.Span(least.Duration())
	case least == nil:
		return "at most " + prose.AtMost(most.Duration())
	}
	if least.Duration() < most.Duration()/tooWide {
		return "at most " + prose.AtMost(most.Duration())
	}
	return prose.Between(least.Duration(), most.Duration())
}

// String says how many evictions a fix would have prevented; "" where that is not known.
func (a Avoided) String() string {
	switch all := prose.Plural(a.Of, "eviction"); {
	case a.Of == 0:
		return ""
	case a.Perhaps > 0:
		most := fmt.Sprint(a.Sure + a.Perhaps)
		if a.Tight {
			most = "up to " + most
		}
		return fmt.Sprintf("would have avoided %s of %s if the process paused, %d if it crashed", most, all, a.Sure) + a.doubt("; this, if the cause is right")
	default:
		return fmt.Sprintf("would have avoided %d of %s", a.Sure, all) + a.doubt(", if the cause is right")
	}
}

// doubt says what the number rests on, and of how many evictions it says nothing.
func (a Avoided) doubt(unsure string) string {
	if !a.Open {
		unsure = ""
	}
	if a.Unmeasured > 0 {
		unsure += fmt.Sprintf("; %d undecided: how long it needed is not known", a.Unmeasured)
	}
	return unsure
}
