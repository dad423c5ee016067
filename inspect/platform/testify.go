package platform

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// Absence is a member's silence and departure as Kafka's records bound them.
type Absence struct {
	Member
	LastCommit time.Time // zero unknown
	From, To   time.Time // the departure is between them
	Session    time.Duration
	Heartbeat  time.Duration // a session counts from the last heartbeat, this long before the end at most
}

// Fate is what a platform says of a member's process during its absence.
type Fate string

// The fates.
const (
	FateEnded   Fate = "ended"    // it ended in the silence, or as the member left
	FateLivedOn Fate = "lived_on" // it was running before, throughout and after
)

// Testimony is what a platform says of a member's process, and how that fits what
// Kafka's records show.
type Testimony struct {
	Fate Fate
	Life inspect.ProcessLife
	// Cause is what the end makes of the departure: session_expired where the member
	// was out one session after it, member_left where it was out at once; "" where the
	// times fit neither, or the process lived on.
	Cause inspect.Cause
	By    string // "address" | "name": how the process was found
	Text  string // "pod orders-7f9c-x2 was OOMKilled at 07:12:05, 6 s before its session ended"
}

// clockSkew is how far a platform's clock may be from the brokers'; its own times are
// whole seconds.
const clockSkew = 3 * time.Second

// closing is the longest that a consumer which closes may commit after its platform has
// called it ended, or be out before it.
const closing = 2 * time.Second

// Testify says what the lives tell of an absence. It says nothing where no life is the
// member's, where several processes may be it, or where the files end before the
// departure and so cannot say that a process lived on.
func Testify(lives []inspect.ProcessLife, a Absence) (Testimony, bool) {
	from := a.LastCommit
	if from.IsZero() {
		from = a.From.Add(-a.Session)
	}
	found := Find(lives, a.Member, from.Add(-clockSkew), a.To.Add(clockSkew))
	ended := slices.DeleteFunc(slices.Clone(found), func(m Match) bool {
		return m.Life.Ended.IsZero() || m.Life.Ended.Before(from.Add(-clockSkew)) || m.Life.Ended.After(a.To.Add(clockSkew))
	})
	if len(ended) == 1 {
		return a.ended(ended[0]), true
	}
	if len(ended) > 1 || len(found) == 0 {
		return Testimony{}, false
	}
	for _, m := range found {
		l := m.Life
		if l.Started.IsZero() || l.Started.After(from.Add(-clockSkew)) || !l.Ended.IsZero() && l.Ended.Before(a.To.Add(clockSkew)) || l.Ended.IsZero() && l.Seen.Before(a.To) {
			return Testimony{}, false
		}
	}
	l := found[0].Life
	return Testimony{Fate: FateLivedOn, Life: *l, By: found[0].By,
		Text: fmt.Sprintf("%s ran on from %s past %s without a restart: the process did not crash", name(l), clock(l.Started), clock(inspect.At(a.To)))}, true
}

// ended joins an end of a process with a departure.
func (a Absence) ended(m Match) Testimony {
	l := *m.Life
	t := Testimony{Fate: FateEnded, Life: l, By: m.By}
	least, most := a.From.Sub(l.Ended.Time), a.To.Sub(l.Ended.Time)
	said := fmt.Sprintf("%s %s at %s", name(&l), howEnded(&l), clock(l.Ended))
	expired := a.Session > 0 && least <= a.Session+clockSkew && most >= a.Session-a.Heartbeat-clockSkew
	left := least <= closing+clockSkew && !l.End.Abrupt()
	switch {
	case expired && left: // the departure is not bounded well enough
		t.Text = said + ", " + between(least, most) + " before the member was out: it closed its consumer, or its session ended"
	case expired:
		t.Cause = inspect.SessionExpired
		t.Text = said + ", " + between(least, most) + " before the member was out: its session of " + seconds(a.Session) + " ended without a heartbeat"
	case left:
		t.Cause = inspect.MemberLeft
		t.Text = said + ", as the member left"
	default:
		t.Text = said + ", " + between(least, most) + " before the member was out"
	}
	return t
}

// name names the process for people.
func name(l *inspect.ProcessLife) string {
	if l.Platform == "docker" {
		return "container " + l.Name
	}
	return "pod " + l.Name
}

// howEnded says how a life ended.
func howEnded(l *inspect.ProcessLife) string {
	code := ""
	if l.ExitCode != nil {
		code = fmt.Sprintf(" (exit code %d)", *l.ExitCode)
	}
	switch l.End {
	case inspect.EndOOMKilled:
		return "was OOMKilled"
	case inspect.EndCrashed:
		return "crashed" + code
	case inspect.EndCompleted:
		return "ended by itself" + code
	case inspect.EndProbe:
		return "was restarted after a failed probe"
	case inspect.EndEvicted:
		return "was evicted from its node"
	case inspect.EndStopped:
		return "was stopped"
	}
	return "ended" + code
}

func clock(t inspect.Time) string { return t.UTC().Format("15:04:05") }

// between is a span with its bounds in whole seconds: a platform's times are no finer.
func between(least, most time.Duration) string {
	lo, hi := max(0, least.Round(time.Second)), max(0, most.Round(time.Second))
	if lo == hi {
		return seconds(lo)
	}
	return strings.TrimSuffix(seconds(lo), " s") + " to " + seconds(hi)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%g s", d.Seconds()) }
