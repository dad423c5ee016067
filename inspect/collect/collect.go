package collect

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/offsetlog"
	"github.com/kgdiag/kgdiag/internal/pause"
	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/locate"
)

// Selection says which groups to collect: Groups by name, or all that the brokers
// list. Match, States and Types narrow either.
type Selection struct {
	Groups []string
	All    bool
	Match  *regexp.Regexp      // against the whole id, unanchored
	States []string            // any of them, case ignored
	Types  []inspect.GroupType // any of them
}

// Want says what to read besides state and members, which are always read.
type Want struct {
	Lag    bool // OffsetFetch and ListOffsets
	Log    bool // last metadata records: timeouts, classic generation and leader
	Limits bool // DescribeConfigs of groups and of their coordinators
	// Brokers asks every broker for its configuration, not only the coordinators.
	Brokers bool
	Topics  bool // partition counts of the subscribed topics
}

// Everything is all that a snapshot can hold.
func Everything() Want { return Want{Lag: true, Log: true, Limits: true, Brokers: true, Topics: true} }

// NotFoundError says that named groups do not exist: the broker that would know has
// answered. The Case that comes with it holds the others.
type NotFoundError struct {
	Groups  []string
	Nearest map[string][]string // per missing group: existing ids that it may be a misspelling of
	Listed  int                 // groups that the brokers listed
	// Answered of Brokers brokers listed their groups.
	Answered, Brokers int
	// MaybeConsumer says that the coordinator is too old to name group types
	// (ListGroups below v5), so that a group of the consumer protocol looks the same.
	MaybeConsumer bool
}

// Error names the groups and how many were looked through.
func (e *NotFoundError) Error() string {
	ids := make([]string, len(e.Groups))
	for i, g := range e.Groups {
		ids[i] = fmt.Sprintf("%q", g)
	}
	noun := "group "
	if len(ids) > 1 {
		noun = "groups "
	}
	what := "not found"
	if e.MaybeConsumer {
		what = "not found, or of the consumer protocol (KIP-848), which these brokers cannot report"
	}
	return fmt.Sprintf("%s%s: %s (%s, %d of %s answered)",
		noun, strings.Join(ids, ", "), what, prose.Plural(e.Listed, "group"), e.Answered, prose.Plural(e.Brokers, "broker"))
}

// IncompleteError says that named groups could not be described; whether they exist
// is not known. The Case that comes with it holds them with their Gaps.
type IncompleteError struct {
	Groups []string
	Why    map[string]string // in a reader's words
	Err    error             // of the first group
}

// Error names the first group and the reason.
func (e *IncompleteError) Error() string {
	s := fmt.Sprintf("group %q: %s", e.Groups[0], e.Why[e.Groups[0]])
	if n := len(e.Groups) - 1; n > 0 {
		s += fmt.Sprintf(" (and %d more groups)", n)
	}
	return s
}

// Unwrap is the first group's error.
func (e *IncompleteError) Unwrap() error { return e.Err }

// run is one Collect under way.
type run struct {
	*Collector
	m      *Metadata
	sel    Selection
	want   Want
	survey func() *offsetlog.Survey // of the offsets partitions; nil for none

	loading chan struct{} // holds one token, for whoever loads topics

	mu     sync.Mutex
	facts  *inspect.Case
	drafts map[string]*draft
	early  early
	heard  *Listing // of the brokers that were asked for the selected groups
	listed *Listing // of every broker; nil where only coordinators were asked
	failed map[string]error
	absent []string
	maybe  bool // an absent group may be of the consumer protocol
}

// Collect reads the selected groups. The Case is nil only if no broker could be
// asked at all. Besides the Case there may be a *NotFoundError or an
// *IncompleteError, joined where both hold, about groups that were named.
func (c *Collector) Collect(ctx context.Context, sel Selection, want Want) (*inspect.Case, error) {
	m, err := c.Metadata(ctx)
	if err != nil {
		return nil, err
	}
	return c.CollectFrom(ctx, m, sel, want)
}

