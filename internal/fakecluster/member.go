package fakecluster

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// MemberConfig says how a simulated consumer behaves. Group and Topics must be set.
type MemberConfig struct {
	Group      string
	Topics     []string
	Pattern    bool   // Topics are regular expressions
	ClientID   string // "consumer" without it
	InstanceID string // group.instance.id; "" is a dynamic member
	Host       string // the address that the brokers see; 127.0.0.1 without it
	Server     bool   // the KIP-848 protocol
	Assignor   string // range (default), roundrobin, sticky or cooperative-sticky

	Session   time.Duration // 45 s without it
	Rebalance time.Duration // 5 min without it, as a Java client sends max.poll.interval.ms
	Heartbeat time.Duration // a third of the session, at most 3 s, without it

	// RecordTime is the work on one record, MaxRecords how many a poll returns (500).
	RecordTime time.Duration
	MaxRecords int
	// MaxPoll imitates the watchdog of the Java client: a member that does not poll
	// for so long leaves the group, and joins again when it polls next. Clients like
	// franz-go have none: 0.
	MaxPoll time.Duration
	// NoCommit leaves offsets alone.
	NoCommit bool
	// Event is told what the member does to itself; nil tells nobody.
	Event func(m *Member, e Event)
}

// Event is something that a member did to itself.
type Event string

// The events.
const (
	EventLeft   Event = "left: no poll within the poll interval"
	EventReturn Event = "polls again and rejoins"
)

// Member is a running consumer.
type Member struct {
	cfg MemberConfig
	c   *Cluster
	net *memberNet

	ctx    context.Context // ends with the member's work
	cancel context.CancelFunc
	life   context.Context // ends with a kill: the client may not even say goodbye
	kill   context.CancelFunc
	done   chan struct{}

	mu     sync.Mutex
	stall  time.Duration // of the next batch
	client *kgo.Client
}

// Join starts a member. It does not wait for the group: see WaitStable.
func (c *Cluster) Join(cfg MemberConfig) (*Member, error) {
	cfg = cfg.withDefaults()
	if err := c.Align(cfg.Group); err != nil {
		return nil, err
	}
	m := &Member{cfg: cfg, c: c, net: newMemberNet(c.nw, cfg.Host), done: make(chan struct{})}
	m.life, m.kill = context.WithCancel(context.Background())
	m.ctx, m.cancel = context.WithCancel(m.life)
	if err := m.connect(); err != nil {
		return nil, fmt.Errorf("member %s of %q: %w", cfg.ClientID, cfg.Group, err)
	}
	c.membersMu.Lock()
	c.members[m] = struct{}{}
	c.membersMu.Unlock()
	go m.run()
	return m, nil
}

func (cfg MemberConfig) withDefaults() MemberConfig {
	def := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	if cfg.ClientID == "" {
		cfg.ClientID = "consumer"
	}
	if cfg.Host == "" {
		cfg.Host = "127.0.0.1"
	}
	if cfg.MaxRecords == 0 {
		cfg.MaxRecords = 500
	}
	def(&cfg.Session, 45*time.Second)
	def(&cfg.Rebalance, 5*time.Minute)
	def(&cfg.Heartbeat, min(3*time.Second, cfg.Session/3))
	return cfg
}

func (m *Member) connect() error {
	cfg := m.cfg
	opts := append(m.c.workloadOpts(cfg.Host, false),
		kgo.Dialer(m.net.dial),
		kgo.WithContext(m.life),
		kgo.ClientID(cfg.ClientID),
		kgo.ConsumerGroup(cfg.Group),
		kgo.ConsumeTopics(cfg.Topics...),
		kgo.SessionTimeout(cfg.Session),
		kgo.RebalanceTimeout(cfg.Rebalance),
		kgo.HeartbeatInterval(cfg.Heartbeat),
		kgo.BlockRebalanceOnPoll(), // as Java: a rebalance waits for the next poll
		kgo.DisableAutoCommit(),
		kgo.FetchMaxWait(250*time.Millisecond),
		kgo.MetadataMinAge(50*time.Millisecond),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	)
	if cfg.Pattern {
		opts = append(opts, kgo.ConsumeRegex())
	}
	if cfg.InstanceID != "" {
		opts = append(opts, kgo.InstanceID(cfg.InstanceID))
	}
	balancer, err := balancer(cfg.Assignor, cfg.Server)
	if err != nil {
		return err
	}
	opts = append(opts, kgo.Balancers(balancer))
	if cfg.Server {
		opts = append(opts, kgo.ServerSideBalancer())
	}
	cl, err := kgo.NewClient(opts...)
	if err != nil {
		return err
	}
	m.mu.Lock()
	m.client = cl
	m.mu.Unlock()
	return nil
}

