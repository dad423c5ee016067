package inspect

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kgdiag/kgdiag/internal/prose"
)

// AssignmentText is an assignment as Apache's tools write it: t:0,1;u:2. None is
// "none", unknown (nil) is "".
func AssignmentText(list []TopicPartitions) string {
	if list == nil {
		return ""
	}
	var parts []string
	for _, t := range list {
		if len(t.Partitions) == 0 {
			continue
		}
		ids := make([]string, len(t.Partitions))
		for i, p := range t.Partitions {
			ids[i] = strconv.Itoa(int(p))
		}
		parts = append(parts, t.Topic+":"+strings.Join(ids, ","))
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ";")
}

// PartitionCount is the number of assigned partitions; "" unknown.
func PartitionCount(list []TopicPartitions) string {
	if list == nil {
		return ""
	}
	n := 0
	for _, t := range list {
		n += len(t.Partitions)
	}
	return strconv.Itoa(n)
}

// SubscriptionText is the pattern and the topics of a subscription; "" unknown.
func (m Member) SubscriptionText() string {
	var parts []string
	if m.TopicRegex != "" {
		parts = append(parts, "/"+m.TopicRegex+"/")
	}
	parts = append(parts, m.Topics...)
	if len(parts) == 0 && m.Topics != nil {
		return "none"
	}
	return strings.Join(parts, ",")
}

// Moving reports whether a member has not reached its target yet (KIP-848).
func (m Member) Moving() bool {
	return m.Target != nil && AssignmentText(m.Target) != AssignmentText(m.Assignment)
}

// LagText is how far a group is behind: "41,320", "at least 41,320" where the end of one
// of its partitions was not read, "-" where nothing is known.
func (g *Group) LagText() string {
	switch {
	case g.Lag == nil:
		return "-"
	case g.lagLacks(func(*PartitionLag) bool { return true }):
		return "at least " + prose.Count(*g.Lag)
	}
	return prose.Count(*g.Lag)
}

// MemberLagText is how far one of its members is behind: "57", ">=57", "-".
func (g *Group) MemberLagText(m *Member) string {
	switch {
	case m.Lag == nil:
		return "-"
	case g.lagLacks(func(o *PartitionLag) bool { return o.MemberID == m.MemberID }):
		return ">=" + prose.Count(*m.Lag)
	}
	return prose.Count(*m.Lag)
}

// lagLacks reports a partition of which the end is not known: a topic that may not be
// described, a leader that did not answer. One without a commit has no lag that lacks.
func (g *Group) lagLacks(of func(*PartitionLag) bool) bool {
	return slices.ContainsFunc(g.Offsets, func(o PartitionLag) bool { return o.End == nil && o.Lag == nil && of(&o) })
}