// CollectFrom is Collect for a caller that has just asked for Metadata. The placement
// of topics that are met on the way is added to m.
func (c *Collector) CollectFrom(ctx context.Context, m *Metadata, sel Selection, want Want) (*inspect.Case, error) {
	r := &run{Collector: c, m: m, sel: sel, want: want, loading: make(chan struct{}, 1), drafts: map[string]*draft{}, failed: map[string]error{},
		facts: &inspect.Case{Schema: inspect.CaseSchema, Kgdiag: c.opts.Version, GeneratedAt: c.now(),
			Cluster: c.cluster(m), Gaps: []inspect.Gap{}, Groups: []inspect.Group{}, Brokers: slices.Clone(m.Brokers), OffsetsTopic: m.Offsets}}
	r.survey = r.startSurvey(ctx)
	byBroker := r.choose(ctx)
	r.noteOffsetsTopic()
	r.describe(ctx, byBroker)
	r.missing(ctx)
	r.enrich(ctx)
	r.finish()
	return r.facts, r.outcome()
}

// gap adds a Gap.
func (r *run) gap(g inspect.Gap) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.facts.Gaps = append(r.facts.Gaps, g)
}

// noteOffsetsTopic says so where the offsets topic cannot be seen.
func (r *run) noteOffsetsTopic() {
	switch {
	case r.m.OffsetsErr == nil:
	case errors.Is(r.m.OffsetsErr, ErrNoOffsetsTopic):
		r.gap(inspect.Gap{Fact: inspect.FactOffsetsTopic, What: "placement of " + locate.OffsetsTopic, Why: r.m.OffsetsErr.Error()})
	default:
		r.gap(need{fact: inspect.FactOffsetsTopic, what: "placement of " + locate.OffsetsTopic,
			acl: "DESCRIBE on Topic " + locate.OffsetsTopic}.gap("", r.m.OffsetsErr))
	}
}

// choose finds the groups to describe, by coordinator. Named groups are listed at
// their coordinators alone; all groups, or any where the offsets topic is not
// visible, at every broker.
func (r *run) choose(ctx context.Context) map[int32][]Listed {
	switch {
	case r.sel.All || len(r.sel.Groups) == 0:
		return r.chooseListed(ctx, nil)
	case r.m.Offsets == nil:
		return r.chooseListed(ctx, r.sel.Groups)
	}
	return r.chooseNamed(ctx)
}

// chooseListed takes the groups from every broker's list; only the named ones
// unless names is empty.
func (r *run) chooseListed(ctx context.Context, names []string) map[int32][]Listed {
	var wg sync.WaitGroup
	if len(names) == 0 {
		wg.Go(func() { r.noteUnseen(ctx) })
	}
	r.listed = r.ListAll(ctx, r.m)
	wg.Wait()
	r.noteElsewhere(ctx, r.m, r.listed)
	r.heard = r.listed
	r.facts.Cluster.Answered = len(r.listed.Answered)
	r.noteUnlisted()
	out := map[int32][]Listed{}
	if len(names) == 0 {
		for _, l := range r.listed.Groups {
			if r.sel.matches(l) {
				out[l.Broker] = append(out[l.Broker], l)
			}
		}
		return out
	}
	for _, g := range names {
		l, ok := r.listed.Groups[g]
		switch {
		case ok:
			out[l.Broker] = append(out[l.Broker], l)
		case errors.Is(r.m.OffsetsErr, ErrNoOffsetsTopic):
			r.absent = append(r.absent, g)
		case len(r.listed.Failed) > 0:
			r.fail(g, need{fact: inspect.FactState, what: "state and members"}, anyFailure(r.listed.Failed))
		default:
			// Brokers leave out what may not be described, and without the offsets
			// topic there is no coordinator to ask for the difference.
			r.fail(g, need{fact: inspect.FactState, what: "state and members", acl: "DESCRIBE on Group " + g}, errHidden)
		}
	}
	return out
}

