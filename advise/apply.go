package advise

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/settings"
)

// Apply follows a finding's advice on a copy of the case: alternative 0 is the fix
// itself, n its nth alternative. Where the finding has no such advice, the copy is
// unchanged. Settings are changed where the finding came from, in the one
// configuration or at the members of the group, and at all others of the group that
// have the same value, since a group is changed as a whole. A new max.poll.records
// scales the declared and observed time between polls, which grows with the records.
func Apply(c *inspect.Case, f Finding, alternative int) inspect.Case {
	if f.Fix == nil || alternative < 0 || alternative > len(f.Fix.Alternatives) {
		return *c
	}
	if alternative > 0 {
		return apply(c, f.target, f.Fix.Alternatives[alternative-1], nil)
	}
	return apply(c, f.target, f.Fix.Set, f.Fix.Delete)
}

func apply(c *inspect.Case, t target, set map[string]string, del []string) inspect.Case {
	out := *c
	out.Configs = append([]inspect.ClientConfig(nil), c.Configs...)
	before := t.subject(c)
	if t.config >= 0 && before != nil {
		out.Configs[t.config] = changeConfig(before, set, del)
		scaleWork(&out, before, set)
	}
	if t.group != "" && !t.cluster {
		for i := range c.Configs {
			if i == t.config || c.Configs[i].Group != t.group {
				continue
			}
			if same := alike(before, fromFile(c, i), set); len(same) > 0 {
				out.Configs[i] = changeConfig(fromFile(c, i), same, nil)
			}
		}
		changeGroup(&out, t, before, set)
	}
	changeBrokers(&out, set)
	return out
}

// subject is the consumer at the target, before a change; nil for a group or a
// cluster as a whole.
func (t target) subject(c *inspect.Case) *Subject {
	if t.config >= 0 && t.config < len(c.Configs) {
		return fromFile(c, t.config)
	}
	g := groupOf(c, t.group)
	if g == nil || t.clients == nil {
		return nil
	}
	for _, s := range liveClients(c, g, timelineOf(c, g.ID)) {
		if sameTarget(s.target, t) {
			return s
		}
	}
	return nil
}

// alike picks from set the keys in which another consumer has the same value as the
// target.
func alike(target, other *Subject, set map[string]string) map[string]string {
	out := map[string]string{}
	if target == nil {
		return out
	}
	for k, v := range set {
		a, okA := target.values[k]
		b, okB := other.values[k]
		if okA && okB && a.Text == b.Text && a.D == b.D {
			out[k] = v
		}
	}
	return out
}

func changeConfig(s *Subject, set map[string]string, del []string) inspect.ClientConfig {
	cfg := *s.Config
	gone := map[string]bool{}
	for _, k := range del {
		gone[k] = true
	}
	cfg.Settings, cfg.Problems = nil, nil
	fixed := map[inspect.Position]bool{}
	for _, old := range s.Config.Settings {
		if gone[old.Key] || gone[old.Spelled] {
			fixed[old.Where] = true
			continue
		}
		if v, ok := set[old.Key]; ok {
			fixed[old.Where] = true
			old = settingOf(old.Key, old.Spelled, v, old.Where)
		}
		cfg.Settings = append(cfg.Settings, old)
	}
	for _, k := range sortedKeys(set) {
		if _, had := s.Config.Get(k); !had {
			cfg.Settings = append(cfg.Settings, settingOf(k, s.spell(k), set[k], inspect.Position{File: cfg.Where.File}))
		}
	}
	for _, p := range s.Config.Problems {
		if !gone[p.Key] && !fixed[p.Where] {
			cfg.Problems = append(cfg.Problems, p)
		}
	}
	return cfg
}

func settingOf(key, spelled, value string, where inspect.Position) inspect.Setting {
	out := inspect.Setting{Key: key, Spelled: spelled, Value: value, Where: where, Origin: inspect.OriginSet}
	if strings.HasSuffix(key, ".ms") {
		if d, ok := parseMillis(value); ok {
			out.Millis = inspect.Ms(d)
		}
	}
	return out
}

