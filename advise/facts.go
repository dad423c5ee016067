package advise

import (
	"github.com/kgdiag/kgdiag/inspect"
)

// presence says, for each fact, whether a subject has it, and what to say where it
// has not and no Gap explains why.
var presence = map[inspect.Fact]struct {
	has    func(s *Subject) bool
	reason string
}{
	inspect.FactClientConfig: {hasConfig,
		"what a client sets for itself never reaches a broker (add -f FILE)"},
	inspect.FactTimeouts: {hasTimeouts, "session and rebalance timeouts stand in __consumer_offsets alone, which was not read (add -f FILE)"},
	inspect.FactPollTime: {func(s *Subject) bool { _, ok := s.PollNeed(); return ok },
		"the time between two polls is not known (add --batch-time or --record-time, or name the group for its history)"},
	inspect.FactPause: {func(s *Subject) bool { _, _, ok := s.LongestPause(); return ok },
		"pauses of the process are not known (add --gc-pause or --gc-log)"},
	inspect.FactBrokerConfig: {hasBrokerConfig, "the brokers' configuration was not read (needs a cluster: -b)"},
	inspect.FactGroupConfig:  {func(s *Subject) bool { return s.Live != nil && s.Live.Limits.Session != nil }, "the group's configuration was not read (Kafka 4.0)"},
	inspect.FactMembers:      {hasMembers, "the group's members were not read (name the group, with -b)"},
	inspect.FactState:        {func(s *Subject) bool { return s.Live != nil && s.Live.State != "" }, "the group's state was not read (name the group, with -b)"},
	inspect.FactSubscription: {hasSubscriptions, "the members' subscriptions were not read (they show while the group is Stable)"},
	inspect.FactAssignment:   {hasAssignments, "the members' assignments were not read (they show while the group is Stable)"},
	inspect.FactTopics:       {hasTopics, "the subscribed topics were not read"},
	inspect.FactLag:          {func(s *Subject) bool { return s.Live != nil && s.Live.Lag != nil }, "the group's lag was not read"},
	inspect.FactGeneration: {func(s *Subject) bool { return s.Live != nil && (s.Live.Generation != nil || s.Live.Epoch != nil) },
		"the group's generation was not read"},
	inspect.FactCoordinator:  {func(s *Subject) bool { return s.Live != nil && s.Live.Coordinator != nil }, "the group's coordinator was not found"},
	inspect.FactOffsetsTopic: {func(s *Subject) bool { return s.Case.OffsetsTopic != nil }, "__consumer_offsets was not looked at (needs a cluster: -b)"},
	inspect.FactHistory:      {hasHistory, "the group's history in __consumer_offsets was not read"},
	inspect.FactClientLog:    {func(s *Subject) bool { return len(s.Case.LogEvents) > 0 }, "no log was read (add --log FILE)"},
	inspect.FactDeclared: {func(s *Subject) bool {
		d := s.Case.Declared
		return d.BatchTime != nil || d.RecordTime != nil || d.GCPause != nil || len(d.BatchTimes) > 0
	}, "nothing was declared (--batch-time, --record-time, --gc-pause)"},
}

func hasConfig(s *Subject) bool {
	for _, c := range s.Clients {
		if c.Config != nil {
			return true
		}
	}
	return s.Config != nil
}

func hasTimeouts(s *Subject) bool {
	for _, c := range s.Clients {
		if hasTimeouts(c) {
			return true
		}
	}
	if s.Config != nil {
		return true
	}
	for _, k := range []string{keySession, keyPoll, keyRebalance} {
		if _, ok := s.values[k]; ok {
			return true
		}
	}
	return false
}

func hasBrokerConfig(s *Subject) bool {
	if s.Live != nil && s.Live.Limits.SessionMin != nil {
		return true
	}
	for _, b := range s.Case.Brokers {
		if len(b.Config) > 0 {
			return true
		}
	}
	return false
}

func hasMembers(s *Subject) bool {
	if s.Live == nil {
		return false
	}
	return s.Live.State != "" || len(s.Live.Members) > 0
}

func hasSubscriptions(s *Subject) bool {
	if s.Live == nil {
		return false
	}
	for _, m := range s.Live.Members {
		if m.Topics == nil && m.TopicRegex == "" {
			return false
		}
	}
	return true
}

func hasAssignments(s *Subject) bool {
	if s.Live == nil {
		return false
	}
	for _, m := range s.Live.Members {
		if m.Assignment == nil {
			return false
		}
	}
	return true
}

func hasTopics(s *Subject) bool {
	if s.Live == nil {
		return false
	}
	known := map[string]bool{}
	for _, t := range s.Case.Topics {
		known[t.Name] = t.Partitions >= 0
	}
	for _, m := range s.Live.Members {
		for _, t := range m.Topics {
			if !known[t] {
				return false
			}
		}
	}
	return true
}

func hasHistory(s *Subject) bool {
	if s.Scope == PerCluster {
		return len(s.Case.Timelines) > 0
	}
	return s.Timeline != nil
}

// derived facts come from others: a Gap about one of these leaves them incomplete.
var derived = map[inspect.Fact][]inspect.Fact{
	inspect.FactPollTime: {inspect.FactDeclared, inspect.FactHistory, inspect.FactClientLog},
	inspect.FactPause:    {inspect.FactDeclared, inspect.FactClientLog},
}

// lacks says why a subject lacks a fact; "" means that it has it. A Gap about the
// very group outranks what was read in part; a Gap about all groups only counts
// where the subject really lacks the fact, since one sick broker must not hide
// what the others told.
func lacks(s *Subject, f inspect.Fact) string {
	p, known := presence[f]
	if !known {
		return "no part of this program fills in " + string(f)
	}
	has := p.has(s)
	if s.Config != nil && (f == inspect.FactClientConfig || f == inspect.FactTimeouts) {
		return "" // the file tells, whatever the cluster withheld
	}
	general := ""
	for _, g := range s.Case.Gaps {
		if g.Fact != f {
			continue
		}
		switch {
		case g.Group == "":
			general = gapReason(g)
		case g.Group == s.Group && s.Scope != PerCluster:
			return gapReason(g)
		}
	}
	switch {
	case has:
		return ""
	case general != "":
		return general
	}
	return p.reason
}

func gapReason(g inspect.Gap) string {
	r := g.What + ": " + g.Why
	if g.What == "" {
		r = g.Why
	}
	if g.Needs != "" {
		r += " (needs " + g.Needs + ")"
	}
	return r
}