// errHidden is a group that no broker lists, where the reason cannot be told.
var errHidden = errors.New("no broker lists it: it does not exist, or DESCRIBE on it is missing; its coordinator cannot be asked without DESCRIBE on Topic " + locate.OffsetsTopic)

// noteUnlisted makes Gaps of the brokers whose groups are unknown.
func (r *run) noteUnlisted() {
	for id, err := range r.listed.Failed {
		r.gap(need{fact: inspect.FactGroups, what: fmt.Sprintf("groups coordinated by broker %d", id)}.gap("", err))
	}
}

// describeBit is DESCRIBE in a set of authorised operations (AclOperation.java).
const describeBit = 1 << 8

// noteUnseen makes a Gap of the groups that brokers leave out of their lists because
// the principal may not DESCRIBE them. Whether there can be such groups is asked of
// DescribeCluster (Kafka 2.8): with DESCRIBE on the cluster all are listed.
func (r *run) noteUnseen(ctx context.Context) {
	ops, err := firstAnswer(ctx, r.brokers(r.m), func(ctx context.Context, b broker) (int32, error) {
		req := kmsg.NewPtrDescribeClusterRequest()
		req.IncludeClusterAuthorizedOperations = true
		resp, err := req.RequestWith(ctx, b)
		if err != nil {
			return 0, err
		}
		return resp.ClusterAuthorizedOperations, kerr.ErrorForCode(resp.ErrorCode)
	})
	if err != nil || ops == math.MinInt32 || ops&describeBit != 0 {
		return // an old broker does not tell, which proves nothing
	}
	r.gap(inspect.Gap{Fact: inspect.FactState, What: "groups on which you lack DESCRIBE", Why: "brokers leave them out of their lists without a word",
		Needs: "DESCRIBE on Cluster, or on each Group"})
}

// anyFailure is the failure of the lowest broker id.
func anyFailure(failed map[int32]error) error {
	low := int32(-1)
	for id := range failed {
		if low < 0 || id < low {
			low = id
		}
	}
	return failed[low]
}

// matches reports whether a listed group is selected.
func (s *Selection) matches(l Listed) bool {
	if s.Match != nil && !s.Match.MatchString(l.ID) {
		return false
	}
	if len(s.Types) > 0 && l.Type != inspect.UnknownType && !slices.Contains(s.Types, l.Type) {
		return false
	}
	return len(s.States) == 0 || l.State == "" || containsFold(s.States, l.State)
}

// Keeps reports whether a group passes the filters: for groups of a case file, and
// where a listing by an old broker could not answer them.
func (s *Selection) Keeps(g *inspect.Group) bool {
	if s.Match != nil && !s.Match.MatchString(g.ID) {
		return false
	}
	if len(s.Types) > 0 && !slices.Contains(s.Types, g.Type) {
		return false
	}
	return len(s.States) == 0 || containsFold(s.States, g.State)
}

// containsFold reports whether list holds s, case ignored.
func containsFold(list []string, s string) bool {
	return slices.ContainsFunc(list, func(x string) bool { return strings.EqualFold(x, s) })
}

// fail records that a group could not be described.
func (r *run) fail(group string, n need, err error) {
	r.gap(n.gap(group, err))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed[group] = err
	r.drafts[group] = &draft{group: inspect.Group{ID: group, Partition: partitionOf(r.m, group), Members: nil}, err: err}
}

// describe asks every coordinator for its groups, all coordinators at once.
func (r *run) describe(ctx context.Context, byBroker map[int32][]Listed) {
	var work []describeJob
	for id, groups := range byBroker {
		byType := map[inspect.GroupType][]string{}
		for _, g := range groups {
			byType[g.Type] = append(byType[g.Type], g.ID)
		}
		for t, ids := range byType {
			slices.Sort(ids)
			work = append(work, describeJob{id, t, ids})
		}
	}
	each(work, func(j describeJob) { r.describeJob(ctx, j) })
}

