package access

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/locate"
)

// probeGroup is asked for where no group is listed. Describing it creates nothing:
// the offsets topic is there, and no request of a member is sent.
const probeGroup = "kgdiag-check"

// sample picks some groups of each kind.
func (s *surveyor) sample() []string {
	byKind := make(map[string][]string)
	for _, id := range slices.Sorted(maps.Keys(s.groups)) {
		k := s.groups[id].kind
		if len(byKind[k]) < sampleGroups {
			byKind[k] = append(byKind[k], id)
		}
	}
	var out []string
	for _, k := range slices.Sorted(maps.Keys(byKind)) {
		out = append(out, byKind[k]...)
	}
	return out
}

// describeGroups describes a sample, and reads its offsets to see whether the
// topics may be described.
func (s *surveyor) describeGroups(ctx context.Context, placement Right) (g, t Right) {
	g = Right{ID: Groups, What: "groups and their members", Operation: "Describe", Resource: "group", Name: "*", State: Unknown}
	t = Right{ID: Topics, What: "topics of the groups", Operation: "Describe", Resource: "topic", Name: "*", State: Unknown}
	// A group that is listed is asked for where it was listed; any other only by its
	// coordinator, once the topic behind it shows.
	if s.partitions == 0 && len(s.groups) == 0 {
		g.Detail = "not tried: it is routed by coordinator, and " + locate.OffsetsTopic + " does not show"
		if placement.State == Absent {
			g.State, g.Detail = Absent, "no group is listed"
		}
		t.Detail = g.Detail
		return g, t
	}
	ids := s.sample()
	if len(ids) == 0 {
		g.fromProbe(s.describe(ctx, probeGroup, "classic"))
		t.Detail = "no group to try it on"
		return g, t
	}
	shown := t
	errs := make([]error, len(ids))
	var wg sync.WaitGroup
	for i, id := range ids {
		wg.Go(func() { errs[i] = s.describe(ctx, id, s.groups[id].kind) })
	}
	var located, committed error
	wg.Go(func() { located = s.coordinator(ctx, ids[0]) })
	wg.Go(func() { committed = s.committed(ctx, ids[0]) })
	wg.Go(func() { s.topics(ctx, &shown) })
	wg.Wait()
	var denied, seen int
	var other error
	for i, id := range ids {
		switch err := errs[i]; {
		case err == nil, errors.Is(err, kerr.GroupIDNotFound):
			seen++
		case errors.Is(err, kerr.GroupAuthorizationFailed):
			denied++
		case errors.Is(err, kerr.TopicAuthorizationFailed): // a KIP-848 group with a topic that may not be described
			seen++
			t.State, t.Detail = No, "denied for a topic of "+id
		default:
			other = err
		}
	}
	switch {
	case other != nil && denied == 0:
		g.fail(other)
	case denied == 0 && seen > 0:
		g.State, g.Detail = Yes, fmt.Sprintf("%d of %s readable", seen, tried(len(ids), len(s.groups)))
	case denied > 0:
		g.State, g.Detail = No, fmt.Sprintf("denied for %d of %s", denied, tried(len(ids), len(s.groups)))
	}
	if t.State == Unknown {
		t = shown
	}
	if located != nil && g.State == Yes {
		g.fail(fmt.Errorf("the coordinator of a group: %w", located))
	}
	if committed != nil && t.State == Yes {
		t.fail(fmt.Errorf("committed offsets: %w", committed))
	}
	return g, t
}

