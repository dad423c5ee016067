package collect

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/family"
	"github.com/kgdiag/kgdiag/inspect/offsetlog"
	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/locate"
)

// LogReader finds the newest metadata records of groups in the offsets topic, by
// reading its partitions backwards without joining a group: offsetlog.Scanner.
type LogReader interface {
	Survey(ctx context.Context, partitions []int32, times ...time.Time) (*offsetlog.Survey, error)
	LatestMetadata(ctx context.Context, req offsetlog.LatestRequest) (*offsetlog.Latest, error)
	// ClockGaps say which brokers' clocks the records read so far show to be off.
	ClockGaps() []inspect.Gap
}

// logTime is how long the search for last metadata records may take: the log is
// read backwards from its end, and a group that has been quiet for long is far back.
const logTime = 5 * time.Second

// readLog reads what only the log knows: a classic group's generation, leader and
// members' timeouts, and the rebalance timeouts of KIP-848 members. Each partition
// is searched by itself, so that one without a healthy leader hides no other. The
// drafts are changed by the function that it gives back.
func (r *run) readLog(ctx context.Context) (apply func()) {
	byPartition := map[int32][]string{}
	for _, id := range r.inLog() {
		p := r.drafts[id].group.Partition
		if p < 0 {
			r.gap(r.logNeed(id).gap(id, r.m.OffsetsErr))
			continue
		}
		byPartition[p] = append(byPartition[p], id)
	}
	var mu sync.Mutex
	found := map[int32]logSearch{}
	limited, cancel := context.WithTimeout(ctx, logTime)
	defer cancel()
	slots := make(chan struct{}, max(1, r.opts.Parallel/2))
	each(slices.Collect(maps.Keys(byPartition)), func(p int32) {
		slots <- struct{}{}
		defer func() { <-slots }()
		s := r.search(limited, p, byPartition[p])
		mu.Lock()
		defer mu.Unlock()
		found[p] = s
	})
	return func() {
		for _, g := range r.opts.Log.ClockGaps() {
			r.gap(g)
		}
		for p, groups := range byPartition {
			for _, id := range groups {
				records := found[p].records[id]
				for i := range records {
					r.drafts[id].apply(&records[i])
				}
				r.noteLog(id, p, records, found[p].err)
			}
		}
		r.noteGenerations()
	}
}

// fewGroups is up to how many of all groups each one's generation is looked for in the whole
// log. Of more, those without members have none to be told beyond what stands at its end.
const fewGroups = 20

// broad reports whether so many groups are shown that nobody asked for one of them.
func (r *run) broad() bool { return len(r.sel.Groups) == 0 && len(r.drafts) > fewGroups }

// noteGenerations makes one Gap of the generations that were not looked for any further.
func (r *run) noteGenerations() {
	without := 0
	for _, id := range r.inLog() {
		if g := &r.drafts[id].group; g.Partition >= 0 && len(g.Members) == 0 && g.Generation == nil {
			without++
		}
	}
	if r.broad() && without > 0 {
		r.gap(inspect.Gap{Fact: inspect.FactGeneration, What: "generation of " + prose.Plural(without, "group") + " without members",
			Why: "no record of theirs stands near the end of " + locate.OffsetsTopic + ", and of all groups no more is read for those", Needs: "naming the group"})
	}
}

// logSearch is what was found in one partition.
type logSearch struct {
	records map[string][]inspect.Record // by group
	err     error
}

// search looks for the newest records of groups in one partition. What was found
// before it ran out of time counts, as of the last window that was read whole.
func (r *run) search(ctx context.Context, p int32, groups []string) logSearch {
	s := logSearch{records: map[string][]inspect.Record{}}
	req := offsetlog.LatestRequest{Groups: map[int32][]string{p: groups}, Parallel: 1, Survey: r.survey()}
	req.Done = func(group string, records []inspect.Record) bool {
		s.records[group] = records
		return r.enough(group, records)
	}
	latest, err := r.opts.Log.LatestMetadata(ctx, req)
	if latest != nil {
		maps.Copy(s.records, latest.Records)
	}
	var pe *offsetlog.PartitionError
	if s.err = err; errors.As(err, &pe) {
		s.err = pe.Err
	}
	return s
}

