package top

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kgdiag/kgdiag/advise/diagnose"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/family"
	"github.com/kgdiag/kgdiag/inspect/past"
)

// Sight is what is known of one group at one moment.
type Sight struct {
	diagnose.Diagnosis
	// Counted says that the past of the window has been read, so that the number of
	// rebalances is one.
	Counted bool
	// Deep is set for the opened group alone.
	Deep *Deep

	words string // that the filter searches, in lower case
}

// newSight is a sight of a group without what only the opened one has.
func newSight(d diagnose.Diagnosis, counted bool) *Sight {
	d.Unchecked = nil // the page of why alone tells them: of thousands of groups they would be most of the memory
	return &Sight{Diagnosis: d, Counted: counted, words: strings.ToLower(d.Group + " " + d.State + " " + string(d.Verdict) + " " + d.Worst())}
}

// Deep is what the screen of the opened group needs besides.
type Deep struct {
	Case    *inspect.Case // that all of it was made of
	History inspect.History
	Commits map[string]inspect.Time // the newest commit of each lane's member
}

// book joins what was read of the past with what the watch has seen since.
type book struct {
	since   time.Duration
	past    *inspect.Case // nil until it has been read
	records map[string][]inspect.Record
	deep    map[string]*inspect.Case // the past of groups that were opened, with everything
	lags    map[string]lag
	files   inspect.Case // what they say beside the cluster
}

// lag is how far a group is behind, as it was asked last.
type lag struct {
	at      inspect.Time
	total   *int64
	offsets []inspect.PartitionLag
}

func newBook(since time.Duration) *book {
	return &book{since: since, records: map[string][]inspect.Record{}, deep: map[string]*inspect.Case{}, lags: map[string]lag{}}
}

// takePast keeps the past of all groups.
func (b *book) takePast(c *inspect.Case) {
	b.past = c
	for _, r := range c.Records {
		b.records[r.Group] = append(b.records[r.Group], r)
	}
}

// takeLags keeps what a snapshot tells of how far groups are behind.
func (b *book) takeLags(c *inspect.Case) {
	for i := range c.Groups {
		if g := &c.Groups[i]; g.Lag != nil {
			b.lags[g.ID] = lag{g.At, g.Lag, g.Offsets}
		}
	}
}

// sights diagnoses groups, with all that is known of one that is opened.
func (b *book) sights(seen *inspect.Case, ids []string, opened string) []*Sight {
	var out []*Sight
	shallow := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return id == opened && b.deep[id] != nil })
	if len(shallow) > 0 {
		c := b.join(seen, b.past, shallow)
		for _, d := range diagnose.Groups(c, shallow, diagnose.Options{}) {
			out = append(out, newSight(d, b.past != nil))
		}
	}
	if len(shallow) < len(ids) {
		c := b.join(seen, b.deep[opened], []string{opened})
		d := diagnose.Group(c, opened, diagnose.Options{})
		h := inspect.HistoryOf(c, opened, nil, nil)
		s := newSight(d, true)
		s.Unchecked, s.Deep = d.Unchecked, &Deep{Case: c, History: h, Commits: lastCommits(c, opened)}
		out = append(out, s)
	}
	return out
}

// join is the case of some groups: the past as it was read, then what the watch has
// seen, and the groups as they were seen last.
func (b *book) join(seen, base *inspect.Case, ids []string) *inspect.Case {
	c := *seen
	if base != nil {
		c = *base
	}
	to := seen.Window.To
	c.Window = inspect.Window{From: inspect.At(to.Add(-b.since)), To: to, CompleteSince: c.Window.CompleteSince}
	c.Records, c.Observations, c.Timelines, c.Groups = nil, nil, nil, nil
	if len(b.files.Files)+len(b.files.Configs) > 0 {
		c.LogEvents, c.Processes, c.Files, c.Configs = b.files.LogEvents, b.files.Processes, b.files.Files, b.files.Configs
	}
	wanted := map[string]bool{}
	for _, id := range ids {
		wanted[id] = true
		if base != nil && base == b.deep[id] {
			c.Records = append(c.Records, base.Records...)
		} else {
			c.Records = append(c.Records, b.records[id]...)
		}
	}
	c.Records = append(c.Records, after(c.Records, seen.Records, wanted)...)
	slices.SortStableFunc(c.Records, func(x, y inspect.Record) int {
		return cmp.Or(cmp.Compare(x.Partition, y.Partition), cmp.Compare(x.Offset, y.Offset))
	})
	newest := map[string]*inspect.Observation{}
	for i := range seen.Observations {
		if o := &seen.Observations[i]; wanted[o.Group] {
			c.Observations = append(c.Observations, *o)
			if o.Error == "" {
				newest[o.Group] = o
			}
		}
	}
	for _, g := range snapshots(base, seen) {
		if wanted[g.ID] {
			c.Groups = append(c.Groups, b.current(g, newest[g.ID], &c))
		}
	}
	past.Build(&c)
	for i := range c.Groups {
		generation(&c.Groups[i], c.Timeline(c.Groups[i].ID))
	}
	return &c
}

