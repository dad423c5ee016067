package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/prose"
)

// Course is how one departure went: each time, and how long after the one before it.
// What is not known is "-".
type Course struct {
	LastCommit, Left, LeftAfter string
	Rejoined, RejoinedAfter     string // "yes" and "no" where the time is not known
	Silent                      string // from the last commit to the return, or the time between two polls that shows
	Longest                     bool   // of several, the one with the longest time between two polls
}

// Cells are a row of a table under the heads of Courses.
func (c Course) Cells() []string {
	silent := c.Silent
	if c.Longest {
		silent += "  longest"
	}
	return []string{c.LastCommit, c.Left, c.LeftAfter, c.Rejoined, c.RejoinedAfter, silent}
}

// Courses are the departures of a cause.
type Courses struct {
	Heads []string // of the columns
	List  []Course // oldest first; nil where the cause is no member's
	// Notes say how the columns are to be read: what SILENT is a range of, and what the
	// longest time between two polls is made of, where it is more than the time from the
	// last commit to the return.
	Notes []string
}

// Courses are the departures of a diagnosis, times as clock writes them.
func (d *Diagnosis) Courses(clock Clock) Courses {
	c := Courses{Heads: []string{"LAST COMMIT", "LEFT", "SILENT", "REJOINED", "OUT FOR", "WITHOUT COMMIT"}}
	longest, most := -1, time.Duration(0)
	var silence silences
	for i, oc := range d.Occurrences {
		if oc.Departure == nil {
			return Courses{}
		}
		c.List = append(c.List, courseOf(oc.Departure, clock))
		silence.add(oc.Departure)
		if s := needed(oc.Departure); s > most {
			longest, most = i, s
		}
	}
	if longest >= 0 {
		c.List[longest].Longest = len(c.List) > 1
	}
	if text := silence.text(d); text != "" {
		c.Notes = append(c.Notes, text)
	}
	if longest >= 0 {
		if text := sumOf(d.Occurrences[longest].Departure); text != "" {
			c.Notes = append(c.Notes, text)
		}
	}
	if text := d.rising(clock); text != "" {
		c.Notes = append(c.Notes, text)
	}
	if d.Cause.Info().Prevented == inspect.ByPollInterval && most > 0 {
		c.Heads[len(c.Heads)-1] = "BETWEEN POLLS"
	}
	return c
}

// The rule of a rising gap (policy): so many measured departures at least, of whose pairs no
// more than a tenth fall, which chance makes of one group in a hundred, and the last gap
// longer than the first by a twentieth and a second.
const (
	leastRising  = 6
	mostFalling  = 0.1
	leastGrowth  = 1.05
	leastGrowing = time.Second
)

// rising says that a member needs longer each time, where that was measured: it points at
// what grows, and the setting that follows from the longest so far will not last.
func (d *Diagnosis) rising(clock Clock) string {
	if d.NoHistory != "" || d.Cause.Info().Prevented != inspect.ByPollInterval {
		return ""
	}
	var gaps []time.Duration
	var at []inspect.Time
	for _, oc := range d.Occurrences {
		if l := oc.Departure; l != nil && len(l.Assumed) == 0 && l.BackAfter != nil && needed(l) > 0 {
			gaps, at = append(gaps, needed(l)), append(at, l.LeftBetween[1])
		}
	}
	n := len(gaps)
	if n < leastRising || gaps[n-1]-gaps[0] < leastGrowing || float64(gaps[n-1]) < leastGrowth*float64(gaps[0]) {
		return ""
	}
	falling := 0
	for i := range gaps {
		for _, later := range gaps[i+1:] {
			if later <= gaps[i] {
				falling++
			}
		}
	}
	if float64(falling) > mostFalling*float64(n*(n-1)/2) {
		return ""
	}
	return fmt.Sprintf("rising: %s at %s, %s at %s, and nearly always longer than before: look at what grows (its records, its host); the setting alone may not last",
		prose.Span(prose.ToCover(gaps[0])), clock(at[0]), prose.Span(prose.ToCover(gaps[n-1])), clock(at[n-1]))
}

// needed is how long a member did not work, as the setting that would have kept it in
// the group is compared with it: between two polls, or without a commit; 0 unknown.
func needed(l *inspect.Departure) time.Duration {
	if l.Cause.Info().Prevented == inspect.ByPollInterval && l.Stall != nil {
		return l.Stall.Duration()
	}
	return inspect.Or(l.BackAfter, 0)
}

// Newest are the newest courses, at most so many, the longest among them.
func (c Courses) Newest(most int) []Course {
	first := len(c.List) - most
	if first <= 0 {
		return c.List
	}
	if i := slices.IndexFunc(c.List, func(c Course) bool { return c.Longest }); i >= 0 && i < first {
		return append([]Course{c.List[i]}, c.List[first+1:]...)
	}
	return c.List[first:]
}

// sumOf says what the time that a member did not work is made of: from the last commit
// to the return, and what may have come before that commit; "" for nothing else.
func sumOf(l *inspect.Departure) string {
	back, whole := prose.Rounded(l.BackAfter.Duration()), prose.ToCover(needed(l))
	text, sum := prose.Span(back)+" from its last commit to its return", back
	if polls := l.Cause.Info().Prevented == inspect.ByPollInterval; polls && l.Stall != nil {
		if d := prose.Rounded(l.LastCommit.Sub(l.LastAdvance.Time)); !l.LastAdvance.IsZero() && d >= time.Second {
			text, sum = text+" + "+prose.Span(d)+" before it, when its commits moved no offset", sum+d
		}
		if l.Interval != nil {
			d := prose.Rounded(l.Interval.Duration())
			text, sum = text+" + its commit interval of "+prose.Span(d)+", as the work may have begun right after a commit", sum+d
		}
	}
	switch {
	case sum == back:
		return ""
	case sum != whole:
		text += "; rounded up"
	}
	return prose.Span(whole) + " between polls: " + text
}

