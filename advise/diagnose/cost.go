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
	Stopped    *inspect.Millis `json:"stopped_ms"` // the whole group
	Moved      int             `json:"moved"`

	slowest *inspect.Rebalance // the one that took longest to converge; nil for none
}

// String says what it cost, in one sentence; "" for nothing.
func (c *Cost) String() string {
	var parts []string
	if c.Idle != nil && c.Idle.Duration() >= time.Second {
		parts = append(parts, fmt.Sprintf("%s not consumed for %s", prose.Ranges(c.Partitions, 4), prose.Span(c.Idle.Duration().Round(time.Second))))
	}
	switch {
	case c.Stopped != nil && *c.Stopped > 0:
		parts = append(parts, "the whole group paused for "+About(c.Stopped.Duration()))
	case c.Stopped != nil:
		parts = append(parts, "the group as a whole was not paused")
	}
	if c.Moved > 0 {
		parts = append(parts, prose.Plural(c.Moved, "partition")+" moved")
	}
	if r := c.slowest; r != nil {
		parts = append(parts, fmt.Sprintf("converged in %s, %s last", prose.Span(r.Converged.Duration()), r.ConvergedLast))
	}
	return strings.Join(parts, "; ")
}

// About is a sum of estimates, rounded to what its parts are known to, but not to zero:
// "~1.6s".
func About(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		d = d.Round(time.Second)
	case d >= time.Second:
		d = d.Round(100 * time.Millisecond)
	}
	return "~" + prose.Span(d)
}

// String says how many evictions a fix would have prevented; "" where that is not known.
func (a Avoided) String() string {
	switch all := prose.Plural(a.Of, "eviction"); {
	case a == Avoided{}:
		return ""
	case a.Perhaps > 0:
		return fmt.Sprintf("would have avoided %d to %d of %s: it depends on whether the process lived on", a.Sure, a.Sure+a.Perhaps, all)
	default:
		return fmt.Sprintf("would have avoided %d of %s", a.Sure, all)
	}
}
