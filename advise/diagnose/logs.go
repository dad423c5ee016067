package diagnose

import (
	"fmt"
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/prose"
)

// LogsRead says of each log file that is not used, or is so only in part, what was read: how many lines and
// events, how many of these are about a member and about the groups, and how many lie
// outside the case's window. Member is a client id; "" for none.
func LogsRead(c *inspect.Case, groups []string, member string, used func(file string) bool) []string {
	clients := clientsOf(c, groups)
	var out []string
	seen := map[string]bool{}
	for _, f := range c.LogFiles {
		if seen[f.Name] {
			continue
		}
		seen[f.Name] = true
		n := tallyOf(c, f.Name, func(e *inspect.LogEvent) (ofMember, ofGroup bool) {
			return member != "" && e.ClientID == member, slices.Contains(groups, e.Group) || e.ClientID != "" && clients[e.ClientID]
		})
		if used(f.Name) && n.outside == 0 || f.Events > 0 && n.pauses >= int(f.Events) {
			continue // a garbage collection log is about no member; the longest of its pauses has a line
		}
		out = append(out, n.text(f, groups, member))
	}
	return out
}

// clientsOf are the client ids of the members that groups have, or had within the window.
func clientsOf(c *inspect.Case, groups []string) map[string]bool {
	x, clients := c.Index(), map[string]bool{}
	for _, id := range groups {
		if g := x.Group(id); g != nil {
			for _, m := range g.Members {
				clients[m.ClientID] = true
			}
		}
		if t := x.Timeline(id); t != nil {
			for i := range t.Rebalances {
				for _, l := range t.Rebalances[i].Members.Left {
					clients[l.ClientID] = true
				}
			}
		}
	}
	return clients
}

// tally counts the events of a log file.
type tally struct{ member, group, pauses, outside, untimed int }

// tallyOf counts those of one file; about says whom an event is about.
func tallyOf(c *inspect.Case, file string, about func(*inspect.LogEvent) (ofMember, ofGroup bool)) tally {
	var n tally
	for i := range c.LogEvents {
		e := &c.LogEvents[i]
		if e.From.File != file {
			continue
		}
		switch ofMember, ofGroup := about(e); {
		case e.Kind == inspect.LogPause:
			n.pauses++
		case ofMember:
			n.member++
		case ofGroup:
			n.group++
		}
		switch {
		case e.Time.IsZero():
			n.untimed++
		case !c.Window.From.IsZero() && (e.Time.Before(c.Window.From.Time) || e.Time.After(c.Window.To.Time)):
			n.outside++
		}
	}
	return n
}

// text says what a file held.
func (n tally) text(f inspect.LogFile, groups []string, member string) string {
	text := fmt.Sprintf("%s: %s read, %s", f.Name, prose.Plural(int(f.Lines), "line"), prose.Plural(int(f.Events), "event"))
	if f.Events > 0 {
		text += ": "
		if member != "" {
			text += fmt.Sprintf("%s about client %s, %s about the rest of ", none(n.member), member, none(n.group))
		} else {
			text += fmt.Sprintf("%s about ", none(n.group))
		}
		text += fmt.Sprintf("%s, %s outside the window", prose.Few(groups, 3), none(n.outside))
	}
	if n.untimed > 0 {
		text += fmt.Sprintf(", %d without a time", n.untimed)
	}
	return text
}

// none is a number as a sentence has it.
func none(n int) string {
	if n == 0 {
		return "none"
	}
	return fmt.Sprint(n)
}

// Logs says of each log file what was read of it, where no log states the cause, and
// whether its lines miss the departures.
func (d *Diagnosis) Logs(c *inspect.Case, clock Clock) []string {
	if d.Basis == inspect.Stated {
		return nil
	}
	out := LogsRead(c, []string{d.Group}, d.Member, func(string) bool { return false })
	if text := d.astray(c, clock); text != "" {
		out = append(out, text)
	}
	return out
}

// logSkew is how far the time of a log's line may be from the departure that it is about.
const logSkew = 5 * time.Second

// astray says that logs have lines on departures of the member, but none at the time of one
// of those that the group's records show: the lines are about something else, or their
// clock or time zone is another. "" where that is not so.
func (d *Diagnosis) astray(c *inspect.Case, clock Clock) string {
	var nearest *inspect.LogEvent
	var off time.Duration // of the nearest, after its departure; before it where it is negative
	var of inspect.Time
	lines := 0
	for i := range c.LogEvents {
		e := &c.LogEvents[i]
		if d.Member == "" || e.ClientID != d.Member || e.Time.IsZero() || e.Group != "" && e.Group != d.Group || !e.Cause.Info().Departs {
			continue
		}
		lines++
		for _, oc := range d.Occurrences {
			if oc.Departure == nil {
				continue
			}
			by := outside(e.Time, oc.Departure.LeftBetween)
			if by.Abs() <= logSkew {
				return ""
			}
			if nearest == nil || by.Abs() < off.Abs() {
				nearest, off, of = e, by, oc.at()
			}
		}
	}
	if nearest == nil {
		return ""
	}
	side := "after"
	if off < 0 {
		side = "before"
	}
	return fmt.Sprintf("no line of a log falls on a departure of %s: of %s on one, the nearest is %s, at %s, %s %s the departure of %s; is that another departure, clock or time zone?",
		d.Member, prose.Plural(lines, "line"), nearest.From, clock(nearest.Time), prose.Measured(off.Abs()), side, clock(of))
}

// outside is how long a moment is after a span of time, negative where it is before it; 0
// within it.
func outside(at inspect.Time, span [2]inspect.Time) time.Duration {
	switch {
	case at.Before(span[0].Time):
		return at.Sub(span[0].Time)
	case at.After(span[1].Time):
		return at.Sub(span[1].Time)
	}
	return 0
}
