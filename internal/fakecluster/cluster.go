package fakecluster

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"github.com/kgdiag/kgdiag/locate"
)

// options are the settings of a cluster; the zero values are replaced by New.
type options struct {
	brokers           int
	ports             []int
	offsetsPartitions int32
	virgin            bool
	enclosed          bool
	topics            map[string]int32
	clusterID         string
	tls               *tls.Config
	advertise         func(broker int32) (string, int32)
	users             []user
	config            map[string]string
	skew              func(broker int32) time.Duration
	dialect           *dialect // nil: Apache Kafka's
	extra             []kfake.Opt
}

type user struct {
	mechanism, name, password string
	acls                      []kfake.ACL
	super                     bool
}

// Option changes a setting of New.
type Option func(*options)

// Brokers sets the number of brokers, 3 without it. Their ids start at 0.
func Brokers(n int) Option { return func(o *options) { o.brokers = n } }

// Ports makes one broker on each port, on 127.0.0.1.
func Ports(ports ...int) Option { return func(o *options) { o.ports = ports } }

// OffsetsPartitions sets the partitions of __consumer_offsets, 50 without it.
func OffsetsPartitions(n int32) Option { return func(o *options) { o.offsetsPartitions = n } }

// Enclosed listens nowhere: outsiders come in by Dial alone, so that the cluster can
// live in a bubble of testing/synctest.
func Enclosed() Option { return func(o *options) { o.enclosed = true } }

// Virgin starts without __consumer_offsets. As on a real broker, FindCoordinator for
// a group creates it, and so does the first member.
func Virgin() Option { return func(o *options) { o.virgin = true } }

// Topic creates a topic with n partitions at the start.
func Topic(name string, n int32) Option { return func(o *options) { o.topics[name] = n } }

// ClusterID sets the id in Metadata. One of Redpanda (redpanda.…) places groups as it does.
func ClusterID(id string) Option { return func(o *options) { o.clusterID = id } }

// TLS serves the TCP listeners with TLS.
func TLS(c *tls.Config) Option { return func(o *options) { o.tls = c } }

// Advertise sets the address by which brokers call themselves towards outsiders, as
// advertised.listeners does. Members are not affected.
func Advertise(address func(broker int32) (host string, port int32)) Option {
	return func(o *options) { o.advertise = address }
}

// Superuser adds a SASL user (mechanism PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512) whom
// no ACL binds. With any user, connections must authenticate.
func Superuser(mechanism, name, password string) Option {
	return func(o *options) {
		o.users = append(o.users, user{mechanism: mechanism, name: name, password: password, super: true})
	}
}

// User adds a SASL user who may do what the ACLs allow and nothing else.
func User(mechanism, name, password string, acls ...kfake.ACL) Option {
	return func(o *options) {
		o.users = append(o.users, user{mechanism: mechanism, name: name, password: password, acls: acls})
	}
}

// BrokerConfig sets a dynamic broker setting, for example
// group.min.session.timeout.ms, whose default of 6000 is too slow for most tests.
func BrokerConfig(key, value string) Option { return func(o *options) { o.config[key] = value } }

// MinSession sets group.min.session.timeout.ms.
func MinSession(d time.Duration) Option {
	return BrokerConfig("group.min.session.timeout.ms", strconv.FormatInt(d.Milliseconds(), 10))
}

// Skew sets the clocks of brokers ahead, or behind: a coordinator stamps its records by its
// own.
func Skew(of func(broker int32) time.Duration) Option { return func(o *options) { o.skew = of } }

// Kfake passes options to kfake as they are.
func Kfake(opts ...kfake.Opt) Option {
	return func(o *options) { o.extra = append(o.extra, opts...) }
}

// Cluster is a running simulated cluster.
type Cluster struct {
	opts   options
	kf     *kfake.Cluster
	nw     *network
	mirror *mirror
	client *kgo.Client // privileged: writes the offsets topic
	pass   string      // of the privileged user, where SASL is on

	stop chan struct{}
	wg   sync.WaitGroup

	// adminMu is held for reading around every call into kfake's own API, which
	// would never return after Close.
	adminMu sync.RWMutex
	closed  bool

	offsetsMu    sync.Mutex
	offsetsExist bool

	alignMu sync.Mutex

	membersMu sync.Mutex
	members   map[*Member]struct{}
	feeds     []context.CancelFunc

	denyMu sync.Mutex
	deny   map[string]*kerr.Error // by group
}

