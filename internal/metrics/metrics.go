package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/watch"
	"github.com/kgdiag/kgdiag/internal/render"
)

// MostGroups is of how many groups there are time series.
const MostGroups = 1000

// Metrics is what a watch has seen so far. Events and scrapes may come at the same time.
type Metrics struct {
	now      func() time.Time
	registry *prometheus.Registry

	mu      sync.Mutex
	settler watch.Settler
	groups  map[string]*group // by id
	without map[string]bool   // groups beyond the bound

	rebalances, evictions                            *prometheus.CounterVec
	readable, members, generation, risk, idle, state *prometheus.GaugeVec
	left                                             prometheus.Gauge
}

// group is what is known of one group.
type group struct {
	label      string
	state      string         // "" unknown
	shown      string         // the state that has a sample
	members    *int           // nil unknown
	generation *int32         // nil unknown
	silent     map[string]int // partitions of each silent member, by member id
	risk       map[string]bool
}

// New makes metrics for a watch that begins; version is that of kgdiag.
func New(info *watch.Info, version string, now func() time.Time) *Metrics {
	m := &Metrics{now: now, registry: prometheus.NewPedanticRegistry(), groups: map[string]*group{}, without: map[string]bool{}}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "kgdiag", Name: name, Help: help}, labels)
		m.registry.MustRegister(v)
		return v
	}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "kgdiag", Name: name, Help: help}, labels)
		m.registry.MustRegister(v)
		return v
	}
	m.rebalances = counter("rebalances_total", "Rebalances since the watch began, by the cause as it was settled: at once where it is stated or very likely, else after a minute.", "group", "cause")
	m.evictions = counter("evictions_total", "Rebalances since the watch began in which a member was evicted or left because it was too slow.", "group")
	m.readable = gauge("group_readable", "1 while the coordinator answers for the group. Of a group that is not readable there are no other gauges.", "group")
	m.members = gauge("group_members", "Members of the group.", "group")
	m.generation = gauge("group_generation", "Generation of a classic group, group epoch of others.", "group")
	m.state = gauge("group_state", "1 for the state that the group is in, as Kafka spells it.", "group", "state")
	m.risk = gauge("members_at_risk", "Members that have been silent for half of max.poll.interval.ms while their lag grows.", "group")
	m.idle = gauge("partitions_not_consumed", "Partitions of members that commit nothing while their lag grows.", "group")
	log := gauge("log_readable", "1 if __consumer_offsets was readable when the watch began. At 0 fewer causes are known, and less surely.")
	m.left = prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "kgdiag", Name: "groups_without_metrics", Help: "Groups that are watched and have no time series, because there are too many."})
	m.registry.MustRegister(m.left)
	gauge("build_info", "Version of kgdiag.", "version").WithLabelValues(valid(version)).Set(1)
	if log.WithLabelValues().Set(0); info.Log {
		log.WithLabelValues().Set(1)
	}
	if info.Case != nil {
		for i := range info.Case.Groups {
			m.begin(&info.Case.Groups[i])
		}
	}
	return m
}

// begin takes a group as it was when the watch began.
func (m *Metrics) begin(g *inspect.Group) {
	x := m.group(g.ID)
	if x == nil || g.State == "" {
		return
	}
	n := len(g.Members)
	x.state, x.members, x.generation = valid(g.State), &n, g.Generation
	if g.Epoch != nil {
		x.generation = g.Epoch
	}
	m.publish(x)
}

// group is what is kept of a group; nil for one beyond the bound.
func (m *Metrics) group(id string) *group {
	x := m.groups[id]
	switch {
	case x != nil || id == "":
	case len(m.groups) >= MostGroups:
		m.without[id] = true
		m.left.Set(float64(len(m.without)))
	default:
		x = newGroup(valid(id))
		m.groups[id] = x
		m.evictions.WithLabelValues(x.label) // the first one is then seen to be one more
	}
	return x
}

func newGroup(label string) *group {
	return &group{label: label, silent: map[string]int{}, risk: map[string]bool{}}
}

// valid is a text as a label may hold it, harmless also for a terminal that shows the
// metrics: the format itself escapes line ends and quotes only.
func valid(s string) string { return render.Clean(s) }

// Event takes an event of the watch.
func (m *Metrics) Event(e *watch.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.settler.Add(e, m.now())
	if e.Past {
		return
	}
	ids := e.Groups
	if e.Group != "" {
		ids = []string{e.Group}
	}
	for _, id := range ids {
		if x := m.group(id); x != nil {
			m.take(x, e)
		}
	}
}

// take is Event for one group.
func (m *Metrics) take(x *group, e *watch.Event) {
	member := ""
	if e.Who != nil {
		member = e.Who.MemberID
	}
	switch e.Type {
	case watch.SourceLost:
		if e.Source == watch.FromPoll {
			m.drop(x)
			m.readable.WithLabelValues(x.label).Set(0)
		}
		return
	case watch.GroupDeleted:
		m.drop(x)
		m.readable.DeleteLabelValues(x.label)
		*x = *newGroup(x.label)
		return
	case watch.GroupWaiting, watch.CauseFound, watch.CauseSoFar:
		return // it does not exist yet; or it is about a time that has passed
	case watch.RebalanceDone:
		x.silent, x.risk = map[string]int{}, map[string]bool{} // whoever stays silent comes again
	case watch.MemberSilent:
		x.silent[member] = e.Partitions
	case watch.MemberAtRisk:
		x.risk[member] = true
	case watch.MemberSpoke:
		delete(x.silent, member)
		delete(x.risk, member)
	}
	if e.State != "" {
		x.state = valid(e.State)
	}
	if e.Members != nil {
		x.members = e.Members
	}
	if e.Generation != nil {
		x.generation = e.Generation
	}
	m.publish(x)
}

// publish shows what is known of a group. A scrape may come in between: nothing is taken
// away that is set again.
func (m *Metrics) publish(x *group) {
	if x.shown != x.state {
		m.state.DeleteLabelValues(x.label, x.shown)
	}
	m.readable.WithLabelValues(x.label).Set(1)
	if x.shown = x.state; x.state != "" {
		m.state.WithLabelValues(x.label, x.state).Set(1)
	}
	if x.members != nil {
		m.members.WithLabelValues(x.label).Set(float64(*x.members))
	}
	if x.generation != nil {
		m.generation.WithLabelValues(x.label).Set(float64(*x.generation))
	}
	idle := 0
	for _, n := range x.silent {
		idle += n
	}
	m.idle.WithLabelValues(x.label).Set(float64(idle))
	m.risk.WithLabelValues(x.label).Set(float64(len(x.risk)))
}

// drop takes the gauges of a group away.
func (m *Metrics) drop(x *group) {
	for _, v := range []*prometheus.GaugeVec{m.members, m.generation, m.risk, m.idle} {
		v.DeleteLabelValues(x.label)
	}
	m.state.DeleteLabelValues(x.label, x.shown)
}

// settle counts the causes that are settled by now.
func (m *Metrics) settle() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.settler.Due(m.now(), false) {
		x := m.group(s.Group)
		if x == nil || s.Corrects != "" {
			continue // a counter takes nothing back
		}
		m.rebalances.WithLabelValues(x.label, valid(string(s.Cause))).Inc()
		if s.Cause.Eviction() {
			m.evictions.WithLabelValues(x.label).Inc()
		}
	}
}
