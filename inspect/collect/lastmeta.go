package collect

import (
	"context"
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// LogReader reads the last metadata records of groups from one partition of
// __consumer_offsets: per group the newest GroupMetadata (type 2) for classic
// groups, and per member the newest member record (types 5, 10 and 19) that has no
// tombstone after it. It reads by assignment, without joining a group. Groups of
// which nothing is left in the log are missing from the answer.
type LogReader interface {
	LatestMetadata(ctx context.Context, partition int32, groups []string) ([]inspect.Record, error)
}

// logTime is how long the search for last metadata records may take: the log is
// read backwards from its end, and a group that has been quiet for long is far back.
const logTime = 10 * time.Second

// readLog adds what only the log knows: a classic group's generation, leader and
// members' timeouts, and the rebalance timeouts of KIP-848 members.
func (r *run) readLog(ctx context.Context) {
	byPartition := map[int32][]string{}
	for id, d := range r.drafts {
		if d.err == nil && len(d.group.Members) > 0 && d.group.Type != inspect.Share {
			byPartition[d.group.Partition] = append(byPartition[d.group.Partition], id)
		}
		if d.err == nil && len(d.group.Members) == 0 && d.group.Type == inspect.Classic && d.group.ProtocolType != "" {
			byPartition[d.group.Partition] = append(byPartition[d.group.Partition], id) // the generation
		}
	}
	n := need{fact: inspect.FactTimeouts, what: "session and rebalance timeouts, exact generation and leader",
		acl: "READ on Topic " + OffsetsTopicName}
	var partitions []int32
	for p, groups := range byPartition {
		if p < 0 || r.opts.Log == nil {
			for _, g := range groups {
				r.gap(n.gap(g, r.logless()))
			}
			continue
		}
		partitions = append(partitions, p)
	}
	ctx, cancel := context.WithTimeout(ctx, logTime)
	defer cancel()
	each(partitions, func(p int32) {
		records, err := r.logRead(ctx, p, byPartition[p])
		if err != nil {
			for _, g := range byPartition[p] {
				r.gap(n.gap(g, err))
			}
		}
		r.applyRecords(records)
		if err == nil {
			r.noteUnrecorded(p, byPartition[p])
		}
	})
}

// noteUnrecorded makes a Gap of each classic group whose present members are not
// (all) in a record: a rebalance is under way, or the record was not found.
func (r *run) noteUnrecorded(p int32, groups []string) {
	for _, id := range groups {
		d := r.drafts[id]
		if d.group.Type != inspect.Classic || len(d.group.Members) == 0 {
			continue
		}
		missing := 0
		for i := range d.group.Members {
			if d.group.Members[i].Session == nil {
				missing++
			}
		}
		if missing > 0 {
			r.gap(inspect.Gap{Group: id, Fact: inspect.FactTimeouts, What: "session and rebalance timeouts",
				Why: fmt.Sprintf("%d of %d members are in no record of %s-%d: they joined in a rebalance that is not finished, or the record is gone",
					missing, len(d.group.Members), OffsetsTopicName, p)})
		}
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

// logRead takes one place among the requests under way for the whole read.
func (r *run) logRead(ctx context.Context, p int32, groups []string) ([]inspect.Record, error) {
	select {
	case r.sem <- struct{}{}:
		defer func() { <-r.sem }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return r.opts.Log.LatestMetadata(ctx, p, groups)
}

// logless is why the log cannot be read at all.
func (r *run) logless() error {
	if r.m.OffsetsErr != nil {
		return r.m.OffsetsErr
	}
	return errNoLog
}

// errNoLog says that the caller gave no reader.
var errNoLog = errNotRead("the offsets topic was not read")

// errNotRead is a constant error text.
type errNotRead string

// Error is the text.
func (e errNotRead) Error() string { return string(e) }

// applyRecords adds records to the drafts of their groups.
func (r *run) applyRecords(records []inspect.Record) {
	byGroup := map[string][]*inspect.Record{}
	for i := range records {
		byGroup[records[i].Group] = append(byGroup[records[i].Group], &records[i])
	}
	for id, recs := range byGroup {
		d, ok := r.drafts[id]
		if !ok || d.err != nil {
			continue
		}
		for _, rec := range recs {
			d.apply(rec)
		}
	}
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
	src := inspect.Source{Fact: inspect.FactTimeouts, From: OffsetsTopicName, At: rec.Time}
	if g.Generation == nil || *g.Generation <= md.Generation {
		gen := md.Generation
		g.Generation, g.GenerationBasis, g.StateSince = &gen, "record", md.StateTime
		if md.Leader != nil {
			g.Leader = *md.Leader
		}
		if g.Assignor == "" && md.Protocol != nil {
			g.Assignor = *md.Protocol
		}
		setSource(g, inspect.Source{Fact: inspect.FactGeneration, From: OffsetsTopicName, At: rec.Time})
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
		m.Rebalance = rec.MemberOf.Rebalance
		if rec.MemberOf.Session != nil { // a classic client inside a consumer group
			m.Session = rec.MemberOf.Session
		}
		if len(rec.MemberOf.Assignors) > 0 {
			d.signs[i].Assignors = rec.MemberOf.Assignors
		}
		setSource(&d.group, inspect.Source{Fact: inspect.FactTimeouts, From: OffsetsTopicName, At: rec.Time})
	}
}
