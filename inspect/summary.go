package inspect

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/internal/prose"
)

// Summary counts what happened in a span of time.
type Summary struct {
	Rebalances int `json:"rebalances"`
	Evictions  int `json:"evictions"`
	// Departures are all members that left: Evictions of them were evicted or had to leave,
	// Unexplained for reasons that are not known. Returned of them came back.
	Departures  int           `json:"departures"`
	Unexplained int           `json:"departures_unexplained"`
	Returned    int           `json:"departures_returned"`
	PerHour     float64       `json:"per_hour"` // to one decimal
	Over        time.Duration `json:"-"`        // the span, in whole seconds
	// Stopped and StoppedAtMost are how long rebalances paused members that stayed, of
	// each the longest; null unknown, the latter also where it is of one of them.
	Stopped       *Millis `json:"stopped_ms"`
	StoppedAtMost *Millis `json:"stopped_at_most_ms"`
	Idle          *Millis `json:"idle_ms"` // partitions of departed members, the longest of each departure
	// IdleOf is how many departures Idle sums up, without those whose partitions went on at once.
	IdleOf int           `json:"-"`
	Causes map[Cause]int `json:"causes"`
	// Worst is the member that went most often; "" where nobody went twice.
	Worst      string `json:"worst_member"`
	WorstCount int    `json:"worst_member_count"`
	// Unread: the span was not read, so that no count says anything; JSON has null.
	Unread bool `json:"-"`
}

// Count is one of the counts as text; "-" where it is not known.
func (s Summary) Count(n int) string {
	if s.Unread {
		return "-"
	}
	return strconv.Itoa(n)
}

// MarshalJSON writes null for the counts of a span that was not read.
func (s Summary) MarshalJSON() ([]byte, error) {
	type plain Summary
	if !s.Unread {
		return json.Marshal(plain(s))
	}
	return json.Marshal(struct {
		Rebalances  *int     `json:"rebalances"`
		Evictions   *int     `json:"evictions"`
		Departures  *int     `json:"departures"`
		Unexplained *int     `json:"departures_unexplained"`
		Returned    *int     `json:"departures_returned"`
		PerHour     *float64 `json:"per_hour"`
		plain
		Causes *int `json:"causes"`
	}{plain: plain(s)})
}

// Summarise counts the rebalances of a span of time.
func Summarise(list []Rebalance, over time.Duration) Summary {
	s := Summary{Rebalances: len(list), Causes: map[Cause]int{}}
	if hours := over.Hours(); hours > 0 {
		s.Over = over.Round(time.Second)
		s.PerHour = float64(int(float64(len(list))/hours*10+0.5)) / 10
	}
	gone, bounded := map[string]int{}, true
	for i := range list {
		r := &list[i]
		s.Causes[r.Cause]++
		evicted := r.Evictions(nil)
		s.Evictions += evicted
		s.Departures += max(evicted, len(r.Members.Left))
		s.Stopped = sum(s.Stopped, r.Stopped)
		s.StoppedAtMost = sum(s.StoppedAtMost, r.StoppedAtMost)
		bounded = bounded && (r.StoppedAtMost != nil || r.nobodyPaused())
		for _, d := range r.Members.Left {
			s.Idle = sum(s.Idle, d.Idle)
			if d.LeftIdle() {
				s.IdleOf++
			}
			if !d.Cause.Explained() {
				s.Unexplained++
			}
			if d.CameBack() {
				s.Returned++
			}
			gone[MemberName(d.ClientID, d.MemberID, d.InstanceID)]++
		}
	}
	if !bounded {
		s.StoppedAtMost = nil
	}
	for _, name := range slices.Sorted(maps.Keys(gone)) {
		if gone[name] > 1 && gone[name] > s.WorstCount {
			s.Worst, s.WorstCount = name, gone[name]
		}
	}
	return s
}

// Went says how many members left, and how: "17 evictions" where that is all, else
// "11 departures: 10 evictions, 1 of unknown cause"; "" where nobody was evicted and every
// departure is explained.
func (s Summary) Went() string {
	if s.Evictions+s.Unexplained == 0 {
		return ""
	}
	all := max(s.Departures, s.Evictions+s.Unexplained)
	if s.Evictions == all {
		return prose.Plural(s.Evictions, "eviction")
	}
	var kinds []string
	if s.Evictions > 0 {
		kinds = append(kinds, prose.Plural(s.Evictions, "eviction"))
	}
	if s.Unexplained > 0 {
		kinds = append(kinds, strconv.Itoa(s.Unexplained)+" of unknown cause")
	}
	if n := all - s.Evictions - s.Unexplained; n > 0 {
		kinds = append(kinds, strconv.Itoa(n)+" other")
	}
	return prose.Plural(all, "departure") + ": " + strings.Join(kinds, ", ")
}

// LeftIdle reports a departure that left partitions without a consumer for a second or more.
func (d *Departure) LeftIdle() bool { return Or(d.Idle, 0) >= time.Second }

// nobodyPaused reports a rebalance that no member stayed in, or that was none.
func (r *Rebalance) nobodyPaused() bool {
	c := &r.Members
	return r.PreviousGeneration != nil && c.Before <= len(c.Left) || len(c.Replaced) > 0 && len(c.Left) == 0 || r.Cause == GroupDeleted || r.Generation == 1
}

func sum(all, d *Millis) *Millis {
	if d == nil {
		return all
	}
	return Ms(Or(all, 0) + d.Duration())
}

// MemberName names a member for people: its instance id, else its client id, else
// its member id.
func MemberName(clientID, memberID string, instance *string) string {
	switch {
	case instance != nil && *instance != "":
		return *instance
	case clientID != "":
		return clientID
	}
	return memberID
}
