package rulefixture

import (
	"github.com/kgdiag/kgdiag/inspect"
)

// Facts are the kinds of facts that Erase knows, without the derived ones.
func Facts() []inspect.Fact {
	return []inspect.Fact{inspect.FactState, inspect.FactMembers, inspect.FactTimeouts, inspect.FactGeneration,
		inspect.FactSubscription, inspect.FactAssignment, inspect.FactLag, inspect.FactTopics, inspect.FactBrokerConfig,
		inspect.FactGroupConfig, inspect.FactOffsetsTopic, inspect.FactCoordinator, inspect.FactHistory,
		inspect.FactClientConfig, inspect.FactClientLog, inspect.FactDeclared}
}

// Erase takes one kind of fact out of a case, as if it had never been read. What
// the case shares with others is copied first.
func Erase(c *inspect.Case, fact inspect.Fact) {
	c.Groups = append([]inspect.Group(nil), c.Groups...)
	c.Brokers = append([]inspect.Broker(nil), c.Brokers...)
	switch fact {
	case inspect.FactTopics:
		c.Topics = nil
	case inspect.FactOffsetsTopic:
		c.OffsetsTopic = nil
	case inspect.FactHistory:
		c.Timelines, c.Records, c.Logs, c.Observations = nil, nil, nil, nil
	case inspect.FactClientConfig:
		c.Configs = nil
	case inspect.FactClientLog:
		c.LogEvents = nil
	case inspect.FactDeclared:
		c.Declared = inspect.Declared{}
	case inspect.FactPollTime:
		c.Declared.BatchTime, c.Declared.RecordTime, c.Declared.BackOff, c.Declared.BatchTimes = nil, nil, nil, nil
		c.Timelines, c.LogEvents = nil, nil
	case inspect.FactPause:
		c.Declared.GCPause, c.LogEvents = nil, nil
	case inspect.FactBrokerConfig:
		for i := range c.Brokers {
			c.Brokers[i].Config = nil
		}
	}
	for i := range c.Groups {
		eraseGroup(&c.Groups[i], fact)
	}
	if fact == inspect.FactTimeouts {
		eraseDepartures(c)
	}
}

func eraseGroup(g *inspect.Group, fact inspect.Fact) {
	switch fact {
	case inspect.FactState:
		g.State, g.Assignor = "", ""
	case inspect.FactMembers:
		g.Members, g.State = nil, ""
	case inspect.FactGeneration:
		g.Generation, g.Epoch, g.TargetEpoch = nil, nil, nil
	case inspect.FactLag:
		g.Lag, g.Offsets = nil, nil
	case inspect.FactCoordinator:
		g.Coordinator = nil
	case inspect.FactBrokerConfig:
		g.Limits.SessionMin, g.Limits.SessionMax = nil, nil
	case inspect.FactGroupConfig:
		g.Limits.Session, g.Limits.Heartbeat = nil, nil
	}
	g.Members = append([]inspect.Member(nil), g.Members...)
	for i := range g.Members {
		m := &g.Members[i]
		switch fact {
		case inspect.FactTimeouts:
			m.Session, m.Rebalance, m.Heartbeat = nil, nil, nil
		case inspect.FactSubscription:
			m.Topics, m.TopicRegex = nil, ""
		case inspect.FactAssignment:
			m.Assignment, m.Target = nil, nil
		case inspect.FactLag:
			m.Lag = nil
		case inspect.FactGeneration:
			m.Generation, m.Epoch = nil, nil
		}
	}
}

func eraseDepartures(c *inspect.Case) {
	c.Timelines = append([]inspect.Timeline(nil), c.Timelines...)
	for i := range c.Timelines {
		rs := append([]inspect.Rebalance(nil), c.Timelines[i].Rebalances...)
		for j := range rs {
			left := append([]inspect.Departure(nil), rs[j].Members.Left...)
			for k := range left {
				left[k].Session, left[k].Rebalance = nil, nil
			}
			rs[j].Members.Left = left
		}
		c.Timelines[i].Rebalances = rs
	}
}
