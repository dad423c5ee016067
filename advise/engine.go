package advise

import (
	"slices"
	"sort"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
)

// Options say which rules to run and how to weigh them.
type Options struct {
	Disable    []string            // ids or names of rules that are not run
	Severities map[string]Severity // by id: replaces the severity of a rule's findings
	// Untried leaves fixes as the rules propose them, without trying them out; for
	// callers that want findings alone.
	Untried bool

	rules []*Rule // the enabled ones; filled by Evaluate
}

// trial is what settle remembers from one finding to the next of the same target.
type trial struct {
	small  inspect.Case
	target target
	before []Finding
}

// Report is the result of Evaluate.
type Report struct {
	Findings  []Finding   `json:"findings"`  // worst first; a symptom follows its cause
	Checked   int         `json:"checked"`   // rules that were run on all that they apply to
	Rules     int         `json:"rules"`     // rules that are not disabled
	Unchecked []Unchecked `json:"unchecked"` // ordered by id, then group
}

// Unchecked is a rule that could not be run for want of a fact.
type Unchecked struct {
	ID      string       `json:"id"`
	Name    string       `json:"name"`
	Group   string       `json:"group"`   // "" where it concerns no group, or all
	Subject string       `json:"subject"` // "" where there was nothing to run it on
	Fact    inspect.Fact `json:"fact"`
	Reason  string       `json:"reason"`
	Hint    string       `json:"hint"` // in a few words, what would make it checked
}

// Evaluate runs every rule on everything in the case. The case is not changed. A
// nil or empty case gives a report in which nothing was checked.
func Evaluate(c *inspect.Case, o Options) Report {
	if c == nil {
		c = &inspect.Case{}
	}
	o.rules = enabled(o)
	r := run(c, o)
	trials := map[string]*trial{}
	for i := range r.Findings {
		if !o.Untried {
			settle(c, o, &r.Findings[i], trials)
		}
	}
	group(r.Findings)
	if !o.Untried {
		agree(o, r.Findings, trials)
	}
	return r
}

// run is Evaluate without trying the fixes and without grouping.
func run(c *inspect.Case, o Options) Report {
	subjects := subjectsOf(c)
	rep := Report{Findings: []Finding{}, Unchecked: []Unchecked{}}
	var room []Unchecked // one for all rules: of very many groups each rule leaves very many unchecked
	for _, rule := range o.rules {
		rep.Rules++
		missing := runRule(rule, subjects, o, &rep, &room)
		if len(missing) == 0 {
			rep.Checked++
		}
		rep.Unchecked = append(rep.Unchecked, missing...)
	}
	return rep
}

func enabled(o Options) []*Rule {
	off := map[string]bool{}
	for _, d := range o.Disable {
		off[strings.ToLower(d)] = true
	}
	var out []*Rule
	for _, r := range sorted() {
		if !off[strings.ToLower(r.ID)] && !off[r.Name] {
			out = append(out, r)
		}
	}
	return out
}

// runRule calls a rule for every subject of its scope and says where it could not, in room
// that the next call uses again.
func runRule(rule *Rule, subjects []*Subject, o Options, rep *Report, room *[]Unchecked) []Unchecked {
	missing := (*room)[:0]
	tried := false
	coveredByFile := map[string]bool{}
	for _, s := range subjects {
		if !rule.concerns(s) {
			continue
		}
		tried = true
		if len(rule.Families) > 0 && s.Family != inspect.Unknown && !slices.Contains(rule.Families, s.Family) {
			continue
		}
		if fact, why, missed := firstLack(rule, s); missed {
			missing = append(missing, Unchecked{ID: rule.ID, Name: rule.Name, Group: s.Group, Subject: s.Name, Fact: fact, Reason: why.reason, Hint: why.hint})
			continue
		}
		if s.Config != nil && s.Group != "" {
			coveredByFile[s.Group] = true
		}
		rule.Check(s, func(f Finding) {
			if f = complete(rule, s, f, o); !(rule.Scope == PerFile && told(rep.Findings, f)) && !toldOfFile(rep.Findings, f, s) {
				rep.Findings = append(rep.Findings, f)
			}
		})
	}
	if !tried {
		why := nothingOf(rule)
		return []Unchecked{{ID: rule.ID, Name: rule.Name, Reason: why.reason, Hint: why.hint}}
	}
	*room = missing
	// What a live group cannot tell, the file of the same group has told.
	out := missing[:0]
	for _, u := range missing {
		if !coveredByFile[u.Group] {
			out = append(out, u)
		}
	}
	return mergeUnchecked(out)
}

// told reports whether the same is said of the same line already: a line that several
// consumers of a file inherit is wrong once.
func told(fs []Finding, f Finding) bool {
	return f.Where != nil && f.Where.Line > 0 && slices.ContainsFunc(fs, func(g Finding) bool {
		return g.ID == f.ID && g.Where != nil && *g.Where == *f.Where && g.Message == f.Message
	})
}

