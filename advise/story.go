package advise

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

// The measures by which lines of a log are joined into one happening. They are
// kgdiag's own policy: libraries write the lines of one event within milliseconds.
const (
	oneMoment = 999 * time.Millisecond // lines of one member within it tell one event; some loggers write whole seconds
	oneBlock  = 3                      // lines of a file without times that stand so close do too
)

// once keeps the first of the lines that tell one and the same event: a broker writes
// two for a member that it puts out, a client up to four, and an application repeats
// them.
func once(es []inspect.LogEvent) []inspect.LogEvent {
	var out []inspect.LogEvent
	for _, e := range es {
		if !slices.ContainsFunc(tail(out, 8), func(had inspect.LogEvent) bool { return sameMoment(had, e) && sameMember(had, e) }) {
			out = append(out, e)
		}
	}
	return out
}

// often is how many of some lines came in the hour that has the most of them; all of them,
// where the log has no times.
func often(es []inspect.LogEvent) int {
	if len(es) == 0 || es[0].Time.IsZero() {
		return len(es)
	}
	return mostWithin(es, time.Hour)
}

func tail(es []inspect.LogEvent, n int) []inspect.LogEvent { return es[max(0, len(es)-n):] }

func sameMoment(a, b inspect.LogEvent) bool {
	if a.Time.IsZero() || b.Time.IsZero() {
		return a.From.File == b.From.File && b.From.Line-a.From.Line <= oneBlock && a.Text != b.Text // the same text again is another event
	}
	return b.Time.Sub(a.Time.Time).Abs() <= oneMoment
}

// sameMember reports whether two lines may be about one member. A line that names
// nobody is about the one before it, of the same process.
func sameMember(a, b inspect.LogEvent) bool {
	if a.Process != b.Process || a.From.File != b.From.File && a.Broker == nil && b.Broker == nil {
		return false
	}
	x, y := laneOf(a), laneOf(b)
	return x == y || x == "" || y == ""
}

// lane is all that a log says of one client, in the order of time.
type lane struct {
	name   string // its client id; "" the lines that name none
	events []inspect.LogEvent
}

// lanes sorts the lines of clients by who wrote them; those of brokers are left out.
func (s *Subject) lanes() []lane {
	if s.laned == nil {
		s.laned = s.byLane()
	}
	return s.laned
}

func (s *Subject) byLane() []lane {
	by := map[string]*lane{}
	var out []*lane
	only := s.onlyNames()
	for _, e := range s.logs {
		if e.Broker != nil || e.Kind == inspect.LogPause || e.Kind == inspect.LogVersion {
			continue
		}
		process := processOf(e)
		name := cmp.Or(laneOf(e), only[process])
		key := process + "\x00" + name
		if by[key] == nil {
			by[key] = &lane{name: name}
			out = append(out, by[key])
		}
		by[key].events = append(by[key].events, e)
	}
	var lanes []lane
	for _, l := range out {
		slices.SortStableFunc(l.events, func(a, b inspect.LogEvent) int {
			if a.Time.IsZero() || b.Time.IsZero() {
				return 0
			}
			return a.Time.Compare(b.Time.Time)
		})
		lanes = append(lanes, *l)
	}
	return lanes
}

// onlyNames are the members that alone are named in the lines of a process: the lines that
// name nobody are theirs.
func (s *Subject) onlyNames() map[string]string {
	return onlyOf(s.logs, processOf, func(e inspect.LogEvent) string {
		if e.Broker != nil {
			return ""
		}
		return laneOf(e)
	})
}

// before is the last event of a lane ahead of index i for which want holds.
func (l lane) before(i int, want func(inspect.LogEvent) bool) (inspect.LogEvent, bool) {
	for k := i - 1; k >= 0; k-- {
		if want(l.events[k]) {
			return l.events[k], true
		}
	}
	return inspect.LogEvent{}, false
}

// joined picks the lines of clients that became members.
func joined(e inspect.LogEvent) bool {
	return e.Kind == inspect.LogJoined && e.Sign != inspect.SignAssignedByHand || e.Sign == inspect.SignJoinAnswered
}

// neverJoined reports whether the logs have no join at all and end with a trouble: no
// line behind the last of it tells that the client found its coordinator. In a log that
// has joins the same lines are the moments of a failover.
func (s *Subject) neverJoined(trouble []inspect.LogEvent) bool {
	if len(trouble) == 0 || slices.ContainsFunc(s.logs, joined) {
		return false
	}
	last := trouble[len(trouble)-1]
	return !slices.ContainsFunc(s.logs, func(e inspect.LogEvent) bool {
		return e.Sign == inspect.SignDiscovered && behind(e, last)
	})
}

// behind reports whether one line was written after another.
func behind(e, other inspect.LogEvent) bool {
	if e.Time.IsZero() || other.Time.IsZero() || e.Time.Equal(other.Time.Time) {
		return e.From.File == other.From.File && e.From.Line > other.From.Line
	}
	return e.Time.After(other.Time.Time)
}