// New starts a cluster. Close ends it.
func New(opts ...Option) (*Cluster, error) {
	o := options{brokers: 3, offsetsPartitions: 50, topics: map[string]int32{}, clusterID: "kgdiag-simulated-cluste", config: map[string]string{}}
	for _, opt := range opts {
		opt(&o)
	}
	c := &Cluster{opts: o, nw: &network{tls: o.tls, enclosed: o.enclosed, dialect: o.dialect}, pass: rand.Text(), stop: make(chan struct{}),
		members: map[*Member]struct{}{}, deny: map[string]*kerr.Error{}}
	c.mirror = newMirror(c)
	c.nw.hook = c.mirror
	var err error
	if c.kf, err = kfake.NewCluster(c.kfakeOpts()...); err != nil {
		return nil, fmt.Errorf("simulated cluster: %w", err)
	}
	if err := c.prepare(); err != nil {
		c.Close()
		return nil, fmt.Errorf("simulated cluster: %w", err)
	}
	c.wg.Go(c.poll)
	return c, nil
}

// privilegedUser is the mirror's own name where SASL is on.
const privilegedUser = "simulated-coordinator"

func (c *Cluster) kfakeOpts() []kfake.Opt {
	o := c.opts
	opts := []kfake.Opt{kfake.ListenFn(c.nw.listen), kfake.ClusterID(o.clusterID), kfake.BrokerConfigs(o.config)}
	if len(o.ports) > 0 {
		opts = append(opts, kfake.Ports(o.ports...))
	} else {
		opts = append(opts, kfake.NumBrokers(o.brokers))
	}
	for name, n := range o.topics {
		opts = append(opts, kfake.SeedTopics(n, name))
	}
	if len(o.users) > 0 {
		opts = append(opts, kfake.EnableSASL(), kfake.Superuser("PLAIN", privilegedUser, c.pass))
	}
	for _, u := range o.users {
		if u.super {
			opts = append(opts, kfake.Superuser(u.mechanism, u.name, u.password))
			continue
		}
		opts = append(opts, kfake.EnableACLs(), kfake.User(u.mechanism, u.name, u.password, u.acls...))
	}
	return append(opts, o.extra...)
}

// prepare connects the mirror and makes the offsets topic.
func (c *Cluster) prepare() error {
	opts := append(c.workloadOpts("127.0.0.1", true),
		kgo.ClientID("simulated-coordinator"),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.DisableIdempotentWrite(), // coordinators append without a producer id
		kgo.ProducerBatchCompression(kgo.NoCompression()),
		kgo.ProducerLinger(0),
		kgo.MetadataMinAge(10*time.Millisecond), // partitions move: see align
	)
	var err error
	if c.client, err = kgo.NewClient(opts...); err != nil {
		return err
	}
	if c.opts.virgin {
		return nil
	}
	return c.ensureOffsetsTopic()
}

// workloadOpts are what every client of the simulated workload needs.
func (c *Cluster) workloadOpts(host string, privileged bool) []kgo.Opt {
	opts := []kgo.Opt{
		kgo.SeedBrokers(c.Addrs()...),
		kgo.Dialer(func(ctx context.Context, _, addr string) (net.Conn, error) {
			return c.nw.dial(ctx, addr, host, privileged)
		}),
	}
	if len(c.opts.users) > 0 {
		opts = append(opts, kgo.SASL(plain.Auth{User: privilegedUser, Pass: c.pass}.AsMechanism()))
	}
	return opts
}

// ensureOffsetsTopic creates __consumer_offsets with the settings that a broker
// gives it (GroupCoordinatorService.groupMetadataTopicConfigs).
func (c *Cluster) ensureOffsetsTopic() error {
	c.offsetsMu.Lock()
	defer c.offsetsMu.Unlock()
	if c.offsetsExist {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), produceTimeout)
	defer cancel()
	req := kmsg.NewPtrCreateTopicsRequest()
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = locate.OffsetsTopic, c.opts.offsetsPartitions, -1
	for k, v := range map[string]string{"cleanup.policy": "compact", "segment.bytes": "104857600",
		"compression.type": "producer", "kfake.is_internal": "true"} {
		cfg := kmsg.NewCreateTopicsRequestTopicConfig()
		cfg.Name, cfg.Value = k, kmsg.StringPtr(v)
		t.Configs = append(t.Configs, cfg)
	}
	req.Topics = append(req.Topics, t)
	resp, err := req.RequestWith(ctx, c.client)
	if err != nil {
		return fmt.Errorf("create %s: %w", locate.OffsetsTopic, err)
	}
	for _, t := range resp.Topics {
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil && !errors.Is(err, kerr.TopicAlreadyExists) {
			return fmt.Errorf("create %s: %w", locate.OffsetsTopic, err)
		}
	}
	c.offsetsExist = true
	return nil
}