// toldOfFile reports whether a finding about live members says what is said already of
// the file of their group, where it is to be changed.
func toldOfFile(fs []Finding, f Finding, s *Subject) bool {
	return s.Scope == PerClient && s.Config == nil && slices.ContainsFunc(fs, func(g Finding) bool {
		return g.ID == f.ID && g.Group == f.Group && g.target.config >= 0 && g.Message == f.Message && g.Severity == f.Severity
	})
}

// concerns reports whether a subject is of the kind that the rule judges.
func (r *Rule) concerns(s *Subject) bool {
	if r.Scope == PerFile {
		return s.Scope == PerClient && s.Config != nil
	}
	return s.Scope == r.Scope
}

func firstLack(rule *Rule, s *Subject) (inspect.Fact, lack, bool) {
	if rule.Member {
		if _, _, outside := s.outsideGroup(); outside {
			return rule.Needs[0], lack{"the program takes its partitions with assign(): its consumer is no member of a group", "no member of a group"}, true
		}
	}
	for _, f := range rule.Needs {
		if why, missed := lacks(s, f); missed {
			return f, why, true
		}
	}
	if rule.Unknown != nil {
		if why := rule.Unknown(s); why != "" {
			return rule.Needs[len(rule.Needs)-1], lack{why, shortHint(why)}, true
		}
	}
	return "", lack{}, false
}

func nothingOf(rule *Rule) lack {
	switch rule.Scope {
	case PerGroup:
		return lack{"no group was looked at (name one, with -b)", "name a group, with -b"}
	case PerCluster:
		return lack{"no cluster was looked at (-b)", "only with -b"}
	case PerLog:
		return lack{"no log was read (add --log FILE)", "add --log FILE"}
	case PerFile:
		return lack{"no configuration was read (add -f FILE)", "add -f FILE"}
	}
	return lack{"no consumer was found in what was read", "add -f FILE"}
}

// mergeUnchecked joins the entries of one group that have the same reason, in place.
func mergeUnchecked(us []Unchecked) []Unchecked {
	out := us[:0]
	for _, u := range us {
		if n := len(out); n > 0 && out[n-1].Group == u.Group && out[n-1].Reason == u.Reason && u.Group != "" {
			out[n-1].Subject = "group " + u.Group
			continue
		}
		out = append(out, u)
	}
	return out
}

// complete fills in what every finding has from its rule.
func complete(rule *Rule, s *Subject, f Finding, o Options) Finding {
	f.ID, f.Name, f.Docs = rule.ID, rule.Name, DocsURL(rule.ID)
	if f.subject == nil {
		f.target, f.subject = s.target, s
	}
	if f.Severity == "" {
		f.Severity = rule.Severity
	}
	if sev, ok := o.Severities[rule.ID]; ok {
		f.Severity = sev
	}
	if f.Confidence == "" {
		f.Confidence = inspect.High
	}
	if f.Group == "" {
		f.Group = s.Group
	}
	if f.Subject == "" {
		f.Subject = s.Name
	}
	if f.Evidence == nil {
		f.Evidence = []string{}
	}
	if f.Fix != nil {
		f.Fix.fill(rule)
	}
	return f
}

// fill completes a fix: no nil in JSON, and words from the rule where it gave
// none.
func (x *Fix) fill(rule *Rule) {
	if x.Set == nil {
		x.Set = map[string]string{}
	}
	if x.Delete == nil {
		x.Delete = []string{}
	}
	if x.Alternatives == nil {
		x.Alternatives = []map[string]string{}
	}
	if x.Summary == "" {
		x.Summary = rule.Doc.Fix
	}
	if x.Price == "" {
		x.Price = rule.Doc.Price
	}
}

// subjectsOf finds everything that rules can be run on, in a fixed order.
func subjectsOf(c *inspect.Case) []*Subject {
	var out []*Subject
	index := c.Index()
	perGroup := map[string][]*Subject{}
	var ids []string
	note := func(id string, s *Subject) {
		if id == "" {
			return
		}
		if _, ok := perGroup[id]; !ok {
			ids = append(ids, id)
		}
		if s != nil {
			perGroup[id] = append(perGroup[id], s)
		} else if perGroup[id] == nil {
			perGroup[id] = []*Subject{}
		}
	}
	for i := range c.Configs {
		s := fromFile(c, i)
		out = append(out, s)
		if !otherProfile(c.Configs[:i], &c.Configs[i]) {
			note(s.Group, s)
		}
	}
	for i := range c.Groups {
		g := &c.Groups[i]
		note(g.ID, nil)
		if g.Type == inspect.Share {
			continue // share groups do not put members out for slow polls, and own no partitions
		}
		for _, s := range liveClients(c, g, index.Timeline(g.ID)) {
			out = append(out, s)
			note(g.ID, s)
		}
	}
	for i := range c.Timelines {
		note(c.Timelines[i].Group, nil)
	}
	for _, id := range ids {
		out = append(out, groupSubject(c, index, id, perGroup[id]))
	}
	if c.Cluster != (inspect.Cluster{}) || len(c.Brokers) > 0 || c.OffsetsTopic != nil {
		out = append(out, clusterSubject(c))
	}
	out = append(out, logSubjects(c)...)
	gaps := gapsOf(c)
	for _, s := range out {
		s.gaps = gaps
	}
	return out
}