func signIs(signs ...inspect.Sign) func(inspect.LogEvent) bool {
	return func(e inspect.LogEvent) bool { return slices.Contains(signs, e.Sign) }
}

// evicted reports whether a client's line says that the coordinator no longer has it
// as a member.
func evicted(e inspect.LogEvent) bool {
	return e.Broker == nil && (e.Kind == inspect.LogEvicted || e.Sign == inspect.SignCommitRefused ||
		e.Kind == inspect.LogCommitFailed && (e.Error == "UNKNOWN_MEMBER_ID" || e.Error == "ILLEGAL_GENERATION"))
}

// consumer is the consumer of a log subject as far as a file tells: the one of its
// group, or the only one. Nil where none is known.
func (s *Subject) consumer() *Subject {
	found := -1
	for i := range s.Case.Configs {
		cfg := &s.Case.Configs[i]
		if s.Group != "" && cfg.Group == s.Group {
			return fromFile(s.Case, i)
		}
		if cfg.Group != "" && s.Group != "" {
			continue // of another group
		}
		if found >= 0 {
			return nil
		}
		found = i
	}
	if found < 0 {
		return nil
	}
	return fromFile(s.Case, found)
}

// limitOf is a timeout that is in force for a log subject: what its consumer's file
// sets, or the default where the library and its version are known.
func (s *Subject) limitOf(key string) (Value, bool) {
	c := s.consumer()
	if c == nil {
		return Value{}, false
	}
	return c.Sane(key)
}

// said is " (session.timeout.ms is 6s)" for a limit that is known, else "".
func (s *Subject) said(key string) string {
	if v, ok := s.limitOf(key); ok {
		return " (" + v.Say() + ")"
	}
	return ""
}

// its is said behind the name of the setting.
func (s *Subject) its(key string) string {
	if v, ok := s.limitOf(key); ok && v.Spelled == key {
		return " (" + v.amount() + ")"
	}
	return s.said(key)
}

// library is the client library behind the lines: as a file or flag says, else what
// the lines prove. The version is "" where nothing tells it.
func (s *Subject) library() (inspect.Family, string) {
	if c := s.consumer(); c != nil && !c.Assumed {
		return c.Family, c.Version
	}
	var family inspect.Family
	version := ""
	for _, e := range s.logs {
		if e.Family == "" {
			continue
		}
		if family == "" || family == inspect.Java && e.Family != inspect.Java {
			family = e.Family
		}
		if e.Family == family && e.Version != "" {
			version = e.Version
		}
	}
	if version == "" {
		version = loggedVersion(s.Case, family)
	}
	return family, version
}

// loggedVersion is the version of a library that the logs tell; "" where they tell
// none, or several.
func loggedVersion(c *inspect.Case, family inspect.Family) string {
	version := ""
	for _, e := range c.LogEvents {
		if e.Family != family || e.Version == "" {
			continue
		}
		if version != "" && version != e.Version {
			return ""
		}
		version = e.Version
	}
	return version
}

// dumped reports whether the configuration is what a running client wrote into its log:
// all values are in force, set or not, and none of them stopped it.
func (s *Subject) dumped() bool { return s.Config != nil && s.Config.Dialect == "java log" }

// clockAt is the time of day of an event, or its line.
func clockAt(e inspect.LogEvent) string {
	if e.Time.IsZero() {
		return fmt.Sprintf("line %d", e.From.Line)
	}
	return e.Time.UTC().Format("15:04:05")
}

// period is the time between events that come at regular intervals; false where they
// do not, or are too few to tell.
func period(es []inspect.LogEvent) (time.Duration, bool) {
	var gaps []time.Duration
	for i := 1; i < len(es); i++ {
		if es[i].Time.IsZero() || es[i-1].Time.IsZero() {
			return 0, false
		}
		gaps = append(gaps, es[i].Time.Sub(es[i-1].Time.Time))
	}
	if len(gaps) < 3 {
		return 0, false
	}
	slices.Sort(gaps)
	middle := gaps[len(gaps)/2]
	regular := 0
	for _, g := range gaps {
		if (g - middle).Abs() <= max(middle/20, 300*time.Millisecond) {
			regular++
		}
	}
	return middle, middle >= time.Second && regular*5 >= len(gaps)*4
}

// quoteLines are the first few lines of a finding's evidence.
func quoteLines(es []inspect.LogEvent) []string {
	var out []string
	for _, e := range es[:min(len(es), 3)] {
		out = append(out, fmt.Sprintf("%s:%d %s", e.From.File, e.From.Line, e.Text))
	}
	return out
}

// distinct are the different values of a field, in order.
func distinct(es []inspect.LogEvent, of func(inspect.LogEvent) string) []string {
	var out []string
	for _, e := range es {
		if v := of(e); v != "" && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	slices.SortFunc(out, cmp.Compare[string])
	return out
}

var configOffsets = pattern.New(`offset (-?\d+) (?:does not match|is behind) group assignment (-?\d+)`)

// hasText is a condition on the text of an event, for the few things that no sign
// tells.
func hasText(e inspect.LogEvent, part string) bool { return strings.Contains(e.Text, part) }