// inLog are the groups of which the log knows more than their coordinator tells:
// those with members, and the generation of classic groups without.
func (r *run) inLog() []string {
	var out []string
	for id, d := range r.drafts {
		g := &d.group
		switch {
		case d.err != nil || g.Type == inspect.Share:
		case len(g.Members) > 0, g.Type == inspect.Classic && g.ProtocolType != "":
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// enough reports whether the records say all that is wanted of the group: for a
// classic one its newest GroupMetadata, else who each present member is.
func (r *run) enough(group string, records []inspect.Record) bool {
	g := &r.drafts[group].group
	if r.broad() && len(g.Members) == 0 {
		return true
	}
	known := map[string]bool{}
	for i := range records {
		if records[i].Type == inspect.RecGroupMetadata {
			return true
		}
		if records[i].MemberOf != nil {
			known[records[i].Member] = true
		}
	}
	return g.Type != inspect.Classic && !slices.ContainsFunc(g.Members, func(m inspect.Member) bool { return !known[m.MemberID] })
}

// logNeed says what a group lacks without the log.
func (r *run) logNeed(group string) need {
	n := need{fact: inspect.FactTimeouts, what: "session and rebalance timeouts, generation, leader", acl: "READ on Topic " + locate.OffsetsTopic}
	if r.drafts[group].group.Type != inspect.Classic {
		n.what = "rebalance timeouts"
	}
	if errors.Is(r.m.OffsetsErr, kerr.TopicAuthorizationFailed) {
		n.acl = "DESCRIBE and READ on Topic " + locate.OffsetsTopic
	}
	return n
}

// noteLog makes a Gap of what the log did not tell about a group.
func (r *run) noteLog(id string, p int32, records []inspect.Record, err error) {
	g := &r.drafts[id].group
	var missing []string
	for i := range g.Members {
		if m := &g.Members[i]; m.Rebalance == nil {
			missing = append(missing, inspect.MemberName(m.ClientID, m.MemberID, m.InstanceID))
		}
	}
	n := r.logNeed(id)
	where := fmt.Sprintf("%s-%d", locate.OffsetsTopic, p)
	switch {
	case len(missing) == 0 && len(records) > 0:
	case errors.Is(err, context.DeadlineExceeded):
		r.gap(inspect.Gap{Group: id, Fact: n.fact, What: n.what, Why: "no record of the group among those that were read from the end of " + where + " within " + prose.Exact(logTime)})
	case err != nil:
		r.gap(n.gap(id, err))
	case len(records) == 0 && len(g.Members) > 0:
		r.gap(inspect.Gap{Group: id, Fact: n.fact, What: n.what, Why: "no record of the group is left in " + where})
	case len(missing) > 0:
		r.gap(inspect.Gap{Group: id, Fact: n.fact, What: "session and rebalance timeouts",
			Why: fmt.Sprintf("%d of %d members (%s) in no record of %s yet: the rebalance with which they join is not finished", len(missing), len(g.Members), prose.Few(missing, 2), where)})
	}
}

// setSource adds a Source in place of an older one of the same fact and origin.
func setSource(g *inspect.Group, s inspect.Source) {
	for i := range g.Sources {
		same := g.Sources[i].Fact == s.Fact && (g.Sources[i].From == s.From || s.Fact == inspect.FactGeneration)
		if same {
			if g.Sources[i].At.Before(s.At.Time) || g.Sources[i].From != s.From {
				g.Sources[i] = s
			}
			return
		}
	}
	g.Sources = append(g.Sources, s)
}

// apply adds one record to the group.
func (d *draft) apply(rec *inspect.Record) {
	switch {
	case rec.Tombstone:
	case rec.Metadata != nil && d.group.Type == inspect.Classic:
		d.applyClassic(rec)
	case rec.MemberOf != nil:
		d.applyMember(rec)
	}
}

// applyClassic takes generation, leader and timeouts from a GroupMetadata record. A
// record that is older than what the members themselves prove is not the present
// generation; the timeouts of members that are still there hold all the same, since
// a classic member can only change them by a new join.
func (d *draft) applyClassic(rec *inspect.Record) {
	md, g := rec.Metadata, &d.group
	src := inspect.Source{Fact: inspect.FactTimeouts, From: locate.OffsetsTopic, At: rec.Time}
	if g.Generation == nil || *g.Generation <= md.Generation {
		gen := md.Generation
		g.Generation, g.GenerationBasis, g.StateSince = &gen, "record", md.StateTime
		if md.Leader != nil {
			g.Leader = *md.Leader
		}
		if g.Assignor == "" && md.Protocol != nil {
			g.Assignor = *md.Protocol
		}
		setSource(g, inspect.Source{Fact: inspect.FactGeneration, From: locate.OffsetsTopic, At: rec.Time})
	}
	for i := range md.Members {
		from := &md.Members[i]
		for j := range g.Members {
			m := &g.Members[j]
			if m.MemberID != from.MemberID {
				continue
			}
			session, rebalance := from.Session, from.Rebalance
			m.Session, m.Rebalance = &session, &rebalance
			if m.InstanceID == nil {
				m.InstanceID = from.InstanceID
			}
			if len(d.signs[j].Subscription) == 0 {
				d.signs[j].Subscription = from.Subscription
			}
		}
	}
	if len(g.Members) > 0 {
		setSource(g, src)
	}
}

// applyMember takes the timeouts of one KIP-848, share or streams member.
func (d *draft) applyMember(rec *inspect.Record) {
	for i := range d.group.Members {
		m := &d.group.Members[i]
		if m.MemberID != rec.Member {
			continue
		}
		m.Rebalance, m.ServerAssignor = rec.MemberOf.Rebalance, rec.MemberOf.Assignor
		if rec.MemberOf.Session != nil { // a classic client inside a consumer group
			m.Session = rec.MemberOf.Session
		}
		if len(rec.MemberOf.Assignors) > 0 {
			d.signs[i].Assignors = rec.MemberOf.Assignors
		}
		setSource(&d.group, inspect.Source{Fact: inspect.FactTimeouts, From: locate.OffsetsTopic, At: rec.Time})
	}
}

// FillFromRecords gives the groups of a case what its records say of them: generation,
// leader and timeouts, for who did not look for the last metadata (Want.Log) and has
// read the log since. A member of a rebalance under way is in no record yet: it has the
// timeouts of the member of the same client id and host that stood there last.
func FillFromRecords(c *inspect.Case) {
	fills := make(map[string]*fill, len(c.Groups))
	for i := range c.Groups {
		if g := &c.Groups[i]; len(g.Members) > 0 && g.Type != inspect.Share {
			fills[g.ID] = newFill(g)
		}
	}
	for i := range c.Records {
		if f := fills[c.Records[i].Group]; f != nil {
			f.take(&c.Records[i])
		}
	}
	for i := range c.Groups {
		if f := fills[c.Groups[i].ID]; f != nil {
			if f.newest != nil {
				f.apply(f.newest)
			}
			c.Groups[i] = f.group
		}
	}
}

// fill is a group that is filled from records.
type fill struct {
	draft
	lacks  []bool          // members whose timeouts were not read, parallel to group.Members
	newest *inspect.Record // GroupMetadata
}

func newFill(g *inspect.Group) *fill {
	f := &fill{draft: draft{group: *g, signs: make([]family.Evidence, len(g.Members))}, lacks: make([]bool, len(g.Members))}
	f.group.Members, f.group.Sources = slices.Clone(g.Members), slices.Clone(g.Sources)
	for i := range g.Members {
		f.lacks[i] = g.Members[i].Session == nil
	}
	return f
}

// take takes the group's next record.
func (f *fill) take(r *inspect.Record) {
	switch {
	case r.Tombstone:
	case r.MemberOf != nil:
		f.apply(r)
	case r.Metadata != nil:
		f.newest = r
		for i := range f.group.Members {
			if f.lacks[i] {
				inherit(&f.group.Members[i], r.Metadata)
			}
		}
	}
}

// inherit gives a member the timeouts that its client had in a generation.
func inherit(m *inspect.Member, from *inspect.GroupMetadata) {
	for _, was := range from.Members {
		if m.ClientID != "" && m.ClientID == was.ClientID && m.Host == was.Host {
			m.Session, m.Rebalance = &was.Session, &was.Rebalance
		}
	}
}
