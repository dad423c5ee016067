package inspect

import (
	"strconv"
	"strings"
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