// Addrs are the host:port of the brokers, in the order of their ids.
func (c *Cluster) Addrs() []string {
	c.nw.mu.Lock()
	defer c.nw.mu.Unlock()
	addrs := make([]string, 0, len(c.nw.nodes))
	for _, n := range c.nw.nodes {
		addrs = append(addrs, n.addr)
	}
	return addrs
}

// Bootstrap is Addrs as bootstrap.servers takes them.
func (c *Cluster) Bootstrap() string { return strings.Join(c.Addrs(), ",") }

// Kfake is the cluster below, for faults and controls that this package has no word
// for. Never call it after Close: its methods would not return.
func (c *Cluster) Kfake() *kfake.Cluster { return c.kf }

// Err is the first record that could not be written as the group's truth demands;
// tests check it at their end.
func (c *Cluster) Err() error {
	c.mirror.mu.Lock()
	defer c.mirror.mu.Unlock()
	return c.mirror.err
}

// Close kills the members and ends the cluster. It may be called twice.
func (c *Cluster) Close() {
	c.adminMu.Lock()
	if c.closed {
		c.adminMu.Unlock()
		return
	}
	c.closed = true
	c.adminMu.Unlock()
	close(c.stop)

	c.membersMu.Lock()
	for _, cancel := range c.feeds {
		cancel()
	}
	ms := make([]*Member, 0, len(c.members))
	for m := range c.members {
		ms = append(ms, m)
	}
	c.membersMu.Unlock()
	for _, m := range ms {
		m.Kill()
	}
	c.nw.close()
	c.wg.Wait()
	if c.client != nil {
		c.client.Close()
	}
	c.kf.Close()
}

func (c *Cluster) isClosed() bool {
	c.adminMu.RLock()
	defer c.adminMu.RUnlock()
	return c.closed
}

// admin runs fn, which calls into kfake, unless the cluster is closed.
func (c *Cluster) admin(fn func()) bool {
	c.adminMu.RLock()
	defer c.adminMu.RUnlock()
	if c.closed {
		return false
	}
	fn()
	return true
}

func (c *Cluster) groupInfo(id string) (info *kfake.GroupInfo, ok bool) {
	ok = c.admin(func() { info = c.kf.GroupInfo(id) })
	return info, ok
}

func (c *Cluster) coordinatorFor(id string) (node int32, ok bool) {
	ok = c.admin(func() { node = c.kf.CoordinatorFor(id) })
	return node, ok
}

// poll looks at all groups until the cluster is closed.
func (c *Cluster) poll() {
	t := time.NewTicker(pollEvery)
	defer t.Stop()
	for {
		select {
		case <-c.stop:
			return
		case <-t.C:
			c.mirror.refreshAll()
		}
	}
}

// errCollision says that one partition cannot follow two coordinators.
var errCollision = errors.New("shares its offsets partition with a group of another simulated coordinator")

// Align makes leader and coordinator agree for groups before their first member, as
// they always do on a real cluster. It fails where two groups share an offsets
// partition and kfake coordinates them on different brokers: choose other ids.
func (c *Cluster) Align(groups ...string) error {
	for _, g := range groups {
		if err := c.align(g); err != nil {
			return err
		}
		p, err := locate.PartitionIn(c.opts.clusterID, g, c.opts.offsetsPartitions)
		if err != nil {
			return err
		}
		leader, want := int32(-1), int32(-1)
		c.admin(func() { leader, want = c.kf.LeaderFor(locate.OffsetsTopic, p), c.kf.CoordinatorFor(g) })
		if leader != want {
			c.alignMu.Lock()
			owner := c.mirror.owner[p]
			c.alignMu.Unlock()
			return fmt.Errorf("group %q: %w: %q", g, errCollision, owner)
		}
	}
	return nil
}

// align moves the group's offsets partition to its coordinator unless the partition
// already follows another group.
func (c *Cluster) align(group string) error {
	if group == "" {
		return nil
	}
	if err := c.ensureOffsetsTopic(); err != nil {
		return err
	}
	p, err := locate.PartitionIn(c.opts.clusterID, group, c.opts.offsetsPartitions)
	if err != nil {
		return err
	}
	c.alignMu.Lock()
	defer c.alignMu.Unlock()
	if _, taken := c.mirror.owner[p]; taken {
		return nil
	}
	c.mirror.owner[p] = group
	c.admin(func() {
		if want := c.kf.CoordinatorFor(group); c.kf.LeaderFor(locate.OffsetsTopic, p) != want {
			err = c.kf.MoveTopicPartition(locate.OffsetsTopic, p, want)
		}
	})
	return err
}