// silences are what a reader stumbles over in the column SILENT: ranges, and silences
// that are shorter than the timeout that is said to have ended.
type silences struct {
	widest time.Duration // between the least and the most of one range; 0 for no range
	common time.Duration // of one, in which nobody else committed either
	own    time.Duration // what is left of that one at least
	short  string        // the timeout that one is shorter than; "" none
	from   string        // what that timeout is counted from
	lack   time.Duration // by how much at least it is shorter
	limit  string        // the timeout that lies in each range; "" not in each
	beside bool          // one range is without its timeout
}

func (s *silences) add(l *inspect.Departure) {
	if l.Silent == nil {
		return
	}
	lo, hi := sinceLast(l)
	if c := inspect.Or(l.Common, 0); c > s.common {
		s.common, s.own = c, l.Silent[0].Duration()
	}
	isRange := hi-lo >= max(time.Second, hi/10)
	if isRange {
		s.widest = max(s.widest, hi-lo)
	}
	for _, limit := range []struct {
		by         inspect.Prevention
		d          *inspect.Millis
		name, from string
	}{{inspect.BySession, l.Session, "session.timeout.ms", "heartbeat"}, {inspect.ByPollInterval, l.Rebalance, "max.poll.interval.ms", "poll"}} {
		d := inspect.Or(limit.d, 0)
		if l.Cause.Info().Prevented != limit.by || d == 0 {
			continue
		}
		if hi.Round(time.Second) < d {
			s.short, s.from, s.lack = limit.name, limit.from, max(s.lack, d-hi)
		}
		if text := limit.name + " (" + prose.Span(d) + ")"; isRange && lo <= d && d <= hi && (s.limit == "" || s.limit == text) {
			s.limit = text
		} else if isRange {
			s.beside = true
		}
	}
}

func (s *silences) text(d *Diagnosis) string {
	var parts []string
	if s.short != "" {
		parts = append(parts, "SILENT counts from its last commit, "+s.short+" from its last "+s.from+", which would be "+prose.Span(prose.Rounded(s.lack))+" older at least")
	}
	if s.widest > 0 {
		text := "SILENT is a range: " + d.rangeWhy(s.widest)
		if s.limit != "" && !s.beside && !d.AtRecord {
			text += "; " + s.limit + " lies in each"
		}
		parts = append(parts, text)
	}
	if s.common > 0 {
		parts = append(parts, "for "+prose.Measured(s.common)+" of SILENT nobody else committed either (an idle topic, or a paused broker): its own silence is "+prose.Measured(s.own)+" at least")
	}
	return strings.Join(parts, "; ")
}

// rangeWhy says why it is not known to the second how long a member was silent.
func (d *Diagnosis) rangeWhy(widest time.Duration) string {
	switch {
	case d.NoHistory != "":
		return "its commits are seen by polls alone"
	case d.Type == inspect.Consumer || d.Type == inspect.Streams:
		return "it left between two moments at which the group was seen"
	}
	return "LEFT is when the others had rejoined, up to " + prose.Span(prose.Rounded(widest)) + " late"
}

// silent is how long a member had been silent, in the words of the evidence: a range, or
// the most of one that is too narrow to matter.
func silent(l *inspect.Departure) string {
	lo, hi := sinceLast(l)
	if least, most := prose.Measured(lo), prose.Measured(hi); hi-lo >= narrow && least != most {
		return least + "–" + most
	}
	return prose.Measured(hi)
}

// sinceLast is the least and the most time from the last commit to the departure, whoever
// else was silent then.
func sinceLast(l *inspect.Departure) (least, most time.Duration) {
	most = l.Silent[1].Duration()
	return min(most, l.Silent[0].Duration()+inspect.Or(l.Common, 0)), most
}

// narrow is a range of a silence that is told as one time.
const narrow = 500 * time.Millisecond

// courseOf is the course of a departure.
func courseOf(l *inspect.Departure, clock Clock) Course {
	c := Course{LastCommit: clock(l.LastCommit), Left: clock(l.LeftBetween[1]), LeftAfter: "-", Rejoined: "-", RejoinedAfter: "-", Silent: "-"}
	if l.Silent != nil {
		c.LeftAfter = silent(l)
	}
	switch {
	case l.BackAfter != nil && !l.LastCommit.IsZero():
		back := l.LastCommit.Add(l.BackAfter.Duration())
		c.Rejoined, c.RejoinedAfter = clock(inspect.At(back)), prose.Span(prose.Rounded(max(0, back.Sub(l.LeftBetween[1].Time))))
		c.Silent = prose.Span(prose.ToCover(needed(l)))
	case l.BackAfter != nil:
		c.Rejoined = "yes"
	case l.StayedAway():
		c.Rejoined = "no"
	}
	c.Rejoined = sameDay(c.Left, c.Rejoined)
	c.Left = sameDay(c.LastCommit, c.Left)
	return c
}

// sameDay is a moment without its day, where that is the day of the moment before it.
func sameDay(before, at string) string {
	if i := strings.LastIndex(at, " "); i >= 0 && strings.HasPrefix(before, at[:i+1]) {
		return at[i+1:]
	}
	return at
}
