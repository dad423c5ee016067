package collect

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/release"
	"github.com/kgdiag/kgdiag/locate"
)

// enrich adds to the drafts what is wanted besides state and members. The parts are
// read at once and applied one after another.
func (r *run) enrich(ctx context.Context) {
	want := r.want
	var wg sync.WaitGroup
	applyLog, applyLag := func() {}, func() {}
	if want.Log {
		wg.Go(func() { applyLog = r.readLog(ctx) })
	}
	if want.Lag {
		wg.Go(func() { applyLag = r.readLag(ctx) })
	}
	if want.Topics {
		wg.Go(func() { r.readTopics(ctx) })
	}
	var groups map[string]map[string]string
	if want.Limits || want.Brokers {
		wg.Go(func() { r.readBrokers(ctx, want.Brokers) })
	}
	if want.Brokers && r.m.Offsets != nil {
		wg.Go(func() { r.readOffsetsConfig(ctx) })
	}
	if want.Limits {
		wg.Go(func() { groups = r.readGroupConfigs(ctx) })
	}
	wg.Wait()
	if want.Limits {
		r.applyLimits(groups)
	}
	applyLag()
	applyLog()
}

// brokerKeys reports whether a broker setting concerns groups.
func brokerKeys(name string) bool {
	return strings.HasPrefix(name, "group.") || strings.HasPrefix(name, "offsets.") ||
		strings.HasPrefix(name, "transaction.state.log.") || strings.HasPrefix(name, "share.coordinator.")
}

// readBrokers asks brokers, each for itself, for their configuration and version:
// all of them, or the coordinators of the groups.
func (r *run) readBrokers(ctx context.Context, all bool) {
	wanted := map[int32]bool{}
	for _, d := range r.drafts {
		if d.err == nil && d.group.Coordinator != nil {
			wanted[d.group.Coordinator.ID] = true
		}
	}
	var ask []int
	for i := range r.facts.Brokers {
		if all || wanted[r.facts.Brokers[i].ID] {
			ask = append(ask, i)
		}
	}
	each(ask, func(i int) {
		b := &r.facts.Brokers[i]
		to := r.broker(r.m, b.ID)
		var wg sync.WaitGroup
		wg.Go(func() {
			var kraft bool
			b.Version, kraft = version(ctx, to)
			// A KRaft broker names any broker as the controller, since all forward to it.
			b.Controller = b.Version != "" && !kraft && b.ID == r.m.Controller
		})
		wg.Go(func() { r.readBrokerConfig(ctx, to, b) })
		wg.Wait()
	})
}

// readBrokerConfig asks a broker for those of its settings that concern groups.
func (r *run) readBrokerConfig(ctx context.Context, to broker, b *inspect.Broker) {
	name := strconv.Itoa(int(b.ID))
	got, err := describeConfigs(ctx, to, kmsg.ConfigResourceTypeBroker, []string{name})
	if err == nil {
		err = got[name].err
	}
	if err != nil {
		r.gap(need{fact: inspect.FactBrokerConfig, what: "configuration of broker " + name,
			acl: "DESCRIBE_CONFIGS on Cluster"}.gap("", err))
		return
	}
	b.Config = map[string]string{}
	for k, v := range got[name].values {
		if brokerKeys(k) {
			b.Config[k] = v
		}
	}
	if len(b.Config) == 0 { // not Kafka's own broker
		r.gap(inspect.Gap{Fact: inspect.FactBrokerConfig, What: "configuration of broker " + name, Why: "the broker names no setting that concerns groups"})
	}
}

// offsetsKeys are the settings of the offsets topic that its groups depend on.
var offsetsKeys = []string{"cleanup.policy", "min.insync.replicas"}