func balancer(name string, server bool) (kgo.GroupBalancer, error) {
	switch name {
	case "range":
		return kgo.RangeBalancer(), nil
	case "":
		if server {
			return kgo.StickyBalancer(), nil // asks the broker for "uniform"
		}
		return kgo.RangeBalancer(), nil
	case "uniform":
		return kgo.StickyBalancer(), nil
	case "roundrobin":
		return kgo.RoundRobinBalancer(), nil
	case "sticky":
		return kgo.StickyBalancer(), nil
	case "cooperative-sticky":
		return kgo.CooperativeStickyBalancer(), nil
	}
	return nil, fmt.Errorf("assignor %q: want range, roundrobin, sticky, cooperative-sticky or uniform", name)
}

// Stall makes the work on the next batch take d longer.
func (m *Member) Stall(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stall += d
}

// Freeze stops the member's traffic without closing anything, as SIGSTOP or a long
// pause of its machine does; Thaw lets it go on.
func (m *Member) Freeze() { m.net.gate.shut() }

// Thaw ends a Freeze.
func (m *Member) Thaw() { m.net.gate.unshut() }

// Kill ends the member as SIGKILL does: its connections close and no LeaveGroup is
// sent. The group notices when its session expires.
func (m *Member) Kill() { m.end(false) }

// Leave ends the member cleanly: dynamic members send LeaveGroup, static ones do
// not (KIP-345).
func (m *Member) Leave() { m.end(true) }

// ClientID is the member's client id.
func (m *Member) ClientID() string { return m.cfg.ClientID }

func (m *Member) end(politely bool) {
	if !politely {
		m.net.kill()
		m.kill()
	}
	m.cancel()
	<-m.done
	m.kill()
	m.c.membersMu.Lock()
	delete(m.c.members, m)
	m.c.membersMu.Unlock()
}

// pollWait is how long a poll waits for records, as consumers commonly write it.
const pollWait = time.Second

// run polls, works and commits until the member ends.
func (m *Member) run() {
	defer close(m.done)
	defer m.disconnect()
	for m.ctx.Err() == nil {
		m.mu.Lock()
		cl := m.client
		m.mu.Unlock()
		poll, cancel := context.WithTimeout(m.ctx, pollWait)
		fs := cl.PollRecords(poll, m.cfg.MaxRecords)
		cancel()
		if fs.IsClientClosed() {
			return
		}
		if !m.work(cl, fs.NumRecords()) {
			continue
		}
		// What an earlier commit could not deliver, because the coordinator had just
		// moved, is tried again, as the auto-commit of Java does.
		if !m.cfg.NoCommit && len(cl.UncommittedOffsets()) > 0 {
			ctx, cancel := context.WithTimeout(m.ctx, m.cfg.Session)
			// A failed commit is otherwise a matter for the next owner of the
			// partitions, as with CommitFailedException in Java.
			_ = cl.CommitUncommittedOffsets(ctx)
			cancel()
		}
		cl.AllowRebalance()
	}
}

