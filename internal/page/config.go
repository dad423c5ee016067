package page

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kgdiag/kgdiag/advise/diagnose"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/prose"
)

// Config is the configuration in force, as far as it was read.
type Config struct {
	Group   []Setting // of the group and its brokers
	Members []Member
	Files   []File
}

// Setting is a name with its value, and where that is from.
type Setting struct{ Name, Value, From string }

// Member is a member as it was described.
type Member struct {
	Name, ID, Host, Client, Session, Poll, Heartbeat, Subscription, Partitions, Assignment, Lag string
}

// File is the configuration of a client, from a file or a log.
type File struct {
	Name     string
	Settings []Setting
}

// config writes down what is in force.
func (w *writer) config(d *diagnose.Diagnosis, cut *cuts) Config {
	var c Config
	add := func(name, value, from string) {
		if value != "" {
			c.Group = append(c.Group, Setting{name, value, from})
		}
	}
	if g := d.Live; g != nil {
		add("group type", string(g.Type), "")
		add("protocol type", g.ProtocolType, "")
		add("assignor", g.Assignor, "")
		if g.Coordinator != nil {
			add("coordinator", fmt.Sprintf("broker %d (%s:%d)", g.Coordinator.ID, g.Coordinator.Host, g.Coordinator.Port), "FindCoordinator")
		}
		if g.Partition >= 0 {
			add("offsets partition", fmt.Sprint(g.Partition), "hash of the group id")
		}
		add("session.timeout.ms, least", span(g.Limits.SessionMin), g.Limits.From)
		add("session.timeout.ms, most", span(g.Limits.SessionMax), g.Limits.From)
		add("session.timeout.ms of the group", span(g.Limits.Session), g.Limits.From)
		add("heartbeat.interval.ms of the group", span(g.Limits.Heartbeat), g.Limits.From)
		for i := range g.Members {
			if i == w.l.members {
				cut.members += len(g.Members) - i
				break
			}
			c.Members = append(c.Members, member(g, &g.Members[i]))
		}
	}
	for _, s := range brokerSettings(w.c.Brokers) {
		add(s.Name, s.Value, s.From)
	}
	c.Files = w.files(d, cut)
	return c
}

// member writes down one member.
func member(g *inspect.Group, m *inspect.Member) Member {
	out := Member{Name: inspect.MemberName(m.ClientID, m.MemberID, m.InstanceID), ID: m.MemberID, Host: or(m.Host), Client: or(string(m.Client.Family)), Session: or(span(m.Session)),
		Poll: or(span(m.Rebalance)), Heartbeat: or(span(m.Heartbeat)), Subscription: or(m.SubscriptionText()),
		Partitions: or(inspect.PartitionCount(m.Assignment)), Assignment: or(inspect.AssignmentText(m.Assignment)), Lag: g.MemberLagText(m)}
	if m.InstanceID != nil {
		out.Name += " (static)"
	}
	if m.Client.Confidence != inspect.High && out.Client != "-" {
		out.Client += "?"
	}
	return out
}

// brokerSettings are the brokers' settings about groups; where they differ, each value
// with its brokers.
func brokerSettings(brokers []inspect.Broker) []Setting {
	by := map[string]map[string][]string{}
	for i := range brokers {
		for key, value := range brokers[i].Config {
			if strings.HasPrefix(key, "group.") || strings.HasPrefix(key, "offsets.") {
				if by[key] == nil {
					by[key] = map[string][]string{}
				}
				by[key][value] = append(by[key][value], fmt.Sprint(brokers[i].ID))
			}
		}
	}
	var out []Setting
	for _, key := range slices.Sorted(maps.Keys(by)) {
		for _, value := range slices.Sorted(maps.Keys(by[key])) {
			out = append(out, Setting{key, value, "broker " + prose.Few(by[key][value], 10)})
		}
	}
	return out
}

// files are the clients' configurations that concern the group. Values of secrets were
// never kept.
func (w *writer) files(d *diagnose.Diagnosis, cut *cuts) []File {
	var out []File
	for i := range w.c.Configs {
		f := &w.c.Configs[i]
		if f.Group != "" && f.Group != d.Group {
			continue
		}
		if len(out) == w.l.files {
			cut.files++
			continue
		}
		name := f.Where.File
		if f.Name != "" {
			name += ", " + f.Name
		}
		file := File{Name: strings.TrimSpace(fmt.Sprintf("%s (%s)", name, strings.TrimSpace(string(f.Family)+" "+f.Version)))}
		for _, s := range f.Settings {
			if s.Origin == inspect.OriginDefault || len(file.Settings) == w.l.members {
				continue
			}
			from := string(s.Origin)
			if s.Where.Line > 0 {
				from = fmt.Sprintf("line %d", s.Where.Line)
			}
			file.Settings = append(file.Settings, Setting{s.Spelled, or(s.Value), from})
		}
		out = append(out, file)
	}
	return out
}

// span is an optional duration; "" unknown.
func span(m *inspect.Millis) string {
	if m == nil {
		return ""
	}
	return prose.Span(m.Duration())
}

// or is a text, "-" where it is unknown.
func or(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
