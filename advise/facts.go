package advise

import (
	"github.com/kgdiag/kgdiag/inspect"
)

// presence says, for each fact, whether a subject has it, and what to say where it
// has not and no Gap explains why.
var presence = map[inspect.Fact]struct {
	has    func(s *Subject) bool
	reason string
	hint   string // what would provide it, in a few words
}{
	inspect.FactClientConfig: {hasConfig,
		"client settings are not sent to the broker (add -f FILE)", "add -f FILE"},
	inspect.FactTimeouts: {hasTimeouts, "session and rebalance timeouts are only in __consumer_offsets, which was not read (add -f FILE)", "add -f FILE"},
	inspect.FactPollTime: {func(s *Subject) bool { _, ok := s.PollNeed(); return ok },
		"the time between two polls is not known (add --batch-time or --record-time, or name the group for its history)", "add --batch-time"},
	inspect.FactPause: {func(s *Subject) bool { _, _, ok := s.LongestPause(); return ok },
		"pauses of the process are not known (add --gc-pause or --gc-log)", "add --gc-pause"},
	inspect.FactBrokerConfig: {hasBrokerConfig, "the brokers' configuration was not read (needs a cluster: -b)", "only with -b"},
	inspect.FactGroupConfig:  {func(s *Subject) bool { return s.Live != nil && s.Live.Limits.Session != nil }, "the group's configuration was not read (Kafka 4.0)", "needs Kafka 4.0"},
	inspect.FactMembers:      {hasMembers, "the group's members were not read (name the group, with -b)", "name the group, with -b"},
	inspect.FactState:        {func(s *Subject) bool { return s.Live != nil && s.Live.State != "" }, "the group's state was not read (name the group, with -b)", "name the group, with -b"},
	inspect.FactSubscription: {hasSubscriptions, "the members' subscriptions were not read (they show while the group is Stable)", "group not Stable"},
	inspect.FactAssignment:   {hasAssignments, "the members' assignments were not read (they show while the group is Stable)", "group not Stable"},
	inspect.FactTopics:       {hasTopics, "the subscribed topics were not read", "topics not read"},
	inspect.FactLag:          {func(s *Subject) bool { return s.Live != nil && s.Live.Lag != nil }, "the group's lag was not read", "lag not read"},
	inspect.FactGeneration: {func(s *Subject) bool { return s.Live != nil && (s.Live.Generation != nil || s.Live.Epoch != nil) },
		"the group's generation was not read", "generation not read"},
	inspect.FactCoordinator:  {func(s *Subject) bool { return s.Live != nil && s.Live.Coordinator != nil }, "the group's coordinator was not found", "no coordinator"},
	inspect.FactOffsetsTopic: {func(s *Subject) bool { return s.Case.OffsetsTopic != nil }, "__consumer_offsets was not looked at (needs a cluster: -b)", "only with -b"},
	inspect.FactHistory:      {hasHistory, "the group's history in __consumer_offsets was not read", "no history"},
	inspect.FactClientLog:    {func(s *Subject) bool { return len(s.Case.LogEvents) > 0 }, "no log was read (add --log FILE)", "add --log FILE"},
	inspect.FactDeclared: {func(s *Subject) bool {
		d := s.Case.Declared
		return d.BatchTime != nil || d.RecordTime != nil || d.BackOff != nil || d.GCPause != nil || len(d.BatchTimes) > 0
	}, "nothing was declared (--batch-time, --record-time, --gc-pause)", "add --batch-time"},
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

// lack says why a fact is missing: the reason in full, and in a few words what would
// provide it.
type lack struct{ reason, hint string }

// lacks says why a subject lacks a fact; false means that it has it. A Gap about the
// very group outranks what was read in part; a Gap about all groups only counts
// where the subject really lacks the fact, since one sick broker must not hide
// what the others told.
func lacks(s *Subject, f inspect.Fact) (lack, bool) {
	p, known := presence[f]
	if !known {
		return lack{"no part of this program fills in " + string(f), "unknown"}, true
	}
	if s.Config != nil && (f == inspect.FactClientConfig || f == inspect.FactTimeouts) {
		return lack{}, false // the file tells, whatever the cluster withheld
	}
	if s.gaps == nil {
		s.gaps = gapsOf(s.Case)
	}
	// While a group rebalances, the newcomer's timeouts are in no record yet. Those
	// of the others are, and that is when somebody asks.
	newcomers := s.Scope == PerClient && f == inspect.FactTimeouts && p.has(s)
	if l, ok := s.gaps[gapKey{f, s.Group}]; ok && s.Group != "" && s.Scope != PerCluster && !newcomers {
		return l, true
	}
	switch l, general := s.gaps[gapKey{f, ""}]; {
	case p.has(s):
		return lack{}, false
	case general:
		return l, true
	case p.hint == "add -f FILE" && len(s.Case.Configs) > 0: // one was given, and is another group's
		return lack{"none of the given files is of this group, and client settings are not sent to the broker", "no file of this group"}, true
	}
	return lack{p.reason, p.hint}, true
}

// gapKey is what a Gap is about; group is "" where it concerns all.
type gapKey struct {
	fact  inspect.Fact
	group string
}

// gapsOf says by the Gaps of a case what is missing: by the first about each group, and the
// last about all. Of very many groups one text is kept once.
func gapsOf(c *inspect.Case) map[gapKey]lack {
	out, texts := make(map[gapKey]lack, len(c.Gaps)), map[lack]lack{}
	for _, g := range c.Gaps {
		k := gapKey{g.Fact, g.Group}
		if _, ok := out[k]; ok && k.group != "" {
			continue
		}
		l := gapLack(g)
		if _, ok := texts[l]; !ok {
			texts[l] = l
		}
		out[k] = texts[l]
	}
	return out
}

func gapLack(g inspect.Gap) lack {
	l := lack{reason: g.What + ": " + g.Why, hint: g.Why}
	if g.What == "" {
		l.reason = g.Why
	}
	if g.Needs != "" {
		l.reason += " (needs " + g.Needs + ")"
		l.hint = "needs " + g.Needs
	}
	return l
}