func parseMillis(value string) (time.Duration, bool) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n > int64(1<<63-1)/int64(time.Millisecond) {
		return 0, false
	}
	return time.Duration(n) * time.Millisecond, true
}

// scaleWork shortens the declared time of a batch with the number of its records.
func scaleWork(c *inspect.Case, before *Subject, set map[string]string) {
	now, err := strconv.ParseInt(set[keyRecords], 10, 64)
	then, _, ok := before.Int(keyRecords)
	if err != nil || !ok || then < 1 || now < 1 {
		return
	}
	scale := func(m inspect.Millis) inspect.Millis {
		return inspect.Millis(float64(m) / float64(then) * float64(now))
	}
	scaleDeclared(c, before.workOf(), scale)
	scaleStalls(c, before.Group, func(string, string) bool { return true }, scale)
}

func scaleStalls(c *inspect.Case, group string, mine func(client, member string) bool, scale func(inspect.Millis) inspect.Millis) {
	changeTimeline(c, group, func(r *inspect.Rebalance) {
		if r.Stall == nil {
			return
		}
		for _, l := range r.Members.Left {
			if mine(l.ClientID, l.MemberID) {
				s := scale(*r.Stall)
				r.Stall = &s
				return
			}
		}
	})
}

func changeTimeline(c *inspect.Case, group string, change func(*inspect.Rebalance)) {
	for i := range c.Timelines {
		if c.Timelines[i].Group != group || group == "" {
			continue
		}
		c.Timelines = append([]inspect.Timeline(nil), c.Timelines...)
		rs := append([]inspect.Rebalance(nil), c.Timelines[i].Rebalances...)
		for j := range rs {
			rs[j].Members.Left = append([]inspect.Departure(nil), rs[j].Members.Left...)
			change(&rs[j])
		}
		c.Timelines[i].Rebalances = rs
	}
}

// assumedRecords is the max.poll.records that advice about a live consumer assumes:
// the default of every client that has the setting (Streams: 1000).
const assumedRecords = 500

// changeGroup changes the live members of a group: those of the target, and those
// that have the same value as it.
func changeGroup(c *inspect.Case, t target, before *Subject, set map[string]string) {
	g := groupOf(c, t.group)
	if g == nil {
		return
	}
	members, clients := changedMembers(c, g, t, before, set)
	c.Groups = append([]inspect.Group(nil), c.Groups...)
	for i := range c.Groups {
		if c.Groups[i].ID != t.group {
			continue
		}
		ms := append([]inspect.Member(nil), c.Groups[i].Members...)
		for j := range ms {
			m := &ms[j]
			setTimeouts(members[m.MemberID], &m.Session, &m.Rebalance)
			if d, ok := parseMillis(members[m.MemberID][keyHeartbeat]); ok {
				m.Heartbeat = inspect.Ms(d)
			}
		}
		c.Groups[i].Members = ms
	}
	changeTimeline(c, t.group, func(r *inspect.Rebalance) {
		for j := range r.Members.Left {
			l := &r.Members.Left[j]
			setTimeouts(members[l.MemberID], &l.Session, &l.Rebalance)
		}
	})
	if n, err := strconv.ParseInt(set[keyRecords], 10, 64); err == nil && n > 0 && t.config < 0 {
		scaleLive(c, t, clients, float64(n)/assumedRecords)
	}
}

// changedMembers are the live members of a group that a change of the target reaches,
// with what it sets for each, and the client ids of those that are the target itself.
func changedMembers(c *inspect.Case, g *inspect.Group, t target, before *Subject, set map[string]string) (members map[string]map[string]string, clients map[string]bool) {
	members, clients = map[string]map[string]string{}, map[string]bool{}
	for _, s := range liveClients(c, g, timelineOf(c, g.ID)) {
		what := set
		if t.config >= 0 || t.clients != nil && !sameTarget(s.target, t) {
			what = alike(before, s, set)
		} else {
			for _, m := range s.Members {
				clients[m.ClientID] = true
			}
			for _, d := range s.Departed {
				clients[d.ClientID] = true
			}
		}
		for id := range s.target.clients {
			members[id] = what
		}
	}
	return members, clients
}

