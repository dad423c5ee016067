package access

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/locate"
)

// State is whether something may be read.
type State string

// The states of a Right.
const (
	Yes     State = "yes"
	No      State = "no"      // the broker refused it
	Absent  State = "absent"  // there is nothing to read: the broker is too old, or the thing does not exist
	Unknown State = "unknown" // it could not be tried
	Silent  State = "silent"  // it was asked for, and no answer came, or none that makes sense
)

// ID names a Right.
type ID string

// The rights that kgdiag can use.
const (
	Cluster       ID = "cluster"        // DESCRIBE Cluster: every group, not only permitted ones, is listed
	OffsetsTopic  ID = "offsets_topic"  // DESCRIBE of __consumer_offsets: where groups live
	OffsetsRead   ID = "offsets_read"   // READ of __consumer_offsets: history, generations, timeouts
	Groups        ID = "groups"         // DESCRIBE of groups
	Topics        ID = "topics"         // DESCRIBE of the subscribed topics: lag
	BrokerConfigs ID = "broker_configs" // DESCRIBE_CONFIGS Cluster: the bounds of timeouts
	GroupConfigs  ID = "group_configs"  // DESCRIBE_CONFIGS of groups: timeouts of KIP-848 groups (Kafka 4.0)
)

// Right is one thing that kgdiag reads, and whether it may.
type Right struct {
	ID        ID     `json:"id"`
	What      string `json:"what"` // in a reader's words
	State     State  `json:"state"`
	Detail    string `json:"detail"`    // what was found, or why not
	Operation string `json:"operation"` // Describe, Read, DescribeConfigs
	Resource  string `json:"resource"`  // cluster, topic, group
	Name      string `json:"name"`      // of the resource; "*" for all; "" for the cluster
}

// Grant is what would give the right, as brokers write it in their logs: "READ on topic
// orders".
func (x Right) Grant() string {
	operation := strings.ToUpper(x.Operation)
	if x.Operation == "DescribeConfigs" {
		operation = "DESCRIBE_CONFIGS"
	}
	switch {
	case x.Resource == "cluster":
		return operation + " on the cluster"
	case x.Name == "*":
		return operation + " on " + x.Resource + "s"
	}
	return operation + " on " + x.Resource + " " + x.Name
}

// Report is what a survey has found.
type Report struct {
	ClusterID  string
	Brokers    int
	Controller int32
	GroupCount int // groups listed, on the brokers that answered
	Listed     int // brokers that answered ListGroups
	Rights     []Right
	Platform   Platform
}

// Right returns the right with this id.
func (r *Report) Right(id ID) Right {
	for _, x := range r.Rights {
		if x.ID == id {
			return x
		}
	}
	return Right{ID: id, State: Unknown}
}

// sampleGroups is how many groups are described to see whether groups may be.
const sampleGroups = 5

// surveyor collects the answers.
type surveyor struct {
	cl     *kgo.Client
	met    *kmsg.MetadataResponse
	report *Report

	brokers    []int32
	partitions int32            // of __consumer_offsets, 0 where it is not shown
	groups     map[string]group // listed
}

type group struct {
	kind, protocol string
	broker         int32 // that listed it
}

// Survey asks for each thing that kgdiag reads, all that it can at once. met is a
// Metadata answer of just now that tells of __consumer_offsets; nil: it is asked for. The
// error is that of this Metadata, without which nothing can be told.
func Survey(ctx context.Context, cl *kgo.Client, met *kmsg.MetadataResponse) (*Report, error) {
	s := &surveyor{cl: cl, met: met, report: &Report{Controller: -1}, groups: make(map[string]group)}
	placement, err := s.metadata(ctx)
	if err != nil {
		return nil, err
	}
	var cluster, read, groups, topics, brokerConfigs, groupConfigs Right
	var wg sync.WaitGroup
	wg.Go(func() { cluster = s.clusterRight(ctx) })
	wg.Go(func() { read = s.readOffsets(ctx, placement) })
	wg.Go(func() { brokerConfigs = s.brokerConfigs(ctx) })
	wg.Go(func() {
		listing, cancel := share(ctx)
		s.listGroups(listing)
		cancel()
		wg.Go(func() { groupConfigs = s.groupConfigs(ctx) })
		groups, topics = s.describeGroups(ctx, placement)
	})
	wg.Wait()
	s.noteListed(&cluster)
	s.noteElsewhere(&placement, &read)
	s.report.Rights = []Right{placement, cluster, read, groups, topics, brokerConfigs, groupConfigs}
	return s.report, nil
}