// readOffsetsConfig asks one broker after another for the configuration of the
// offsets topic. Without an answer it stays unknown: the facts of the groups do not
// depend on it.
func (r *run) readOffsetsConfig(ctx context.Context) {
	found, err := firstAnswer(ctx, r.brokers(r.m), func(ctx context.Context, b broker) (map[string]string, error) {
		got, err := describeConfigs(ctx, b, kmsg.ConfigResourceTypeTopic, []string{locate.OffsetsTopic})
		if err == nil {
			err = got[locate.OffsetsTopic].err
		}
		return got[locate.OffsetsTopic].values, err
	})
	if err != nil {
		return
	}
	topic := *r.m.Offsets // the Metadata may be shared
	topic.Config = map[string]string{}
	for _, k := range offsetsKeys {
		if v, ok := found[k]; ok {
			topic.Config[k] = v
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.facts.OffsetsTopic = &topic
}

// describeQuorum is the request key of DescribeQuorum (KIP-595).
const describeQuorum = 55

// version guesses the release of a broker from its ApiVersions; "" unknown. kraft is
// whether it offers DescribeQuorum, which brokers with ZooKeeper do not.
func version(ctx context.Context, b broker) (guess string, kraft bool) {
	req := kmsg.NewPtrApiVersionsRequest()
	req.ClientSoftwareName, req.ClientSoftwareVersion = "kgdiag", "0"
	resp, err := req.RequestWith(ctx, b)
	if err != nil || resp.ErrorCode != 0 {
		return "", false
	}
	return strings.TrimPrefix(release.Guess(resp), "v"), kversion.FromApiVersionsResponse(resp).HasKey(describeQuorum)
}

// configs are the settings of one resource, without secrets and unset values.
type configs struct {
	values map[string]string
	err    error
}

// describeConfigs asks one broker for the settings of resources of one type.
func describeConfigs(ctx context.Context, b broker, t kmsg.ConfigResourceType, names []string) (map[string]configs, error) {
	req := kmsg.NewPtrDescribeConfigsRequest()
	for _, name := range names {
		res := kmsg.NewDescribeConfigsRequestResource()
		res.ResourceType, res.ResourceName = t, name
		req.Resources = append(req.Resources, res)
	}
	resp, err := req.RequestWith(ctx, b)
	if err != nil {
		return nil, err
	}
	out := map[string]configs{}
	for _, res := range resp.Resources {
		c := configs{values: map[string]string{}, err: answerError(res.ErrorCode, res.ErrorMessage)}
		for _, e := range res.Configs {
			if e.Value != nil && !e.IsSensitive {
				c.values[e.Name] = *e.Value
			}
		}
		out[res.ResourceName] = c
	}
	return out, nil
}

// readGroupConfigs asks the coordinators for the group-level settings (Kafka 4.0)
// of groups whose timeouts the broker decides. A group without settings of its own
// answers with the effective defaults.
func (r *run) readGroupConfigs(ctx context.Context) map[string]map[string]string {
	byBroker := map[int32][]string{}
	for id, d := range r.drafts {
		if d.err == nil && d.group.Type != inspect.Classic && d.group.Coordinator != nil {
			byBroker[d.group.Coordinator.ID] = append(byBroker[d.group.Coordinator.ID], id)
		}
	}
	out := map[string]map[string]string{}
	var mu sync.Mutex
	each(slices.Collect(maps.Keys(byBroker)), func(b int32) {
		each(chunks(slices.Sorted(slices.Values(byBroker[b]))), func(ids []string) {
			got, err := describeConfigs(ctx, r.broker(r.m, b), kmsg.ConfigResourceTypeGroupConfig, ids)
			for _, id := range ids {
				c, ok := got[id]
				switch {
				case err != nil:
					c.err = err
				case !ok:
					c.err = errNotAnswered
				}
				if c.err != nil {
					r.groupConfigGap(id, c.err)
					continue
				}
				mu.Lock()
				out[id] = c.values
				mu.Unlock()
			}
		})
	})
	return out
}

// groupConfigGap says why group-level settings were not read. Brokers before 4.0 do
// not know the resource type and call the request invalid.
func (r *run) groupConfigGap(group string, err error) {
	n := need{fact: inspect.FactGroupConfig, what: "group-level timeouts", acl: "DESCRIBE_CONFIGS on Group " + group, version: "4.0"}
	if errors.Is(err, kerr.InvalidRequest) {
		err = kerr.UnsupportedVersion
	}
	r.gap(n.gap(group, err))
}

// limitKeys are the names of the bounds of one group type: group-level first, then
// the broker's default for it, then the broker's bounds.
type limitKeys struct{ session, heartbeat, brokerSession, brokerHeartbeat, min, max string }

// keysOf are the settings that bound the members of groups of type t (Kafka 4.1
// GroupCoordinatorConfig and GroupConfig).
func keysOf(t inspect.GroupType) limitKeys {
	if t == inspect.Classic || t == inspect.UnknownType {
		return limitKeys{min: "group.min.session.timeout.ms", max: "group.max.session.timeout.ms"}
	}
	name := string(t)
	return limitKeys{session: name + ".session.timeout.ms", heartbeat: name + ".heartbeat.interval.ms",
		brokerSession: "group." + name + ".session.timeout.ms", brokerHeartbeat: "group." + name + ".heartbeat.interval.ms",
		min: "group." + name + ".min.session.timeout.ms", max: "group." + name + ".max.session.timeout.ms"}
}

// applyLimits sets each group's Limits and, for the server-side protocols, the
// session and heartbeat of its members.
func (r *run) applyLimits(groups map[string]map[string]string) {
	brokers := map[int32]map[string]string{}
	for i := range r.facts.Brokers {
		brokers[r.facts.Brokers[i].ID] = r.facts.Brokers[i].Config
	}
	for id, d := range r.drafts {
		if d.err != nil || d.group.Coordinator == nil {
			continue
		}
		d.applyLimits(groups[id], brokers[d.group.Coordinator.ID], r.now())
	}
}

// applyLimits joins the group's own settings with its coordinator's.
func (d *draft) applyLimits(group, broker map[string]string, at inspect.Time) {
	keys, g := keysOf(d.group.Type), &d.group
	from := fmt.Sprintf("broker %d config", g.Coordinator.ID)
	g.Limits.SessionMin, g.Limits.SessionMax = millis(broker[keys.min]), millis(broker[keys.max])
	if broker != nil {
		g.Limits.From = from
		setSource(g, inspect.Source{Fact: inspect.FactBrokerConfig, From: from, At: at})
	}
	if keys.session == "" {
		return
	}
	g.Limits.Session, g.Limits.Heartbeat = millis(broker[keys.brokerSession]), millis(broker[keys.brokerHeartbeat])
	if group != nil {
		g.Limits.From = "group config"
		if s := millis(group[keys.session]); s != nil {
			g.Limits.Session = s
		}
		if h := millis(group[keys.heartbeat]); h != nil {
			g.Limits.Heartbeat = h
		}
		setSource(g, inspect.Source{Fact: inspect.FactGroupConfig, From: "group config", At: at})
	}
	for i := range g.Members {
		m := &g.Members[i]
		if m.Protocol == inspect.Classic {
			continue // its own session timeout is in its record
		}
		m.Session, m.Heartbeat = g.Limits.Session, g.Limits.Heartbeat
	}
}

// millis reads a setting in milliseconds; nil where it is missing or no number.
func millis(s string) *inspect.Millis {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > int64(1<<62)/int64(time.Millisecond) {
		return nil
	}
	return inspect.Ms(time.Duration(n) * time.Millisecond)
}

// loadTopics makes sure that the placement of topics is known.
func (r *run) loadTopics(ctx context.Context, names []string) {
	r.loading <- struct{}{} // whoever holds it ends with ctx
	defer func() { <-r.loading }()
	var missing []string
	for _, n := range names {
		if _, ok := r.topic(n); !ok {
			missing = append(missing, n)
		}
	}
	if len(missing) == 0 {
		return
	}
	m, err := r.Metadata(ctx, missing...)
	if err != nil {
		r.gap(need{fact: inspect.FactTopics, what: "partitions of the subscribed topics", acl: "DESCRIBE on the topics"}.gap("", err))
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	merged := maps.Clone(r.m.Topics)
	maps.Copy(merged, m.Topics)
	r.m.Topics = merged
}

// readTopics fills Case.Topics with the topics that groups subscribe to or own.
func (r *run) readTopics(ctx context.Context) {
	wanted := map[string]bool{}
	for _, d := range r.drafts {
		for i := range d.group.Members {
			for _, t := range d.group.Members[i].Topics {
				wanted[t] = true
			}
			for _, a := range d.group.Members[i].Assignment {
				wanted[a.Topic] = true
			}
		}
	}
	names := slices.Sorted(maps.Keys(wanted))
	r.loadTopics(ctx, names)
	for _, n := range names {
		t, ok := r.topic(n)
		topic := inspect.Topic{Name: n, Partitions: -1}
		switch {
		case ok && t.Err == nil:
			topic.Partitions = int32(len(t.Partitions))
		case ok && errors.Is(t.Err, kerr.UnknownTopicOrPartition):
			topic.Partitions = 0 // subscribed to, but not there (yet)
		case ok:
			r.gap(need{fact: inspect.FactTopics, what: "partitions of topic " + n, acl: "DESCRIBE on Topic " + n}.gap("", t.Err))
		}
		r.facts.Topics = append(r.facts.Topics, topic)
	}
}

// topic is a topic that was loaded.
func (r *run) topic(name string) (TopicMeta, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t, ok := r.m.Topics[name]
	return t, ok
}