func setTimeouts(set map[string]string, session, rebalance **inspect.Millis) {
	if d, ok := parseMillis(set[keySession]); ok {
		*session = inspect.Ms(d)
	}
	for _, k := range []string{keyRebalance, keyPoll} {
		if d, ok := parseMillis(set[k]); ok {
			*rebalance = inspect.Ms(d)
		}
	}
}

// scaleLive shortens the work of live consumers with the number of records a poll.
func scaleLive(c *inspect.Case, t target, clients map[string]bool, by float64) {
	scale := func(m inspect.Millis) inspect.Millis { return inspect.Millis(float64(m) * by) }
	scaleStalls(c, t.group, func(client, member string) bool { return clients[client] || t.clients[member] }, scale)
	scaleDeclared(c, t.group, scale)
}

// scaleDeclared changes the declared time of a batch for one group, or for the one
// consumer of no known group; what was declared for all stays so for the others.
func scaleDeclared(c *inspect.Case, group string, scale func(inspect.Millis) inspect.Millis) {
	b, own := c.Declared.BatchTimes[group]
	if !own && c.Declared.BatchTime == nil {
		return
	}
	if !own {
		b = *c.Declared.BatchTime
	}
	c.Declared.BatchTimes = maps.Clone(c.Declared.BatchTimes)
	if c.Declared.BatchTimes == nil {
		c.Declared.BatchTimes = map[string]inspect.Millis{}
	}
	c.Declared.BatchTimes[group] = scale(b)
}

// changeBrokers follows advice on broker settings, on every broker.
func changeBrokers(c *inspect.Case, set map[string]string) {
	for _, k := range sortedKeys(set) {
		if !brokerSetting(k) {
			continue
		}
		c.Brokers = append([]inspect.Broker(nil), c.Brokers...)
		for i := range c.Brokers {
			cfg := maps.Clone(c.Brokers[i].Config)
			if cfg == nil {
				cfg = map[string]string{}
			}
			cfg[k] = set[k]
			c.Brokers[i].Config = cfg
		}
	}
}

func brokerSetting(key string) bool {
	return strings.HasPrefix(key, "offsets.") || strings.HasPrefix(key, "group.initial.") || strings.HasPrefix(key, "group.min.") ||
		strings.HasPrefix(key, "group.max.") || strings.HasPrefix(key, "group.consumer.") || key == keyMinInSync
}

// settleRounds bounds how often one fix is widened so that no other rule objects.
const settleRounds = 6

// settle tries a finding's fix and alternatives on a copy of the case, widens each
// by what other rules would demand next, and withdraws what cannot be made clean:
// following advice must never earn more advice.
func settle(c *inspect.Case, o Options, f *Finding, trials map[string]*trial) {
	if f.Fix == nil {
		return
	}
	if len(f.Fix.Set) == 0 && len(f.Fix.Delete) == 0 && len(f.Fix.Alternatives) == 0 {
		return
	}
	tr, known := trials[f.target.key()]
	if !known {
		tr = &trial{}
		tr.small, tr.target = reduce(c, f.target)
		tr.before = run(&tr.small, o).Findings
		trials[f.target.key()] = tr
	}
	small, before := tr.small, tr.before
	t := f.target
	t.config = tr.target.config
	own := f.Fix.Set
	set, del, ok := widen(&small, t, o, f, before, f.Fix.Set, f.Fix.Delete)
	if !ok {
		set, del = map[string]string{}, []string{}
	}
	var alternatives []map[string]string
	for _, a := range f.Fix.Alternatives {
		if wide, _, ok := widen(&small, t, o, f, before, a, nil); ok && !maps.Equal(wide, set) {
			alternatives = append(alternatives, wide)
		}
	}
	if len(set) == 0 && len(del) == 0 && len(alternatives) > 0 {
		set, alternatives = alternatives[0], alternatives[1:]
	}
	if del == nil {
		del = []string{}
	}
	if len(set) == 0 && len(del) == 0 && len(alternatives) == 0 { // no value is offered: none has a price
		f.Fix.Price = catalog[f.ID].Doc.Price
	}
	f.Fix.Set, f.Fix.Delete, f.Fix.Alternatives = set, del, alternatives
	f.withoutPlace()
	if f.Fix.Alternatives == nil {
		f.Fix.Alternatives = []map[string]string{}
	}
	f.Fix.Edits = editsOf(f, own)
}