// describeJob is groups of one type at one coordinator.
type describeJob struct {
	broker int32
	typ    inspect.GroupType
	ids    []string
}

// describeJob runs one job, follows groups that have moved meanwhile, and files
// what could not be described.
func (r *run) describeJob(ctx context.Context, j describeJob) {
	for try := 1; ; try++ {
		got := r.describeAs(ctx, r.broker(r.m, j.broker), j.typ, j.ids)
		var again []string
		for _, id := range j.ids {
			d := got[id]
			if transient(d.err) && try < coordinatorTries {
				again = append(again, id)
				continue
			}
			r.file(j, id, d)
		}
		if len(again) == 0 {
			return
		}
		if pause.For(ctx, retryPause) != nil {
			for _, id := range again {
				r.file(j, id, got[id])
			}
			return
		}
		j.ids = again
		j.broker = r.moved(ctx, j)
	}
}

// moved asks where the groups of a job are now; the old place where that is unknown.
func (r *run) moved(ctx context.Context, j describeJob) int32 {
	if r.m.Offsets == nil {
		return j.broker
	}
	if l, ok := r.coordinators(ctx, r.m, j.ids[:1])[j.ids[0]]; ok && l.err == nil {
		return l.broker
	}
	return j.broker
}

// describeAs describes groups whose type may be unknown, or have changed since it
// was listed: those that the broker calls "not a classic group" are asked for again
// as the other types.
func (c *Collector) describeAs(ctx context.Context, b broker, t inspect.GroupType, ids []string) map[string]draft {
	got := c.describeAt(ctx, b, t, ids)
	for _, other := range []inspect.GroupType{inspect.Consumer, inspect.Share, inspect.Streams, inspect.Classic} {
		var open []string
		for _, id := range ids {
			if err := got[id].err; otherType(err) || errors.Is(err, errMaybeConsumer) {
				open = append(open, id)
			}
		}
		if len(open) == 0 {
			break
		}
		if other == t || (other == inspect.Classic && t == inspect.UnknownType) {
			continue
		}
		for id, d := range c.describeAt(ctx, b, other, open) {
			if d.err == nil || (!unsupported(d.err) && !errors.Is(d.err, kerr.GroupIDNotFound)) {
				got[id] = d
			}
		}
	}
	return got
}

// file keeps a draft, or what is known of its failure.
func (r *run) file(j describeJob, id string, d draft) {
	d.group.Partition = partitionOf(r.m, id)
	d.group.Coordinator = r.m.ref(j.broker)
	switch {
	case d.err == nil:
		r.mu.Lock()
		r.drafts[id] = &d
		r.mu.Unlock()
		return
	case absent(d.err), errors.Is(d.err, errMaybeConsumer) && r.unlisted(j.broker, id):
		r.mu.Lock()
		r.absent = append(r.absent, id)
		r.maybe = r.maybe || errors.Is(d.err, errMaybeConsumer) && !r.heard.typed(j.broker)
		r.mu.Unlock()
		return
	}
	acl := "DESCRIBE on Group " + id
	if errors.Is(d.err, kerr.TopicAuthorizationFailed) {
		acl = "DESCRIBE on every topic that is assigned in group " + id
	}
	r.fail(id, need{fact: inspect.FactState, what: "state and members", acl: acl, version: typeNeeds(j.typ)}, d.err)
	r.mu.Lock()
	kept := r.drafts[id]
	kept.group.Type, kept.group.Partition, kept.group.Coordinator = j.typ, d.group.Partition, d.group.Coordinator
	r.mu.Unlock()
}