// otherProfile reports whether a configuration is that of another profile of a consumer
// before it: the two never run beside each other.
func otherProfile(before []inspect.ClientConfig, c *inspect.ClientConfig) bool {
	return c.Profile != "" && slices.ContainsFunc(before, func(b inspect.ClientConfig) bool {
		return b.Where.File == c.Where.File && b.Name == c.Name && b.Group == c.Group && b.Profile != c.Profile
	})
}

// group orders findings: worst first, and behind each the findings that its fix
// takes away. A finding ranks as high as the most severe one that it explains.
func group(fs []Finding) {
	roots := make([]int, len(fs))
	for i := range fs {
		fs[i].rank = fs[i].Severity.Rank()
		if roots[i] = rootOf(fs, i); roots[i] >= 0 {
			fs[i].BecauseOf = fs[roots[i]].ID
		}
	}
	for i := range fs {
		for up, steps := roots[i], 0; up >= 0 && steps < len(fs); up, steps = roots[up], steps+1 {
			fs[up].rank = max(fs[up].rank, fs[i].Severity.Rank())
		}
	}
	sort.SliceStable(fs, func(i, j int) bool { return less(fs[i], fs[j]) })
	out, placed := make([]Finding, 0, len(fs)), make([]bool, len(fs))
	var place func(i int)
	place = func(i int) {
		if placed[i] {
			return
		}
		placed[i] = true
		out = append(out, fs[i])
		for j := range fs {
			if fs[j].BecauseOf == fs[i].ID && related(fs[i], fs[j]) {
				place(j) // and behind it what it explains itself
			}
		}
	}
	for i := range fs {
		if fs[i].BecauseOf == "" {
			place(i)
		}
	}
	for i := range fs {
		place(i)
	}
	copy(fs, out)
}

// rootOf is the index of the finding that explains another one; -1 where none does.
func rootOf(fs []Finding, i int) int {
	for _, cause := range catalog[fs[i].ID].SymptomOf {
		for j := range fs {
			if j != i && fs[j].ID == cause && related(fs[j], fs[i]) && explains(&fs[j], &fs[i]) {
				return j
			}
		}
	}
	return -1
}

// explains reports whether a finding is weighty enough to stand for its symptom. One
// that only counts rebalances belongs under what explains most of them, though its
// number makes it the more severe. A ratio of settings explains no silence that is longer
// than the settings.
func explains(root, symptom *Finding) bool {
	if root.reach > 0 && symptom.silence > root.reach {
		return false
	}
	if symptom.mostly != "" {
		return catalog[root.ID].Explains[symptom.mostly] > 0 && root.Severity.Rank() >= Warning.Rank()
	}
	return root.Severity.Rank() >= symptom.Severity.Rank()
}

// related reports whether two findings speak of the same consumer, or one of them
// of the group of the other.
func related(a, b Finding) bool {
	if a.target.cluster || b.target.cluster {
		return a.target.cluster && b.target.cluster
	}
	if (a.target.log || b.target.log) && (a.Group == "" || b.Group == "") {
		return true // a line that names no group may be about this one
	}
	if a.target.config >= 0 && b.target.config >= 0 {
		return a.target.config == b.target.config
	}
	if a.Group == "" || a.Group != b.Group {
		return false
	}
	if a.target.clients == nil || b.target.clients == nil {
		return true
	}
	for id := range a.target.clients {
		if b.target.clients[id] {
			return true
		}
	}
	return false
}

func less(a, b Finding) bool {
	if a.rank != b.rank {
		return a.rank > b.rank
	}
	if a.Group != b.Group {
		return a.Group < b.Group
	}
	if a.Subject != b.Subject {
		return a.Subject < b.Subject
	}
	if a.ID != b.ID {
		return a.ID < b.ID
	}
	return a.Message < b.Message
}

// shortHint takes what would help from the end of a reason, "(add --client …)".
func shortHint(why string) string {
	if i := strings.LastIndexByte(why, '('); i >= 0 && strings.HasSuffix(why, ")") {
		return why[i+1 : len(why)-1]
	}
	return why
}