// withoutPlace takes back the values that the program around the client has no setting for,
// and says so.
func (f *Finding) withoutPlace() {
	around := f.subject.around()
	if around == nil {
		return
	}
	settable := func(set map[string]string) string {
		for _, k := range sortedKeys(set) {
			if !around.Has(k) {
				return k
			}
		}
		return ""
	}
	f.Fix.Alternatives = slices.DeleteFunc(f.Fix.Alternatives, func(a map[string]string) bool { return settable(a) != "" })
	key := settable(f.Fix.Set)
	if key == "" {
		return
	}
	f.Fix.Set, f.Fix.Delete, f.Fix.Price = map[string]string{}, []string{}, catalog[f.ID].Doc.Price
	if len(f.Fix.Alternatives) > 0 {
		f.Fix.Set, f.Fix.Alternatives = f.Fix.Alternatives[0], f.Fix.Alternatives[1:]
		return
	}
	f.Fix.Summary = fmt.Sprintf("%s has no setting for %s: make the work between two polls shorter, or the batches smaller.", around.Name, Spell(f.subject.Family, key))
	if key == keySocket || key == keyRequest {
		f.Fix.Summary = fmt.Sprintf("%s has no setting for %s: lower the rebalance timeout below it where there is one.", around.Name, Spell(f.subject.Family, key))
	}
}

// around is the program that hands its own settings to the client, read from its file; nil
// where the client's own can be set.
func (s *Subject) around() *settings.Framework {
	if s == nil || s.Config == nil || s.Config.Dialect == "source" {
		return nil
	}
	return s.framework()
}

// reduce keeps what a fix at the target can touch, so that trying it out is cheap.
func reduce(c *inspect.Case, t target) (inspect.Case, target) {
	if t.cluster {
		return *c, t
	}
	out := *c
	out.Configs, out.Groups, out.Timelines, out.LogEvents = nil, nil, nil, fewEvents(c.LogEvents, t.group)
	for i := range c.Configs {
		if i == t.config || t.group != "" && c.Configs[i].Group == t.group {
			if i == t.config {
				t.config = len(out.Configs)
				out.Configs = append(out.Configs, c.Configs[i])
				continue
			}
			out.Configs = append(out.Configs, c.Configs[i])
		}
	}
	if g := groupOf(c, t.group); g != nil {
		out.Groups = []inspect.Group{*g}
	}
	if tl := timelineOf(c, t.group); tl != nil {
		out.Timelines = []inspect.Timeline{*tl}
	}
	return out, t
}

// mostTried is how many events of a log a fix is tried on: a fix is judged by what changes
// between two evaluations, and each event more makes both of them longer.
const mostTried = 2000

// fewEvents are the events that may concern a group: the first and the last of them where
// there are many.
func fewEvents(es []inspect.LogEvent, group string) []inspect.LogEvent {
	if len(es) <= mostTried {
		return es
	}
	var out []inspect.LogEvent
	for _, e := range es {
		if e.Group == group || e.Group == "" || group == "" {
			out = append(out, e)
		}
	}
	if n := len(out); n > mostTried {
		out = append(out[:mostTried/2:mostTried/2], out[n-mostTried/2:]...)
	}
	return out
}

// widen applies a change, and while other rules object adds what they ask for.
func widen(c *inspect.Case, t target, o Options, f *Finding, before []Finding, set map[string]string, del []string) (map[string]string, []string, bool) {
	if len(set) == 0 && len(del) == 0 {
		return nil, nil, false
	}
	set = maps.Clone(set)
	if del != nil { // an alternative has no deletions: it must stay a set of values
		del = append([]string{}, del...)
	}
	if set == nil {
		set = map[string]string{}
	}
	for range settleRounds {
		after := apply(c, t, set, del)
		fs := run(&after, o).Findings
		again := objections(*f, t, before, fs)
		if len(again) == 0 {
			return set, del, true
		}
		grown := false
		for _, g := range again {
			if g.Fix == nil || g.target.key() != t.key() {
				continue
			}
			more := f.Fix.take(&g, set)
			if del != nil {
				more = dropToo(&del, g.Fix.Delete, set) || more
			}
			grown = grown || more
		}
		if !grown {
			break
		}
	}
	return nil, nil, false
}