// share gives a request half of the time that is left, so that one that is never
// answered leaves time for what follows it.
func share(ctx context.Context) (context.Context, context.CancelFunc) {
	end, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(end)/2)
}

// metadata looks for brokers and for __consumer_offsets, creating nothing.
func (s *surveyor) metadata(ctx context.Context) (Right, error) {
	r := Right{ID: OffsetsTopic, What: "placement of " + locate.OffsetsTopic, Operation: "Describe", Resource: "topic", Name: locate.OffsetsTopic, State: Unknown}
	if s.met == nil {
		req := kmsg.NewPtrMetadataRequest()
		req.AllowAutoTopicCreation = false
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = kmsg.StringPtr(locate.OffsetsTopic)
		req.Topics = append(req.Topics, t)
		var err error
		if s.met, err = req.RequestWith(ctx, s.cl); err != nil {
			return r, err
		}
	}
	resp := s.met
	if resp.ClusterID != nil {
		s.report.ClusterID = *resp.ClusterID
	}
	s.report.Controller = resp.ControllerID
	var hosts []string
	for _, b := range resp.Brokers {
		s.brokers = append(s.brokers, b.NodeID)
		hosts = append(hosts, b.Host)
	}
	slices.Sort(s.brokers)
	s.report.Brokers = len(s.brokers)
	s.report.Platform = platformOf(s.report.ClusterID, hosts)
	for _, t := range resp.Topics {
		if t.Topic == nil || *t.Topic != locate.OffsetsTopic {
			continue
		}
		switch err := kerr.ErrorForCode(t.ErrorCode); {
		case err == nil:
			s.partitions = int32(len(t.Partitions))
			r.State, r.Detail = Yes, plural(int(s.partitions), "partition")
		case errors.Is(err, kerr.UnknownTopicOrPartition):
			r.State, r.Detail = Absent, "the topic does not exist: no group has ever committed or joined here, or the service keeps its groups elsewhere"
		default:
			r.fail(err)
		}
	}
	return r, nil
}

// fail fills a right from an error.
func (r *Right) fail(err error) {
	switch {
	case errors.Is(err, kerr.TopicAuthorizationFailed), errors.Is(err, kerr.GroupAuthorizationFailed), errors.Is(err, kerr.ClusterAuthorizationFailed):
		r.State, r.Detail = No, "denied"
	case errors.Is(err, kerr.UnsupportedVersion), errors.Is(err, kerr.InvalidRequest), isTooOld(err):
		r.State, r.Detail = Absent, "the broker does not know the request"
	case errors.Is(err, context.DeadlineExceeded):
		r.State, r.Detail = Silent, "no answer"
	case errors.As(err, new(*kerr.Error)):
		r.State, r.Detail = Unknown, err.Error()
	default: // cut off, or an answer that does not decode
		r.State, r.Detail = Silent, err.Error()
	}
}

// isTooOld is the client's refusal to send what the broker has said not to know;
// franz-go keeps that error to itself.
func isTooOld(err error) bool {
	return err != nil && len(err.Error()) > 20 && err.Error()[:20] == "broker is too old; t"
}

// aclDescribe is the bit of DESCRIBE in authorized operations (AclOperation 8, KIP-430).
const aclDescribe = 1 << 8

func (s *surveyor) clusterRight(ctx context.Context) Right {
	r := Right{ID: Cluster, What: "list of all groups", Operation: "Describe", Resource: "cluster", State: Unknown}
	req := kmsg.NewPtrDescribeClusterRequest()
	req.IncludeClusterAuthorizedOperations = true
	resp, err := req.RequestWith(ctx, s.cl)
	if err == nil {
		err = kerr.ErrorForCode(resp.ErrorCode)
	}
	switch {
	case err != nil:
		r.fail(err)
		if r.State == Absent { // before 2.8
			r.State, r.Detail = Unknown, "the brokers do not say whether that is all (Kafka does since 2.8)"
		}
	case resp.ClusterAuthorizedOperations == -1<<31:
		r.State, r.Detail = Yes, "the broker has no ACLs"
	case resp.ClusterAuthorizedOperations&aclDescribe != 0:
		r.State = Yes
	default:
		r.State, r.Detail = No, "only permitted groups are listed, the others do not show up at all"
	}
	return r
}