// unlisted reports whether the broker listed its groups and the group was not there.
func (r *run) unlisted(broker int32, group string) bool {
	_, failed := r.heard.Failed[broker]
	_, listed := r.heard.Groups[group]
	return !failed && !listed
}

// missing lists every broker's groups where a named group was not found, to offer
// the nearest ids.
func (r *run) missing(ctx context.Context) {
	if len(r.absent) == 0 || len(r.sel.Groups) == 0 || r.sel.All || r.listed != nil {
		return
	}
	r.listed = r.ListAll(ctx, r.m)
	r.facts.Cluster.Answered = len(r.listed.Answered)
}

// outcome is the error of the groups that were named.
func (r *run) outcome() error {
	if len(r.sel.Groups) == 0 || r.sel.All {
		return nil
	}
	var errs []error
	if len(r.failed) > 0 {
		e := &IncompleteError{Why: map[string]string{}}
		for _, g := range r.sel.Groups {
			if err, ok := r.failed[g]; ok && !slices.Contains(e.Groups, g) {
				e.Groups = append(e.Groups, g)
				e.Why[g], _ = explain(err, need{})
				if e.Err == nil {
					e.Err = err
				}
			}
		}
		errs = append(errs, e)
	}
	if e := r.notFound(); e != nil {
		errs = append(errs, e)
	}
	return errors.Join(errs...)
}

// notFound is the error of the named groups that do not exist; nil for none.
func (r *run) notFound() error {
	if len(r.absent) == 0 {
		return nil
	}
	e := &NotFoundError{Nearest: map[string][]string{}, Brokers: len(r.m.Brokers), MaybeConsumer: r.maybe}
	for _, g := range r.sel.Groups {
		if slices.Contains(r.absent, g) && !slices.Contains(e.Groups, g) {
			e.Groups = append(e.Groups, g)
		}
	}
	if r.listed != nil {
		e.Answered, e.Listed = len(r.listed.Answered), len(r.listed.Groups)
		ids := make([]string, 0, len(r.listed.Groups))
		for id := range r.listed.Groups {
			ids = append(ids, id)
		}
		for _, g := range e.Groups {
			if n := prose.NearestFew(g, ids); len(n) > 0 {
				e.Nearest[g] = n
			}
		}
	}
	return e
}

// finish orders the Case, so that two reads of the same cluster read alike.
func (r *run) finish() {
	for _, d := range r.drafts {
		if d.err == nil && !r.sel.Keeps(&d.group) {
			continue
		}
		d.guess()
		if d.group.Sources == nil {
			d.group.Sources = []inspect.Source{}
		}
		r.facts.Groups = append(r.facts.Groups, d.group)
	}
	slices.SortFunc(r.facts.Groups, func(a, b inspect.Group) int { return strings.Compare(a.ID, b.ID) })
	if len(r.sel.Groups) > 0 && !r.sel.All {
		r.asNamed()
	}
	slices.SortStableFunc(r.facts.Gaps, func(a, b inspect.Gap) int {
		return strings.Compare(a.Group+"\x00"+string(a.Fact)+"\x00"+a.What, b.Group+"\x00"+string(b.Fact)+"\x00"+b.What)
	})
	if r.facts.Cluster.Answered == 0 && r.listed == nil {
		r.facts.Cluster.Answered = r.answered()
	}
}

// asNamed puts the groups into the order in which they were named.
func (r *run) asNamed() {
	rank := map[string]int{}
	for i, g := range r.sel.Groups {
		if _, ok := rank[g]; !ok {
			rank[g] = i
		}
	}
	slices.SortStableFunc(r.facts.Groups, func(a, b inspect.Group) int { return rank[a.ID] - rank[b.ID] })
}

// answered counts the coordinators that described something.
func (r *run) answered() int {
	seen := map[int32]bool{}
	for _, d := range r.drafts {
		if d.err == nil && d.group.Coordinator != nil {
			seen[d.group.Coordinator.ID] = true
		}
	}
	return len(seen)
}
