package fakecluster

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/locate"
)

// dialect is how brokers that are not Apache Kafka's answer outsiders. What such brokers
// say to members is not simulated.
type dialect struct {
	offers map[kmsg.Key]offer // no other request is answered
	change func(req kmsg.Request, resp kmsg.Response)
}

// offer is the range of versions of a request that ApiVersions names.
type offer struct{ low, high int16 }

// Redpanda answers as Redpanda 24.3 does, by its source: 16 offsets partitions and groups
// placed by another hash, requests of Kafka 2.x, no KIP-848, no DescribeCluster, and of the
// brokers' settings none that bounds a group.
func Redpanda() Option {
	return func(o *options) {
		o.clusterID, o.offsetsPartitions = "redpanda.5c1f2b7e-1d0a-4c55-9a37-3c1f0f6e2a11", 16
		o.dialect = &dialect{
			offers: map[kmsg.Key]offer{
				kmsg.Produce: {0, 7}, kmsg.Fetch: {4, 11}, kmsg.ListOffsets: {0, 4}, kmsg.Metadata: {0, 8},
				kmsg.OffsetCommit: {1, 8}, kmsg.OffsetFetch: {1, 7}, kmsg.FindCoordinator: {0, 3}, kmsg.JoinGroup: {0, 6},
				kmsg.Heartbeat: {0, 4}, kmsg.LeaveGroup: {0, 4}, kmsg.SyncGroup: {0, 4}, kmsg.DescribeGroups: {0, 5},
				kmsg.ListGroups: {0, 4}, kmsg.ApiVersions: {0, 3}, kmsg.OffsetForLeaderEpoch: {0, 4}, kmsg.DescribeConfigs: {0, 4},
			},
			change: func(_ kmsg.Request, resp kmsg.Response) {
				if r, ok := resp.(*kmsg.DescribeConfigsResponse); ok {
					keepBrokerSettings(r, redpandaSettings)
				}
			},
		}
	}
}

// redpandaSettings are the settings of a broker that Redpanda names in Kafka's words
// (config_response_utils.cc).
var redpandaSettings = []string{"listeners", "advertised.listeners", "log.segment.bytes", "log.retention.bytes", "log.retention.ms",
	"num.partitions", "default.replication.factor", "log.dirs", "auto.create.topics.enable"}

// keepBrokerSettings drops all other settings of brokers, and all of groups.
func keepBrokerSettings(r *kmsg.DescribeConfigsResponse, names []string) {
	for i := range r.Resources {
		x := &r.Resources[i]
		x.Configs = slices.DeleteFunc(x.Configs, func(c kmsg.DescribeConfigsResponseResourceConfig) bool {
			return x.ResourceType == kmsg.ConfigResourceTypeGroupConfig || x.ResourceType == kmsg.ConfigResourceTypeBroker && !slices.Contains(names, c.Name)
		})
	}
}

// EventHubs answers as Azure Event Hubs does, by what its users have published: one broker,
// the versions of its ApiVersions answers (the newest known of each), no __consumer_offsets,
// members without a host under ids that begin with the namespace. Assumed, since nobody has
// said it: that the topic is unknown when it is asked for by name, and that settings of
// brokers and groups are refused as a request that makes no sense.
func EventHubs(namespace string) Option {
	return func(o *options) {
		o.brokers = 1
		o.dialect = &dialect{
			offers: map[kmsg.Key]offer{
				kmsg.Produce: {0, 7}, kmsg.Fetch: {4, 6}, kmsg.ListOffsets: {0, 8}, kmsg.Metadata: {0, 5},
				kmsg.OffsetCommit: {0, 8}, kmsg.OffsetFetch: {0, 8}, kmsg.FindCoordinator: {0, 4}, kmsg.JoinGroup: {0, 9},
				kmsg.Heartbeat: {0, 4}, kmsg.LeaveGroup: {0, 5}, kmsg.SyncGroup: {0, 5}, kmsg.DescribeGroups: {0, 1},
				kmsg.ListGroups: {0, 1}, kmsg.ApiVersions: {0, 1}, kmsg.OffsetForLeaderEpoch: {0, 0}, kmsg.DescribeConfigs: {0, 2},
			},
			change: func(req kmsg.Request, resp kmsg.Response) {
				switch r := resp.(type) {
				case *kmsg.MetadataResponse:
					hideOffsetsTopic(req.(*kmsg.MetadataRequest), r)
				case *kmsg.DescribeGroupsResponse:
					for i := range r.Groups {
						for k := range r.Groups[i].Members {
							m := &r.Groups[i].Members[k]
							m.ClientHost, m.MemberID = "0.0.0.0", namespace+":c:"+r.Groups[i].Group+":I:"+m.MemberID
						}
					}
				case *kmsg.DescribeConfigsResponse:
					for i := range r.Resources {
						if x := &r.Resources[i]; x.ResourceType != kmsg.ConfigResourceTypeTopic {
							x.Configs, x.ErrorCode = nil, kerr.InvalidRequest.Code
						}
					}
				}
			},
		}
	}
}

// hideOffsetsTopic leaves the offsets topic out, and calls it unknown where it was asked for.
func hideOffsetsTopic(req *kmsg.MetadataRequest, resp *kmsg.MetadataResponse) {
	named := len(req.Topics) > 0
	resp.Topics = slices.DeleteFunc(resp.Topics, func(t kmsg.MetadataResponseTopic) bool {
		return !named && t.Topic != nil && *t.Topic == locate.OffsetsTopic
	})
	for i := range resp.Topics {
		if t := &resp.Topics[i]; t.Topic != nil && *t.Topic == locate.OffsetsTopic {
			t.Partitions, t.ErrorCode = nil, kerr.UnknownTopicOrPartition.Code
		}
	}
}

// takes reports whether a request is offered. ApiVersions is answered in any version.
func (d *dialect) takes(key, version int16) bool {
	o, ok := d.offers[kmsg.Key(key)]
	return ok && (key == int16(kmsg.ApiVersions) || o.low <= version && version <= o.high)
}

// answer changes an answer to an outsider.
func (d *dialect) answer(req kmsg.Request, resp kmsg.Response) {
	if r, ok := resp.(*kmsg.ApiVersionsResponse); ok {
		d.versions(r)
		return
	}
	d.change(req, resp)
}

// versions names what is offered, and nothing of features. One who asks in a version that is
// not is told so in the oldest.
func (d *dialect) versions(r *kmsg.ApiVersionsResponse) {
	if high := d.offers[kmsg.ApiVersions].high; r.Version > high {
		r.Version, r.ErrorCode = 0, kerr.UnsupportedVersion.Code
	}
	r.ApiKeys = nil
	for key, o := range d.offers {
		k := kmsg.NewApiVersionsResponseApiKey()
		k.ApiKey, k.MinVersion, k.MaxVersion = int16(key), o.low, o.high
		r.ApiKeys = append(r.ApiKeys, k)
	}
	slices.SortFunc(r.ApiKeys, func(a, b kmsg.ApiVersionsResponseApiKey) int { return int(a.ApiKey - b.ApiKey) })
	r.SupportedFeatures, r.FinalizedFeatures, r.FinalizedFeaturesEpoch = nil, nil, -1
}