// work takes as long as n records take. It returns false if the watchdog has taken
// the member out of the group meanwhile.
func (m *Member) work(cl *kgo.Client, n int) bool {
	m.mu.Lock()
	d := time.Duration(n) * m.cfg.RecordTime
	if n > 0 {
		d += m.stall
		m.stall = 0
	}
	m.mu.Unlock()
	if m.cfg.MaxPoll == 0 || d <= m.cfg.MaxPoll {
		m.sleep(d)
		return m.ctx.Err() == nil
	}
	m.sleep(m.cfg.MaxPoll)
	if m.ctx.Err() != nil {
		return false
	}
	m.tell(EventLeft)
	cl.CloseAllowingRebalance() // sends LeaveGroup
	m.sleep(d - m.cfg.MaxPoll)
	if m.ctx.Err() != nil {
		return false
	}
	m.tell(EventReturn)
	// An error can only be a wrong option, and the first connect had the same.
	_ = m.connect()
	return false
}

func (m *Member) tell(e Event) {
	if m.cfg.Event != nil {
		m.cfg.Event(m, e)
	}
}

// sleep waits for d of work, which a frozen process does not do either.
func (m *Member) sleep(d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		m.net.gate.wait(m.ctx.Done())
	case <-m.ctx.Done():
	}
}

func (m *Member) disconnect() {
	m.mu.Lock()
	cl := m.client
	m.mu.Unlock()
	cl.CloseAllowingRebalance()
	m.net.kill()
}

// memberNet are the connections of one member.
type memberNet struct {
	nw   *network
	host string
	gate *gate
	dead chan struct{}
	once sync.Once

	mu    sync.Mutex
	conns []net.Conn
}

func newMemberNet(nw *network, host string) *memberNet {
	return &memberNet{nw: nw, host: host, gate: newGate(), dead: make(chan struct{})}
}

func (n *memberNet) dial(ctx context.Context, _, addr string) (net.Conn, error) {
	select {
	case <-n.dead:
		return nil, net.ErrClosed
	default:
	}
	raw, err := n.nw.dial(ctx, addr, n.host, false)
	if err != nil {
		return nil, err
	}
	c := &memberConn{Conn: raw, n: n}
	n.mu.Lock()
	n.conns = append(n.conns, raw)
	n.mu.Unlock()
	return c, nil
}

// kill closes all connections and refuses new ones.
func (n *memberNet) kill() {
	n.once.Do(func() { close(n.dead) })
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.conns {
		c.Close()
	}
	n.conns = nil
}

// memberConn holds the traffic back while the member is frozen.
type memberConn struct {
	net.Conn
	n *memberNet
}

func (c *memberConn) Write(b []byte) (int, error) {
	if !c.n.gate.wait(c.n.dead) {
		return 0, net.ErrClosed
	}
	return c.Conn.Write(b)
}

func (c *memberConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if !c.n.gate.wait(c.n.dead) {
		return 0, net.ErrClosed
	}
	return n, err
}

// Feed writes a record to each partition of the topic every interval, until the
// cluster is closed.
func (c *Cluster) Feed(topic string, partitions int32, every time.Duration) error {
	cl, err := kgo.NewClient(append(c.workloadOpts("127.0.0.1", false),
		kgo.ClientID("producer"), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0),
		kgo.MetadataMinAge(50*time.Millisecond))...)
	if err != nil {
		return fmt.Errorf("feed %s: %w", topic, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.membersMu.Lock()
	c.feeds = append(c.feeds, cancel)
	c.membersMu.Unlock()
	c.wg.Go(func() {
		defer cl.Close()
		t := time.NewTicker(every)
		defer t.Stop()
		for n := 0; ; n++ {
			for p := range partitions {
				cl.Produce(ctx, &kgo.Record{Topic: topic, Partition: p, Value: []byte(strconv.Itoa(n))}, nil)
			}
			select {
			case <-ctx.Done():
				return
			case <-t.C:
			}
		}
	})
	return nil
}

// Produce writes n records to one partition and waits for them.
func (c *Cluster) Produce(ctx context.Context, topic string, partition int32, n int) error {
	rs := make([]*kgo.Record, n)
	for i := range rs {
		rs[i] = &kgo.Record{Topic: topic, Partition: partition, Value: []byte(strconv.Itoa(i))}
	}
	return c.client.ProduceSync(ctx, rs...).FirstErr()
}