// take adds the values that another finding's fix sets, and reports whether that
// changed anything.
func (x *Fix) take(g *Finding, set map[string]string) (grown bool) {
	for k, v := range g.Fix.Set {
		if set[k] != v {
			set[k], grown = v, true
			x.note(k, "without it, "+reason(g.ID))
		}
	}
	return grown
}

// dropToo adds deletions of keys that are not to be set, and reports whether there
// were any.
func dropToo(del *[]string, more []string, set map[string]string) (grown bool) {
	for _, k := range more {
		if _, wanted := set[k]; !wanted && !slices.Contains(*del, k) {
			*del, grown = append(*del, k), true
		}
	}
	return grown
}

// note says how a value was worked out, unless the rule has said so.
func (x *Fix) note(key, text string) {
	if x.Notes == nil {
		x.Notes = map[string]string{}
	}
	if x.Notes[key] == "" {
		x.Notes[key] = text
	}
}

// objections are the findings that speak against a change: the one that it was to
// remove, if it is still there, and warnings and errors that were not there before.
func objections(f Finding, t target, before, after []Finding) []Finding {
	type tally struct{ n, rank int }
	sum := func(fs []Finding) map[string]tally {
		m := map[string]tally{}
		for _, g := range fs {
			if g.ID != f.ID && g.Severity.Rank() < Warning.Rank() {
				continue
			}
			v := m[g.ID]
			v.n++
			v.rank = max(v.rank, g.Severity.Rank())
			m[g.ID] = v
		}
		return m
	}
	was, is := sum(before), sum(after)
	var out []Finding
	for _, g := range after {
		a, b := is[g.ID], was[g.ID]
		switch {
		case g.ID == f.ID && a.n >= b.n && sameTarget(g.target, t):
			out = append(out, g)
		case g.ID == f.ID && g.Severity.Rank() >= Warning.Rank() && a.rank > b.rank:
			out = append(out, g)
		case g.ID != f.ID && g.Severity.Rank() >= Warning.Rank() && (a.n > b.n || a.rank > b.rank):
			out = append(out, g)
		}
	}
	return out
}

func sameTarget(a, b target) bool {
	if a.key() != b.key() {
		return false
	}
	if a.clients == nil || b.clients == nil {
		return true
	}
	for id := range a.clients {
		if b.clients[id] {
			return true
		}
	}
	return false
}

// editsOf says a fix in the spelling, the unit and the place of the reader's file.
func editsOf(f *Finding, own map[string]string) []Edit {
	s := f.subject
	if s == nil {
		return nil
	}
	var out []Edit
	add := func(alternative int, set map[string]string) {
		keys := sortedKeys(set)
		slices.SortStableFunc(keys, func(a, b string) int { // the rule's own first
			_, ownA := own[a]
			_, ownB := own[b]
			switch {
			case ownA == ownB || alternative > 0:
				return 0
			case ownA:
				return -1
			}
			return 1
		})
		for _, k := range keys {
			e := Edit{Key: k, Spelled: s.writtenAs(k), Value: s.write(k, set[k]), Alternative: alternative}
			if v, ok := s.values[k]; ok && v.Where != nil {
				e.Where = v.Where
			}
			out = append(out, e)
		}
	}
	for _, k := range f.Fix.Delete {
		e := Edit{Key: k, Spelled: s.spell(k), Delete: true}
		if v, ok := s.values[k]; ok {
			e.Where = v.Where
		} else if s.Config != nil {
			for _, p := range s.Config.Problems {
				if p.Key == k {
					at := p.Where
					e.Where = &at
				}
			}
		}
		out = append(out, e)
	}
	add(0, f.Fix.Set)
	for i, a := range f.Fix.Alternatives {
		add(i+1, a)
	}
	return out
}
