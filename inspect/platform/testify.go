package platform

import (
	"fmt"
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/prose"
)

// Absence is a member's silence and departure as Kafka's records bound them.
type Absence struct {
	Member
	LastCommit time.Time // zero unknown
	From, To   time.Time // the departure is between them
	Session    time.Duration
	Heartbeat  time.Duration // a session counts from the last heartbeat, this long before the end at most
	// Taken: it was not removed; another process took its place under its group.instance.id,
	// at To.
	Taken bool
}

// Testimony is what a platform says of a member's process, and how that fits what
// Kafka's records show.
type Testimony struct {
	Fate inspect.ProcessFate // "" where the files do not tell; Text then says why
	Life inspect.ProcessLife
	// Cause is what the end makes of the departure: session_expired where the member
	// was out one session after it, member_left where it was out at once,
	// static_member_restarted where another process took its place; "" where the times
	// fit none, or the process lived on.
	Cause inspect.Cause
	By    string // "address" | "name": how the process was found
	Text  string // "pod orders-7f9c-x2 was OOMKilled at 07:12:05 UTC, 6s before the member was out: …"
}

// clockSkew is how far a platform's clock may be from the brokers'; its own times are
// whole seconds.
const clockSkew = 3 * time.Second

// closing is the longest that a consumer which closes may commit after its platform has
// called it ended, or be out before it.
const closing = 2 * time.Second

// Testify says what the lives tell of an absence. It has no fate where no life is the
// member's, where several processes may be it, or where the files end before the
// departure and so cannot say that a process lived on.
func Testify(lives []inspect.ProcessLife, a Absence) Testimony {
	from := a.LastCommit
	if from.IsZero() {
		from = a.From.Add(-a.Session)
	}
	found := Find(lives, a.Member, from.Add(-clockSkew), a.To.Add(clockSkew))
	if len(found) == 0 {
		return Testimony{Text: a.unmatched(lives, from)}
	}
	ended := slices.DeleteFunc(slices.Clone(found), func(m Match) bool {
		return m.Life.Ended.IsZero() || m.Life.Ended.Before(from.Add(-clockSkew)) || m.Life.Ended.After(a.To.Add(clockSkew))
	})
	switch {
	case len(ended) > 0 && asOne(ended):
		return a.ended(ended[0], slices.ContainsFunc(found, func(m Match) bool { return m.Life.Container != ended[0].Life.Container && m.Life.Ended.IsZero() }))
	case len(ended) > 0:
		return Testimony{Text: fmt.Sprintf("%d processes that may be its own ended then (%s): which of them it was is not known", len(ended), names(ended))}
	}
	l := found[0].Life
	for _, m := range found {
		switch l = m.Life; {
		case l.Started.IsZero():
			return Testimony{Text: name(l) + ": since when it ran is not in the files"}
		case l.Started.After(from.Add(-clockSkew)):
			return Testimony{Text: fmt.Sprintf("%s started at %s, in its silence: what was before is not in the files", name(l), a.clock(l.Started))}
		case l.Ended.IsZero() && l.Seen.Before(a.To):
			return Testimony{Text: fmt.Sprintf("%s runs since %s, but nothing in the files is newer than %s: with kubectl get events -o json, or docker events, they may show that it lived on",
				name(l), a.clock(l.Started), a.clock(l.Seen))}
		}
	}
	if a.Taken {
		return Testimony{Fate: inspect.FateLivedOn, Life: *l, By: found[0].By,
			Text: fmt.Sprintf("%s ran on from %s past %s, when another member took its group.instance.id", name(l), a.clock(l.Started), a.clock(inspect.At(a.To)))}
	}
	return Testimony{Fate: inspect.FateLivedOn, Life: *l, By: found[0].By,
		Text: fmt.Sprintf("%s ran on from %s past %s without a restart: the process did not crash", name(l), a.clock(l.Started), a.clock(inspect.At(a.To)))}
}

