package collect

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/family"
)

// draft is a group as its coordinator described it, before the log, the offsets
// and the configurations are added.
type draft struct {
	group inspect.Group
	// signs are what the members show of their client libraries, parallel to
	// group.Members.
	signs []family.Evidence
	err   error // the group could not be described; group then holds its id alone
}

// errMaybeConsumer is how a group looks that an old coordinator calls Dead: it does
// not exist, or it is of the consumer protocol (KIP-848), which DescribeGroups
// below v6 cannot say.
var errMaybeConsumer = errors.New("not found, or a consumer-protocol (KIP-848) group, which this broker's DescribeGroups cannot report")

// typeNeeds name the request and the release of each type's describe.
func typeNeeds(t inspect.GroupType) (version string) {
	switch t {
	case inspect.Consumer:
		return "3.8 with group.version 1 (KIP-848)"
	case inspect.Share:
		return "4.1 with share.version 1 (KIP-932)"
	case inspect.Streams:
		return "4.2 with streams.version 1 (KIP-1071)"
	}
	return ""
}

// describeMemory bounds the answers that are on their way from one broker at a time, going
// by the first four: descriptions hold what the members send, which may be megabytes.
const describeMemory = 64 << 20

// describeAt describes groups of one type at one broker, in requests of at most
// chunk groups. Every id has a draft in the answer.
func (c *Collector) describeAt(ctx context.Context, b broker, t inspect.GroupType, ids []string) map[string]draft {
	out := make(map[string]draft, len(ids))
	var mu sync.Mutex
	largest := 0
	describe := func(ids []string) {
		got, size, err := c.describeChunk(ctx, b, t, ids)
		at := c.now()
		mu.Lock()
		defer mu.Unlock()
		for _, id := range ids {
			d, ok := got[id]
			switch {
			case err != nil:
				d = draft{err: err}
			case !ok:
				d = draft{err: errNotAnswered}
			}
			d.group.ID, d.group.At = id, at
			d.group.Sources = append(d.group.Sources,
				inspect.Source{Fact: inspect.FactState, From: "coordinator", At: at},
				inspect.Source{Fact: inspect.FactMembers, From: "coordinator", At: at})
			out[id] = d
		}
		largest = max(largest, size)
	}
	all := chunks(ids)
	first := min(len(all), 4)
	each(all[:first], describe)
	for some := range slices.Chunk(all[first:], 1+min(len(all), describeMemory/max(largest, 1))) {
		each(some, describe)
	}
	return out
}

// describeChunk sends the one request of the type. The size is that of what classic
// members send, in bytes; brokers bound the others.
func (c *Collector) describeChunk(ctx context.Context, b broker, t inspect.GroupType, ids []string) (drafts map[string]draft, size int, err error) {
	switch t {
	case inspect.Consumer:
		drafts, err = c.describeConsumer(ctx, b, ids)
	case inspect.Share:
		drafts, err = describeShare(ctx, b, ids)
	case inspect.Streams:
		drafts, err = describeStreams(ctx, b, ids)
	default:
		drafts, size, err = describeClassic(ctx, b, ids)
	}
	return drafts, size, err
}

// describeClassic sends DescribeGroups: classic groups, with Connect's and those
// of Streams before KIP-1071.
func describeClassic(ctx context.Context, b broker, ids []string) (drafts map[string]draft, size int, err error) {
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups = ids
	resp, err := req.RequestWith(ctx, b)
	if err != nil {
		return nil, 0, err
	}
	out := make(map[string]draft, len(resp.Groups))
	for i := range resp.Groups {
		g := &resp.Groups[i]
		d := draft{err: answerError(g.ErrorCode, g.ErrorMessage)}
		switch {
		case d.err != nil:
		case g.State == "Dead" && resp.Version < 6:
			d.err = errMaybeConsumer
		default:
			d = classicDraft(g)
		}
		for j := range g.Members {
			size += len(g.Members[j].ProtocolMetadata) + len(g.Members[j].MemberAssignment)
		}
		out[g.Group] = d
	}
	return out, size, nil
}