// listGroups asks every broker.
func (s *surveyor) listGroups(ctx context.Context) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	slots := make(chan struct{}, 16)
	for _, id := range s.brokers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			slots <- struct{}{}
			defer func() { <-slots }()
			resp, err := kmsg.NewPtrListGroupsRequest().RequestWith(ctx, s.cl.Broker(int(id)))
			if err != nil || resp.ErrorCode != 0 {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			s.report.Listed++
			for _, g := range resp.Groups {
				s.groups[g.Group] = group{kind: g.GroupType, protocol: g.ProtocolType, broker: id}
			}
		}()
	}
	wg.Wait()
	s.report.GroupCount = len(s.groups)
}

// noteListed adds to the cluster right what was listed.
func (s *surveyor) noteListed(r *Right) {
	seen := fmt.Sprintf("%s listed, %d of %s answered", plural(len(s.groups), "group"), s.report.Listed, plural(len(s.brokers), "broker"))
	if r.Detail != "" {
		seen += "; " + r.Detail
	}
	r.Detail = seen
	if s.report.Listed < len(s.brokers) {
		r.State = Silent
	}
}

// noteElsewhere says so where groups are listed though their topic is not there.
func (s *surveyor) noteElsewhere(placement, read *Right) {
	if placement.State == Absent && len(s.groups) > 0 {
		placement.Detail = "the topic does not exist, yet there are groups: the service keeps them elsewhere"
		read.State, read.Detail = Absent, "there is no such topic"
	}
}

// readOffsets fetches a byte of a partition of __consumer_offsets.
func (s *surveyor) readOffsets(ctx context.Context, placement Right) Right {
	r := Right{ID: OffsetsRead, What: "records of " + locate.OffsetsTopic, Operation: "Read", Resource: "topic", Name: locate.OffsetsTopic, State: Unknown}
	switch placement.State {
	case Absent:
		r.State, r.Detail = Unknown, "not there yet, so it cannot be tried"
		return r
	case No:
		r.State, r.Detail = No, "denied with DESCRIBE"
		return r
	case Unknown:
		r.Detail = placement.Detail
		return r
	}
	for _, t := range s.met.Topics {
		if t.Topic == nil || *t.Topic != locate.OffsetsTopic {
			continue
		}
		for _, p := range t.Partitions {
			if p.Leader < 0 {
				continue
			}
			var end error
			var wg sync.WaitGroup
			wg.Go(func() { end = s.listOffsets(ctx, p.Leader, p.Partition) })
			err := s.fetch(ctx, p.Leader, p.Partition, t.TopicID)
			wg.Wait()
			if r.State = Yes; err != nil || end != nil {
				r.fail(cmp.Or(err, end))
			}
			return r
		}
	}
	r.Detail = "no partition has a leader"
	return r
}

// listOffsets asks for the end of a partition, without which no history is read.
func (s *surveyor) listOffsets(ctx context.Context, leader, partition int32) error {
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID = -1
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic = locate.OffsetsTopic
	p := kmsg.NewListOffsetsRequestTopicPartition()
	p.Partition, p.Timestamp, p.CurrentLeaderEpoch = partition, -1, -1
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	_, err := req.RequestWith(ctx, s.cl.Broker(int(leader)))
	return err
}

func (s *surveyor) fetch(ctx context.Context, leader, partition int32, id [16]byte) error {
	req := kmsg.NewPtrFetchRequest()
	req.ReplicaID, req.MaxWaitMillis, req.MinBytes, req.MaxBytes = -1, 0, 0, 1
	req.SessionEpoch = -1
	t := kmsg.NewFetchRequestTopic()
	t.Topic, t.TopicID = locate.OffsetsTopic, id
	p := kmsg.NewFetchRequestTopicPartition()
	p.Partition, p.PartitionMaxBytes = partition, 1
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	resp, err := req.RequestWith(ctx, s.cl.Broker(int(leader)))
	if err != nil {
		return err
	}
	if resp.ErrorCode != 0 {
		return kerr.ErrorForCode(resp.ErrorCode)
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			// Offset 0 is compacted away in most clusters: then the broker has looked
			// at the permission already.
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil && !errors.Is(err, kerr.OffsetOutOfRange) {
				return err
			}
		}
	}
	return nil
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
