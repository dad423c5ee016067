package advise

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// What the text of a program does with its consumers, as clientconf read it. A call is in
// the text; whether it is reached is not known, and the rules say no more than that.

// acts are what the consumer's program does, of the given kinds.
func (s *Subject) acts(kinds ...inspect.ActKind) []inspect.Act {
	if s.Config == nil {
		return nil
	}
	var out []inspect.Act
	for _, a := range s.Config.Acts {
		if slices.Contains(kinds, a.Kind) {
			out = append(out, a)
		}
	}
	return out
}

// firstAct is the first one of a kind in the program; rules that tell of each kind once take it.
func (s *Subject) firstAct(kind inspect.ActKind) (inspect.Act, bool) {
	if acts := s.acts(kind); len(acts) > 0 {
		return acts[0], true
	}
	return inspect.Act{}, false
}

// acted starts a finding about a place in a program.
func (s *Subject) acted(sev Severity, message string, a inspect.Act) Finding {
	f := s.Finding(sev, message)
	at := a.Where
	f.Where, f.Confidence, f.Fix = &at, inspect.Medium, &Fix{}
	return f
}

// line is "line 14", with the file where it is another than the one it is told beside.
func line(p inspect.Position, beside string) string {
	if p.File != beside {
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("line %d", p.Line)
}

// theGroup is "group orders", "the same group.id (groupId)".
func theGroup(group string) string {
	if strings.HasPrefix(group, "(") {
		return "the same group.id " + group
	}
	return "group " + group
}

// groupActs are the acts of a kind of all programs in the case, of one group. An
// expression stands for the same group within one file only.
func (s *Subject) groupActs(kind inspect.ActKind, like inspect.Act) []inspect.Act {
	var out []inspect.Act
	for i := range s.Case.Configs {
		for _, a := range s.Case.Configs[i].Acts {
			if a.Kind == kind && a.Group == like.Group && (a.Where.File == like.Where.File || !strings.HasPrefix(a.Group, "(")) {
				out = append(out, a)
			}
		}
	}
	return out
}

// lateLogged are the lines of the logs by which a member lost its place for being late:
// a poll timeout, an eviction, a refused commit.
func (s *Subject) lateLogged() []inspect.LogEvent {
	var out []inspect.LogEvent
	for _, e := range s.Case.LogEvents {
		if e.Group != "" && s.Group != "" && e.Group != s.Group {
			continue
		}
		if e.Kind == inspect.LogPollTimeout || e.Kind == inspect.LogEvicted || e.Sign == inspect.SignRejoinTimeout || e.Sign == inspect.SignRecordTooSlow || evicted(e) {
			out = append(out, e)
		}
	}
	return out
}

// workLimit is the timeout that the work between two polls must stay below; false where
// the client has none.
func (s *Subject) workLimit() (Value, bool) {
	switch {
	case s.pollsAlone():
		return Value{}, false
	case s.Polls():
		return s.Sane(keyPoll)
	case !beatsAlone(s.Family, s.Version):
		return s.Sane(keySession)
	}
	return Value{}, false
}

// perPoll is how many records a poll may return, of clients that look at the time between
// polls and not between records.
func (s *Subject) perPoll() int64 {
	if s.Family != inspect.Java && s.Family != inspect.KafkaPython {
		return 1
	}
	if n, _, ok := s.Int(keyRecords); ok && n > 0 {
		return n
	}
	return 1
}

// length is how long a sleep or a timer is; zero unknown.
func length(a inspect.Act) time.Duration { return inspect.Or(a.Length, 0) }