// describeConsumer sends ConsumerGroupDescribe (KIP-848).
func (c *Collector) describeConsumer(ctx context.Context, b broker, ids []string) (map[string]draft, error) {
	req := kmsg.NewPtrConsumerGroupDescribeRequest()
	req.Groups = ids
	resp, err := req.RequestWith(ctx, b)
	if err != nil {
		return nil, err
	}
	c.nameAssigned(ctx, resp)
	out := make(map[string]draft, len(resp.Groups))
	for i := range resp.Groups {
		g := &resp.Groups[i]
		d := draft{err: answerError(g.ErrorCode, g.ErrorMessage)}
		if d.err == nil {
			d = consumerDraft(g)
		}
		out[g.Group] = d
	}
	return out, nil
}

// nameAssigned fills in the names of topics that the coordinator gave by id alone.
// Apache's brokers name them; an id that Metadata does not know either stays.
func (c *Collector) nameAssigned(ctx context.Context, resp *kmsg.ConsumerGroupDescribeResponse) {
	var nameless []*kmsg.AssignmentTopicPartition
	for i := range resp.Groups {
		for j := range resp.Groups[i].Members {
			m := &resp.Groups[i].Members[j]
			for _, a := range []*kmsg.Assignment{&m.Assignment, &m.TargetAssignment} {
				for k := range a.TopicPartitions {
					if a.TopicPartitions[k].Topic == "" {
						nameless = append(nameless, &a.TopicPartitions[k])
					}
				}
			}
		}
	}
	if len(nameless) == 0 {
		return
	}
	names := c.topicNames(ctx, nameless)
	for _, a := range nameless {
		a.Topic = names[a.TopicID]
	}
}

// topicNames are the names of topics by id, asked for once each.
func (c *Collector) topicNames(ctx context.Context, list []*kmsg.AssignmentTopicPartition) map[[16]byte]string {
	c.namesMu.Lock()
	defer c.namesMu.Unlock()
	var ask [][16]byte
	for _, a := range list {
		if _, ok := c.names[a.TopicID]; !ok && !slices.Contains(ask, a.TopicID) {
			ask = append(ask, a.TopicID)
		}
	}
	if len(ask) > 0 {
		found, err := c.topicsByID(ctx, ask)
		if err != nil {
			return maps.Clone(c.names)
		}
		for i := range found {
			c.names[found[i].TopicID] = text(found[i].Topic)
		}
	}
	return maps.Clone(c.names)
}

// describeShare sends ShareGroupDescribe (KIP-932).
func describeShare(ctx context.Context, b broker, ids []string) (map[string]draft, error) {
	req := kmsg.NewPtrShareGroupDescribeRequest()
	req.GroupIDs = ids
	resp, err := req.RequestWith(ctx, b)
	if err != nil {
		return nil, err
	}
	out := make(map[string]draft, len(resp.Groups))
	for i := range resp.Groups {
		g := &resp.Groups[i]
		d := draft{err: answerError(g.ErrorCode, g.ErrorMessage)}
		if d.err == nil {
			d = shareDraft(g)
		}
		out[g.GroupID] = d
	}
	return out, nil
}

// describeStreams sends StreamsGroupDescribe (KIP-1071).
func describeStreams(ctx context.Context, b broker, ids []string) (map[string]draft, error) {
	req := kmsg.NewPtrStreamsGroupDescribeRequest()
	req.Groups = ids
	resp, err := req.RequestWith(ctx, b)
	if err != nil {
		return nil, err
	}
	out := make(map[string]draft, len(resp.Groups))
	for i := range resp.Groups {
		g := &resp.Groups[i]
		d := draft{err: answerError(g.ErrorCode, g.ErrorMessage)}
		if d.err == nil {
			d = streamsDraft(g)
		}
		out[g.Group] = d
	}
	return out, nil
}

// otherType reads from a coordinator's refusal ("Group g is not a classic group.")
// that the group exists with another type, which ListGroups had not told.
func otherType(err error) bool {
	return errors.Is(err, kerr.GroupIDNotFound) && strings.Contains(err.Error(), "is not a ")
}

// absent reports whether the coordinator says that the group does not exist.
func absent(err error) bool {
	return errors.Is(err, kerr.GroupIDNotFound) && !otherType(err)
}