// asOne reports ends that are one: containers of a pod that end with it, each as the
// others and in the same moment.
func asOne(ended []Match) bool {
	first := ended[0].Life
	return !slices.ContainsFunc(ended, func(m Match) bool {
		l := m.Life
		return l.Name != first.Name || l.Namespace != first.Namespace || l.End != first.End || l.Ended.Sub(first.Ended.Time).Abs() > clockSkew
	})
}

// unmatched says why no process is the member's, which was silent from a moment on.
func (a Absence) unmatched(lives []inspect.ProcessLife, from time.Time) string {
	var shared, other []Match // at its address together with others, and at other times
	for i := range lives {
		l := &lives[i]
		known := nameIn(l.Name, a.Member) || nameIn(l.Hostname, a.Member)
		if !known && (a.Host == "" || !slices.Contains(l.Addresses, a.Host)) {
			continue
		}
		if l.Started.After(a.To.Add(clockSkew)) || !l.Ended.IsZero() && l.Ended.Before(from.Add(-clockSkew)) {
			other = append(other, Match{Life: l})
		} else if !known {
			shared = append(shared, Match{Life: l})
		}
	}
	switch {
	case len(shared) > 0:
		return fmt.Sprintf("%s may have shared its address %s, and no name in its client or instance id says which is its own", names(shared), a.Host)
	case len(other) > 0:
		return names(other) + " fits, but ran at other times"
	}
	who := "its client or instance id"
	if a.Host != "" {
		who = "its address " + a.Host + " or a name in its client or instance id"
	}
	return "nothing in the files (--pods) has " + who + ": they may be of another namespace or another time"
}

// ended joins an end of a process with a departure. others says that other containers of
// its pod did not end.
func (a Absence) ended(m Match, others bool) Testimony {
	l := *m.Life
	t := Testimony{Fate: inspect.FateEnded, Life: l, By: m.By}
	least, most := a.From.Sub(l.Ended.Time), a.To.Sub(l.Ended.Time)
	who := name(&l)
	if others && l.Container != "" {
		who = "container " + l.Container + " of " + who
	}
	said := fmt.Sprintf("%s %s at %s", who, howEnded(&l), a.clock(l.Ended))
	if a.Taken {
		t.Cause = inspect.StaticMemberRestarted
		t.Text = said + ", " + between(least, most) + " before another process took its place"
		return t
	}
	expired := a.Session > 0 && least <= a.Session+clockSkew && most >= a.Session-a.Heartbeat-clockSkew
	left := least <= closing+clockSkew && !l.End.Abrupt()
	switch {
	case expired && left: // the departure is not bounded well enough
		t.Text = said + ", " + between(least, most) + " before the member was out: it closed its consumer, or its session ended"
	case expired:
		t.Cause = inspect.SessionExpired
		t.Text = said + ", " + between(least, most) + " before the member was out: its session of " + prose.Span(a.Session) + " ended without a heartbeat"
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

// clock is a moment in the reader's only certain zone, with its day where that is not
// the day on which the member left.
func (a Absence) clock(t inspect.Time) string {
	if at := t.UTC(); at.YearDay() != a.To.UTC().YearDay() || at.Year() != a.To.UTC().Year() {
		return at.Format("2 Jan 15:04:05 UTC")
	}
	return t.UTC().Format("15:04:05 UTC")
}

// names names processes for people, each once and at most three.
func names(list []Match) string {
	var out []string
	for _, m := range list {
		if n := name(m.Life); !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return prose.Few(out, 3)
}

// between is a span with its bounds in whole seconds: a platform's times are no finer.
func between(least, most time.Duration) string {
	lo, hi := max(0, least.Round(time.Second)), max(0, most.Round(time.Second))
	if lo == hi {
		return prose.Span(lo)
	}
	return prose.Span(lo) + " to " + prose.Span(hi)
}