// tried says on how many groups something was tried, and of how many they are a sample.
func tried(n, of int) string {
	if n >= of {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%d (a sample of %d)", n, of)
}

// coordinator asks who coordinates a group, where the topic behind it shows.
func (s *surveyor) coordinator(ctx context.Context, id string) error {
	if s.partitions == 0 {
		return nil
	}
	req := kmsg.NewPtrFindCoordinatorRequest()
	req.CoordinatorKey, req.CoordinatorKeys = id, []string{id}
	_, err := req.RequestWith(ctx, s.cl.Broker(int(s.groups[id].broker)))
	return err
}

// committed asks for the committed offsets of a listed group: an error is that no answer
// came. What the broker says of permissions, describing the group has shown.
func (s *surveyor) committed(ctx context.Context, id string) error {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group = id
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group = id
	req.Groups = append(req.Groups, g)
	_, err := req.RequestWith(ctx, s.cl.Broker(int(s.groups[id].broker)))
	return err
}

// fromProbe reads the answer about a group that does not exist.
func (r *Right) fromProbe(err error) {
	switch {
	case err == nil, errors.Is(err, kerr.GroupIDNotFound):
		r.State, r.Detail = Yes, "no group is listed; a made-up id may be described"
	default:
		r.fail(err)
	}
}

// describe asks the group's coordinator about it, in the way of its kind.
func (s *surveyor) describe(ctx context.Context, id, kind string) error {
	to := kmsg.Requestor(s.cl)
	if g, listed := s.groups[id]; listed {
		to = s.cl.Broker(int(g.broker))
	}
	switch kind {
	case "consumer":
		req := kmsg.NewPtrConsumerGroupDescribeRequest()
		req.Groups = []string{id}
		resp, err := req.RequestWith(ctx, to)
		if err != nil || len(resp.Groups) == 0 {
			return err
		}
		return kerr.ErrorForCode(resp.Groups[0].ErrorCode)
	case "share":
		req := kmsg.NewPtrShareGroupDescribeRequest()
		req.GroupIDs = []string{id}
		resp, err := req.RequestWith(ctx, to)
		if err != nil || len(resp.Groups) == 0 {
			return err
		}
		return kerr.ErrorForCode(resp.Groups[0].ErrorCode)
	case "streams":
		req := kmsg.NewPtrStreamsGroupDescribeRequest()
		req.Groups = []string{id}
		resp, err := req.RequestWith(ctx, to)
		if err != nil || len(resp.Groups) == 0 {
			return err
		}
		return kerr.ErrorForCode(resp.Groups[0].ErrorCode)
	}
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups = []string{id}
	resp, err := req.RequestWith(ctx, to)
	if err != nil || len(resp.Groups) == 0 {
		return err
	}
	return kerr.ErrorForCode(resp.Groups[0].ErrorCode)
}

// topics counts the topics that Metadata shows besides the internal ones. A topic
// that may not be described does not show up, so that none at all is all that can
// be told apart.
func (s *surveyor) topics(ctx context.Context, t *Right) {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = nil // all
	resp, err := req.RequestWith(ctx, s.cl)
	if err != nil {
		t.fail(err)
		return
	}
	n := 0
	for _, topic := range resp.Topics {
		if topic.ErrorCode == 0 && !topic.IsInternal {
			n++
		}
	}
	if n > 0 {
		t.State, t.Detail = Yes, "shown: "+plural(n, "topic")+"; one that may not be described does not show up at all"
		return
	}
	t.State, t.Detail = Unknown, "no topic shows"
	if len(s.groups) > 0 {
		t.State = No
	}
}

// brokerConfigs asks one broker for the bound that joining groups meet.
func (s *surveyor) brokerConfigs(ctx context.Context) Right {
	r := Right{ID: BrokerConfigs, What: "settings of brokers", Operation: "DescribeConfigs", Resource: "cluster", State: Unknown}
	if len(s.brokers) > 0 {
		r.fromConfigs(s.configs(ctx, s.brokers[0], kmsg.ConfigResourceTypeBroker, strconv.Itoa(int(s.brokers[0]))))
	}
	if r.State == Absent && r.Detail == "" {
		r.Detail = "the broker does not name the bounds of groups' timeouts"
	}
	return r
}

// groupConfigs asks for the settings of one group; any broker can answer.
func (s *surveyor) groupConfigs(ctx context.Context) Right {
	r := Right{ID: GroupConfigs, What: "settings of groups", Operation: "DescribeConfigs", Resource: "group", Name: "*", State: Unknown}
	id := probeGroup
	if ids := s.sample(); len(ids) > 0 {
		id = ids[0]
	}
	if len(s.brokers) > 0 {
		r.fromConfigs(s.configs(ctx, s.brokers[0], kmsg.ConfigResourceTypeGroupConfig, id))
	}
	if r.State == Absent {
		r.Detail = "before Kafka 4.0 groups have none"
	}
	return r
}

func (r *Right) fromConfigs(named int, err error) {
	switch {
	case err != nil:
		r.fail(err)
	case named == 0:
		r.State = Absent
	default:
		r.State = Yes
	}
}

// configs asks a broker for settings, and counts those that it named.
func (s *surveyor) configs(ctx context.Context, broker int32, kind kmsg.ConfigResourceType, name string) (named int, err error) {
	req := kmsg.NewPtrDescribeConfigsRequest()
	res := kmsg.NewDescribeConfigsRequestResource()
	res.ResourceType, res.ResourceName = kind, name
	res.ConfigNames = []string{}
	if kind == kmsg.ConfigResourceTypeBroker {
		res.ConfigNames = []string{"group.min.session.timeout.ms"}
	} else {
		res.ConfigNames = nil
	}
	req.Resources = append(req.Resources, res)
	resp, err := req.RequestWith(ctx, s.cl.Broker(int(broker)))
	if err != nil {
		return 0, err
	}
	for _, r := range resp.Resources {
		if err := kerr.ErrorForCode(r.ErrorCode); err != nil {
			return 0, err
		}
		named += len(r.Configs)
	}
	return named, nil
}