// Misplace moves the group's offsets partition to a broker that does not coordinate
// it: leader and coordinator disagree, as while an election is under way, or where
// partitions were added to __consumer_offsets without a restart of all brokers.
func (c *Cluster) Misplace(group string) error {
	if err := c.Align(group); err != nil {
		return err
	}
	p, err := locate.PartitionIn(c.opts.clusterID, group, c.opts.offsetsPartitions)
	if err != nil {
		return err
	}
	c.admin(func() {
		other := (c.kf.CoordinatorFor(group) + 1) % int32(len(c.Addrs()))
		err = c.kf.MoveTopicPartition(locate.OffsetsTopic, p, other)
	})
	return err
}

// maxRehash bounds the tries of MoveCoordinator.
const maxRehash = 1000

// MoveCoordinator gives the group another coordinator, and its offsets partition
// another leader. Other groups may move too; all stay aligned.
func (c *Cluster) MoveCoordinator(group string) error {
	before, _ := c.coordinatorFor(group)
	for range maxRehash {
		c.admin(c.kf.RehashCoordinators)
		if now, ok := c.coordinatorFor(group); !ok || now != before {
			return c.realign()
		}
	}
	return fmt.Errorf("group %q: a cluster of one broker has one coordinator", group)
}

func (c *Cluster) realign() error {
	c.alignMu.Lock()
	defer c.alignMu.Unlock()
	var err error
	c.admin(func() {
		for p, g := range c.mirror.owner {
			if want := c.kf.CoordinatorFor(g); c.kf.LeaderFor(locate.OffsetsTopic, p) != want {
				err = errors.Join(err, c.kf.MoveTopicPartition(locate.OffsetsTopic, p, want))
			}
		}
	})
	return err
}

// CreateTopic creates a topic.
func (c *Cluster) CreateTopic(ctx context.Context, name string, partitions int32) error {
	r, err := kadm.NewClient(c.client).CreateTopic(ctx, partitions, -1, nil, name)
	if err != nil {
		return err
	}
	return r.Err
}

// AddPartitions grows a topic by n partitions.
func (c *Cluster) AddPartitions(ctx context.Context, name string, n int) error {
	rs, err := kadm.NewClient(c.client).CreatePartitions(ctx, n, name)
	if err != nil {
		return err
	}
	return rs.Error()
}

// DeleteGroup deletes an empty group, which writes its tombstones.
func (c *Cluster) DeleteGroup(ctx context.Context, group string) error {
	// Through an outsider's connection: the mirror does not watch its own.
	cl, err := kgo.NewClient(c.workloadOpts("127.0.0.1", false)...)
	if err != nil {
		return err
	}
	defer cl.Close()
	r, err := kadm.NewClient(cl).DeleteGroup(ctx, group)
	if err != nil {
		return err
	}
	return r.Err
}

// Topics lists the topics that exist, internal ones included.
func (c *Cluster) Topics(ctx context.Context) ([]string, error) {
	// kadm may answer from a cache.
	req := kmsg.NewPtrMetadataRequest()
	resp, err := req.RequestWith(ctx, c.client)
	if err != nil {
		return nil, fmt.Errorf("topics: %w", err)
	}
	names := make([]string, 0, len(resp.Topics))
	for _, t := range resp.Topics {
		if t.Topic != nil {
			names = append(names, *t.Topic)
		}
	}
	slices.Sort(names)
	return names, nil
}

// WaitStable waits until the group is Stable with n members.
func (c *Cluster) WaitStable(ctx context.Context, group string, n int) error {
	return c.wait(ctx, group, func(i *kfake.GroupInfo) bool {
		return i != nil && i.State == "Stable" && len(i.Members) == n
	})
}

// WaitEmpty waits until the group has no members.
func (c *Cluster) WaitEmpty(ctx context.Context, group string) error {
	return c.wait(ctx, group, func(i *kfake.GroupInfo) bool { return i != nil && len(i.Members) == 0 })
}

// WaitCommitted waits until the group has committed at least offset on a partition.
func (c *Cluster) WaitCommitted(ctx context.Context, group, topic string, partition int32, offset int64) error {
	return c.wait(ctx, group, func(i *kfake.GroupInfo) bool {
		return i != nil && i.Commits[topic][partition].Offset >= offset
	})
}

func (c *Cluster) wait(ctx context.Context, group string, fn func(*kfake.GroupInfo) bool) error {
	t := time.NewTicker(20 * time.Millisecond)
	defer t.Stop()
	for {
		info, ok := c.groupInfo(group)
		switch {
		case !ok:
			return fmt.Errorf("group %q: the cluster is closed", group)
		case fn(info):
			return nil
		}
		select {
		case <-ctx.Done():
			state := "does not exist"
			if info != nil {
				state = fmt.Sprintf("is %s with %d members", info.State, len(info.Members))
			}
			return fmt.Errorf("group %q %s: %w", group, state, ctx.Err())
		case <-t.C:
		}
	}
}
