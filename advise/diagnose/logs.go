package diagnose

import (
	"fmt"
	"slices"

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

// Logs says of each log file what was read of it, where no log states the cause.
func (d *Diagnosis) Logs(c *inspect.Case) []string {
	if d.Basis == inspect.Stated {
		return nil
	}
	return LogsRead(c, []string{d.Group}, d.Member, func(string) bool { return false })
}
