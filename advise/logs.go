package advise

import (
	"cmp"
	"fmt"
	"maps"
	"sort"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
)

// logSubjects makes a subject for each group that the logs name. Lines that name none
// belong to the one group that there is, in all or in their process, else to a subject of
// their own.
func logSubjects(c *inspect.Case) []*Subject {
	byGroup := map[string][]inspect.LogEvent{}
	only, clients := onlyGroup(c.LogEvents, processOf), onlyGroup(c.LogEvents, clientOf)
	for _, e := range c.LogEvents {
		g := cmp.Or(e.Group, clients[clientOf(e)], only[processOf(e)])
		byGroup[g] = append(byGroup[g], e)
	}
	if _, unnamed := byGroup[""]; unnamed && len(byGroup) == 2 {
		for g := range byGroup { // the one group that there is
			if g != "" {
				byGroup = map[string][]inspect.LogEvent{g: c.LogEvents}
			}
		}
	}
	out := make([]*Subject, 0, len(byGroup))
	for _, g := range sortedKeys(byGroup) {
		name := "the logs"
		if g != "" {
			name = "the logs of " + g
		}
		out = append(out, &Subject{Scope: PerLog, Group: g, Name: name, Case: c, values: map[string]Value{}, logs: byGroup[g],
			target: target{config: -1, group: g, log: true}})
	}
	return out
}

func processOf(e inspect.LogEvent) string { return e.From.File + "\x00" + e.Process }

// clientOf is a client in a process; "" where the line names none.
func clientOf(e inspect.LogEvent) string {
	if name := laneOf(e); name != "" {
		return processOf(e) + "\x00" + name
	}
	return ""
}

// onlyGroup are the groups that alone are named in the lines of a client, or of its process.
func onlyGroup(es []inspect.LogEvent, by func(inspect.LogEvent) string) map[string]string {
	out := onlyOf(es, by, func(e inspect.LogEvent) string { return e.Group })
	for _, e := range es {
		if e.Broker != nil { // a coordinator has many groups
			delete(out, by(e))
		}
	}
	return out
}

// onlyOf are the values that alone are named in the lines of something; lines without either
// tell nothing.
func onlyOf(es []inspect.LogEvent, of, value func(inspect.LogEvent) string) map[string]string {
	out, several := map[string]string{}, map[string]bool{}
	for _, e := range es {
		key, v := of(e), value(e)
		if key == "" || v == "" {
			continue
		}
		several[key] = several[key] || out[key] != "" && out[key] != v
		out[key] = v
	}
	maps.DeleteFunc(out, func(key, _ string) bool { return several[key] })
	return out
}

// Logged picks the log events of the subject's group for which want holds, ordered as
// they were read.
func (s *Subject) Logged(want func(inspect.LogEvent) bool) []inspect.LogEvent {
	var out []inspect.LogEvent
	for _, e := range s.logs {
		if want(e) {
			out = append(out, e)
		}
	}
	return out
}

// logged starts a finding about log lines: how often, where first, and the line
// itself as evidence.
func (s *Subject) logged(sev Severity, what string, es []inspect.LogEvent) Finding {
	es = once(es)
	times := "once"
	if len(es) > 1 {
		times = fmt.Sprintf("%d times", len(es))
	}
	f := s.Finding(sev, fmt.Sprintf("%s, logged %s%s", what, times, whoLogged(es)))
	first := es[0].From
	f.Where = &first
	f.Evidence = append(f.Evidence, fmt.Sprintf("%s:%d %s", first.File, first.Line, es[0].Text))
	if last := es[len(es)-1]; len(es) > 1 {
		f.Evidence = append(f.Evidence, fmt.Sprintf("last %s:%d%s", last.From.File, last.From.Line, atIfKnown(last.Time)))
	}
	f.Fix = &Fix{}
	return f
}

// settles makes a finding of a log one about the consumer whose setting mends it, so
// that the fix is tried out and written in its file.
func (f *Finding) settles(c *Subject) {
	if c != nil && f.Fix != nil && len(f.Fix.Set) > 0 {
		f.target, f.subject = c.target, c
	}
}

func atIfKnown(t inspect.Time) string {
	if t.IsZero() {
		return ""
	}
	return " at " + at(t)
}

// whoLogged names the clients, members or instances that the lines are about.
func whoLogged(es []inspect.LogEvent) string {
	counts := map[string]int{}
	for _, e := range es {
		switch {
		case e.InstanceID != "":
			counts["instance "+e.InstanceID]++
		case e.ClientID != "":
			counts["client "+e.ClientID]++
		case e.MemberID != "":
			counts["member "+e.MemberID]++
		}
	}
	names := sortedKeys(counts)
	sort.SliceStable(names, func(i, j int) bool { return counts[names[i]] > counts[names[j]] })
	if len(names) == 0 {
		return ""
	}
	return " (" + list(names) + ")"
}

// errorIs picks events by the Kafka error that they name.
func errorIs(names ...string) func(inspect.LogEvent) bool {
	return func(e inspect.LogEvent) bool {
		for _, n := range names {
			if e.Error == n {
				return true
			}
		}
		return false
	}
}

// textHas picks events by their text.
func textHas(part string) func(inspect.LogEvent) bool {
	return func(e inspect.LogEvent) bool { return strings.Contains(e.Text, part) }
}