// after are the records of groups that are not among those that were read before.
func after(had, seen []inspect.Record, wanted map[string]bool) []inspect.Record {
	type place struct {
		partition int32
		offset    int64
	}
	have := make(map[place]bool, len(had))
	for i := range had {
		have[place{had[i].Partition, had[i].Offset}] = true
	}
	var out []inspect.Record
	for i := range seen {
		if r := &seen[i]; wanted[r.Group] && !have[place{r.Partition, r.Offset}] {
			out = append(out, *r)
		}
	}
	return out
}

// snapshots are the groups as they were described, the latest of each.
func snapshots(cases ...*inspect.Case) []inspect.Group {
	latest := map[string]inspect.Group{}
	for _, c := range cases {
		if c == nil {
			continue
		}
		for _, g := range c.Groups {
			if was, ok := latest[g.ID]; !ok || g.At.After(was.At.Time) {
				latest[g.ID] = g
			}
		}
	}
	out := make([]inspect.Group, 0, len(latest))
	for _, id := range slices.Sorted(maps.Keys(latest)) {
		out = append(out, latest[id])
	}
	return out
}

// current is a snapshot brought up to date by what a poll saw last: its state and its
// members. What the poll does not tell is kept of members that stayed, and found in the
// records for those that came.
func (b *book) current(g inspect.Group, o *inspect.Observation, c *inspect.Case) inspect.Group {
	if l, ok := b.lags[g.ID]; ok {
		g.Lag, g.Offsets = l.total, l.offsets
	}
	if o == nil || !o.To.After(g.At.Time) {
		return g
	}
	g.State, g.At = o.State, o.To
	if o.Epoch != nil {
		g.Epoch = o.Epoch
	}
	if o.GenerationBound != nil && (g.Generation == nil || *o.GenerationBound > *g.Generation) {
		g.Generation, g.GenerationBasis = o.GenerationBound, "lower_bound"
	}
	if o.Coordinator >= 0 && (g.Coordinator == nil || g.Coordinator.ID != o.Coordinator) {
		g.Coordinator = &inspect.BrokerRef{ID: o.Coordinator}
		for _, broker := range c.Brokers {
			if broker.ID == o.Coordinator {
				g.Coordinator = &inspect.BrokerRef{ID: broker.ID, Host: broker.Host, Port: broker.Port, Rack: broker.Rack}
			}
		}
	}
	known := map[string]inspect.Member{}
	for _, m := range g.Members {
		known[m.MemberID] = m
	}
	recorded := sync.OnceValue(func() map[string]inspect.Member { return recordedMembers(c.Records, g.ID) }) // for members that came
	g.Members = nil
	for _, seen := range o.Members {
		m, ok := known[seen.MemberID]
		if !ok {
			r, has := recorded()[seen.MemberID]
			if !has { // its record comes when the join ends; it was here before, perhaps
				r = recorded()[seen.ClientID+"\x00"+seen.Host]
			}
			m = inspect.Member{MemberID: seen.MemberID, InstanceID: seen.InstanceID, ClientID: seen.ClientID, Host: seen.Host, Protocol: g.Type,
				Session: r.Session, Rebalance: r.Rebalance, Client: r.Client, Topics: r.Topics, TopicRegex: r.TopicRegex}
		}
		m.Epoch, m.Assignment = seen.Epoch, seen.Assignment
		g.Members = append(g.Members, m)
	}
	return g
}

