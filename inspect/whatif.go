package inspect

import (
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/kgdiag/kgdiag/internal/prose"
)

// Overrides are settings to replay a timeline with; nil and false keep what was.
type Overrides struct {
	PollInterval *Millis // max.poll.interval.ms
	Session      *Millis // session.timeout.ms
	Static       bool    // a group.instance.id for every member
}

// Set sets one override as a user writes it: max.poll.interval.ms or
// session.timeout.ms in milliseconds or as a duration, group.instance.id as any word.
// Errors: ErrNotReplayed, or what is wrong with the value.
func (o *Overrides) Set(key, value string) error {
	switch key {
	case "group.instance.id":
		o.Static = value != ""
		return nil
	case "max.poll.interval.ms", "session.timeout.ms":
	default:
		return ErrNotReplayed
	}
	d, err := settingMillis(value)
	if err != nil {
		return err
	}
	if key == "max.poll.interval.ms" {
		o.PollInterval = Ms(d)
	} else {
		o.Session = Ms(d)
	}
	return nil
}

// ErrNotReplayed is a setting whose effect no record shows.
var ErrNotReplayed = errors.New("cannot be replayed")

// settingMillis reads the value of a setting: milliseconds as Kafka takes them, or a
// Go duration.
func settingMillis(s string) (time.Duration, error) {
	if ms, err := strconv.ParseInt(s, 10, 64); err == nil && s[0] != '+' {
		if ms < 1 || ms > math.MaxInt32 {
			return 0, errors.New("want 1 to 2147483647 milliseconds")
		}
		return time.Duration(ms) * time.Millisecond, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < time.Millisecond || d > math.MaxInt32*time.Millisecond {
		return 0, errors.New("want milliseconds, or a duration such as 10m")
	}
	return d, nil
}

// Replay is what would have been under other settings.
type Replay struct {
	// Avoided are evictions and restarts that would not have rebalanced the group,
	// Remaining those that would have all the same, Undecided those that the records
	// do not tell, Added those that would have come on top.
	Avoided   []ReplayEvent `json:"avoided"`
	Remaining []ReplayEvent `json:"remaining"`
	Undecided []ReplayEvent `json:"undecided"`
	Added     []ReplayEvent `json:"added"`
	// Rebalances that fall away: departures that would not have been, and the returns
	// that followed them.
	Rebalances int `json:"rebalances_avoided"`
	// Evictions is how many evictions were seen in all, Others how many departures that
	// are in none of the lists, since no such setting has a part in them.
	Evictions int `json:"evictions"`
	Others    int `json:"others"`
}

// ReplayEvent is one departure, or one pause, under other settings.
type ReplayEvent struct {
	Rebalance string `json:"rebalance,omitempty"` // its id
	Time      Time   `json:"time"`
	ClientID  string `json:"client_id"`
	Cause     Cause  `json:"cause"`
	Why       string `json:"why"`
	Need      Millis `json:"need_ms,omitempty"`    // what the setting would have had to be at least
	Open      bool   `json:"cause_open,omitempty"` // the evidence leaves another cause open
	// Tight says that the age of its last heartbeat, which is on no record, may decide as well.
	Tight bool `json:"-"`
}

// WhatIf replays a timeline with other settings: which departures would not have
// been, which would, and which would have come on top. It reckons with what the
// records show, so it claims nothing of members that did not come back.
func WhatIf(tl Timeline, o Overrides) Replay {
	r := Replay{Avoided: []ReplayEvent{}, Remaining: []ReplayEvent{}, Undecided: []ReplayEvent{}, Added: []ReplayEvent{}}
	fallen := map[string]bool{}
	for i := range tl.Rebalances {
		r.departures(&tl.Rebalances[i], o, fallen)
	}
	for i := range tl.Rebalances {
		// A rebalance in which somebody else came too is not avoided.
		rb := &tl.Rebalances[i]
		if fallen[rb.ID] && (len(rb.Members.Left) > 0 || allBack(rb, fallen)) {
			r.Rebalances++
		}
	}
	r.added(tl, o)
	return r
}

// departures replays those of one rebalance, and notes in fallen that it falls away
// with all of them, and the rebalances of their returns with each.
func (r *Replay) departures(rb *Rebalance, o Overrides, fallen map[string]bool) {
	gone := 0
	for j := range rb.Members.Left {
		d := &rb.Members.Left[j]
		if d.Cause.Eviction() {
			r.Evictions++
		}
		if !r.departure(rb, d, o) {
			continue
		}
		gone++
		if d.BackIn != "" && d.BackIn != rb.ID {
			fallen[d.BackIn] = true
		}
	}
	if gone > 0 && gone == len(rb.Members.Left) {
		fallen[rb.ID] = true
	}
}

// allBack reports whether everybody who joined had left in a rebalance that falls away.
func allBack(rb *Rebalance, fallen map[string]bool) bool {
	for _, j := range rb.Members.Joined {
		if j.Back == "" || !fallen[j.Back] {
			return false
		}
	}
	return true
}

// departure replays one departure and reports whether it falls away.
func (r *Replay) departure(rb *Rebalance, d *Departure, o Overrides) bool {
	ev := ReplayEvent{Rebalance: rb.ID, Time: rb.Time, ClientID: d.ClientID, Cause: d.Cause, Open: d.open()}
	need, limit, decided := d.need(o)
	switch {
	case limit <= 0:
		if d.Cause.Eviction() {
			ev.Why = "the setting has no part in it"
			r.Remaining = append(r.Remaining, ev)
		} else {
			r.Others++
		}
		return false
	case !decided && need == 0:
		ev.Why = "the records do not show how long it would have needed"
		r.Undecided = append(r.Undecided, ev)
		return false
	case !decided && need < limit:
		ev.Need, ev.Tight = Millis(need), limit < need+d.heartbeat()
		ev.Why = "needed " + prose.Span(prose.ToCover(need)) + ", would have had " + prose.Exact(limit) + ", if its process lived on"
		r.Undecided = append(r.Undecided, ev)
		return false
	}
	ev.Need = Millis(need)
	if need < limit {
		ev.Why = "needed " + prose.Span(prose.ToCover(need)) + ", would have had " + prose.Exact(limit)
		r.Avoided = append(r.Avoided, ev)
		return true
	}
	ev.Why = "needed " + prose.Span(prose.ToCover(need)) + ", would have had only " + prose.Exact(limit)
	r.Remaining = append(r.Remaining, ev)
	return false
}

// open reports that the evidence leaves another cause than the named one open.
func (d *Departure) open() bool {
	return len(OpenCauses(d.Rivals)) > 0
}

// need is how long the member stood out, and what it would have been allowed under
// the overrides; a limit of 0 means that the overrides do not touch its cause.
func (d *Departure) need(o Overrides) (need, limit time.Duration, decided bool) {
	session := Or(d.Session, 0)
	if o.Session != nil {
		session = o.Session.Duration()
	}
	poll := Or(d.Rebalance, 0)
	if o.PollInterval != nil {
		poll = o.PollInterval.Duration()
	}
	switch d.Cause.Info().Prevented {
	case ByPollInterval:
		if o.PollInterval == nil && !o.Static {
			return 0, 0, false
		}
		limit = poll
		if o.Static {
			limit += session // a static member only stops its heartbeat
		}
		return Or(d.Stall, 0), limit, d.Stall != nil
	case BySession:
		return d.needSession(o, session)
	case ByStaticMembership:
		if !o.Static {
			return 0, 0, false
		}
		away, ok := d.away()
		return away, session, ok
	case ByPollingInSession:
		if o.Session == nil {
			return 0, 0, false
		}
		return Or(d.Stall, 0), session, d.Stall != nil
	}
	return 0, 0, false
}

// needSession: a longer session saves a process that lives on; a process that was
// started anew rejoins all the same, unless it is static.
func (d *Departure) needSession(o Overrides, session time.Duration) (need, limit time.Duration, decided bool) {
	if o.Session == nil && !o.Static {
		return 0, 0, false
	}
	away, ok := d.away()
	if d.Cause == SessionExpired { // a process that committed was not paused yet
		own := Or(d.Session, 0)
		away = min(away+own, Or(d.BackAfter, 0))
		ok = ok && (session < away || session >= away+d.heartbeat())
	}
	if d.Cause == RestartedWithinSession || d.Returned == ReturnedNewProcess {
		if !o.Static {
			return 0, 0, false
		}
		return away, session, ok
	}
	if d.Returned == ReturnedUnknown && !o.Static {
		return away, session, false
	}
	return away, session, ok
}

// heartbeat is by how much the last heartbeat of a member may be older than its last commit:
// by an interval, which is on no record; a third of the session.
func (d *Departure) heartbeat() time.Duration { return Or(d.Session, 0) / HeartbeatsPerSession }

// away is the time from the departure to the return.
func (d *Departure) away() (time.Duration, bool) {
	if d.BackAfter == nil || d.Silent == nil {
		return 0, false
	}
	return max(0, d.BackAfter.Duration()-d.Silent[0].Duration()), true
}

// added lists pauses that a shorter poll interval would have ended.
func (r *Replay) added(tl Timeline, o Overrides) {
	if o.PollInterval == nil {
		return
	}
	for _, p := range tl.Pauses {
		if p.Length > *o.PollInterval {
			r.Added = append(r.Added, ReplayEvent{Time: p.To, ClientID: p.ClientID, Cause: PollIntervalExceeded, Need: p.Length,
				Why: "it was silent for " + prose.Span(prose.Rounded(p.Length.Duration())) + " while records waited, and went on"})
		}
	}
}