// recordedMembers are members as the records of their joins describe them, by member id,
// and by client id and host, which a consumer keeps when it comes back.
func recordedMembers(records []inspect.Record, group string) map[string]inspect.Member {
	out := map[string]inspect.Member{}
	keep := func(id, client, host string, m inspect.Member) {
		out[id], out[client+"\x00"+host] = m, m
	}
	for i := range records {
		r := &records[i]
		switch {
		case r.Group != group:
		case r.Metadata != nil:
			for k := range r.Metadata.Members {
				m := &r.Metadata.Members[k]
				keep(m.MemberID, m.ClientID, m.Host, inspect.Member{Session: &m.Session, Rebalance: &m.Rebalance, Topics: m.Topics,
					Client: family.Guess(family.OfMember(group, r.Metadata, m))})
			}
		case r.MemberOf != nil:
			m := r.MemberOf
			keep(r.Member, m.ClientID, m.Host, inspect.Member{Session: m.Session, Rebalance: m.Rebalance, Topics: m.Topics, TopicRegex: m.Regex,
				Client: family.Guess(family.Evidence{Group: group, Type: inspect.Consumer, MemberID: r.Member, ClientID: m.ClientID, InstanceID: m.InstanceID, Session: m.Session, Rebalance: m.Rebalance})})
		}
	}
	return out
}

// generation takes the generation of a classic group from its newest rebalance, where
// that is newer than the snapshot's.
func generation(g *inspect.Group, t *inspect.Timeline) {
	if t == nil || len(t.Rebalances) == 0 || g.Epoch != nil {
		return
	}
	last := &t.Rebalances[len(t.Rebalances)-1]
	if n := last.Generation; last.GenerationBasis == "" && (g.Generation == nil || n >= *g.Generation) {
		g.Generation, g.GenerationBasis = &n, "record"
	}
}

// lastCommits is when each lane's member committed last, as far as records tell: the
// newest commit of a partition that it is assigned.
func lastCommits(c *inspect.Case, group string) map[string]inspect.Time {
	type partition struct {
		topic string
		n     int32
	}
	newest := map[partition]inspect.Time{}
	for i := range c.Records {
		r := &c.Records[i]
		if r.Group == group && r.Commit != nil && r.Time.After(newest[partition{r.Topic, r.TopicPartition}].Time) {
			newest[partition{r.Topic, r.TopicPartition}] = r.Time
		}
	}
	out := map[string]inspect.Time{}
	for i := range c.Groups {
		for _, m := range c.Groups[i].Members {
			name := inspect.MemberName(m.ClientID, m.MemberID, m.InstanceID)
			var at inspect.Time
			for _, t := range m.Assignment {
				for _, p := range t.Partitions {
					if n := newest[partition{t.Topic, p}]; n.After(at.Time) {
						at = n
					}
				}
			}
			if !at.IsZero() {
				out[name] = at
				out[name+"@"+m.Host] = at
				out[name+"@"+m.Host+"/"+m.MemberID[max(0, len(m.MemberID)-4):]] = at
			}
		}
	}
	return out
}

// fix is what a diagnosis advises, in words, and the settings to copy; "" for none.
func fix(d *diagnose.Diagnosis) (words, settings string) {
	words, rule := d.Remedy()
	switch f := d.Fix(); {
	case d.StuckFix() != nil:
		words, rule = d.StuckFix().Fix.Summary, d.StuckFix().ID
	case f != nil:
		set := diagnose.Settings(f.Fix.Set)
		words, rule, settings = strings.Join(set, ", "), f.ID, strings.Join(set, "\n")
		if when := f.Fix.Condition(); when != "" {
			words, settings = f.Fix.If+": "+words, "# "+when+"\n"+settings
		}
		for _, other := range f.Fix.Alternatives {
			words += "; or " + strings.Join(diagnose.Settings(other), ", ")
		}
	}
	if rule != "" {
		words += " (" + rule + ")"
	}
	if f := d.Fix(); f != nil && f.Fix.Else != "" && d.StuckFix() == nil {
		words += "; " + f.Fix.Else
	}
	return words, settings
}
