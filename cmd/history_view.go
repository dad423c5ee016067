package cmd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/internal/render"
	"github.com/kgdiag/kgdiag/internal/term"
)

// historyDoc is the document kgdiag.history/v1.
type historyDoc struct {
	envelope
	Groups []groupHistory `json:"groups"`
}

// groupHistory is one group's part of it.
type groupHistory struct {
	Group         string              `json:"group"`
	Type          inspect.GroupType   `json:"type"`
	CompleteSince inspect.Time        `json:"complete_since"`
	Summary       historySummary      `json:"summary"`
	Rebalances    []inspect.Rebalance `json:"rebalances"`
	// Last is the newest rebalance before the window; null unknown.
	Last   *inspect.Rebalance `json:"last_before"`
	Spans  []inspect.Span     `json:"spans"`
	Pauses []inspect.Pause    `json:"pauses"`
	WhatIf *inspect.Replay    `json:"what_if,omitempty"`

	whole bool // the log was read from its first record, and nothing is missing
}

// historySummary counts what happened in the window.
type historySummary struct {
	Rebalances int     `json:"rebalances"`
	Evictions  int     `json:"evictions"`
	PerHour    float64 `json:"per_hour"`
	window     time.Duration
	Stopped    *inspect.Millis       `json:"stopped_ms"` // the whole group, where it is known; null unknown
	Idle       *inspect.Millis       `json:"idle_ms"`    // partitions of departed members, the longest of each departure
	Causes     map[inspect.Cause]int `json:"causes"`
	// Worst is the member that went most often; "" where nobody went twice.
	Worst      string `json:"worst_member"`
	WorstCount int    `json:"worst_member_count"`
}

// historyView shows the rebalances of the chosen groups.
func (a *app) historyView(c *inspect.Case, ids []string, o *pastOptions) render.View {
	doc := historyDoc{envelope: a.envelopeOf("kgdiag.history/v1", c), Groups: []groupHistory{}}
	v := render.View{Head: a.clusterLine(c.Cluster, "")}
	quiet := 0
	for _, id := range ids {
		h := a.groupHistory(c, id, o)
		doc.Groups = append(doc.Groups, h)
		if len(ids) > 3 && len(h.Rebalances) == 0 && !a.flags.verbose {
			quiet++
			continue
		}
		v.Blocks = append(v.Blocks, a.historyBlocks(c, h, o, len(v.Blocks) > 0)...)
	}
	if quiet > 0 {
		v.Blocks = append(v.Blocks, render.Block{Lines: []render.Line{render.L("%s without a rebalance in this time", plural(quiet, "group"))}, NoTSV: true})
	}
	if len(ids) == 0 {
		v.Blocks = append(v.Blocks, render.Block{Lines: []render.Line{render.L("no group matches")}, NoTSV: true})
	}
	if lines := gapsByReason(historyGaps(c.Gaps)); len(lines) > 0 {
		v.Blocks = append(v.Blocks, render.Block{Lines: lines, NoTSV: true})
	}
	v.Blocks = append(v.Blocks, render.Block{Table: a.historyTSV(doc.Groups), TSVOnly: true})
	v.Data = doc
	return v
}

// historyGaps are the gaps that matter to a look back.
func historyGaps(gaps []inspect.Gap) []inspect.Gap {
	var out []inspect.Gap
	for _, g := range gaps {
		if g.Fact != inspect.FactLag && g.Fact != inspect.FactTopics {
			out = append(out, g)
		}
	}
	return out
}

// groupHistory is one group's part of the document.
func (a *app) groupHistory(c *inspect.Case, id string, o *pastOptions) groupHistory {
	t := timelineFor(c, id)
	h := groupHistory{Group: id, Rebalances: o.inWindow(t), Last: o.lastBefore(t), Spans: []inspect.Span{}, Pauses: []inspect.Pause{}}
	if t == nil {
		h.Summary = summarise(nil, o)
		return h
	}
	h.Type, h.CompleteSince, h.whole = t.Type, t.CompleteSince, wholeLog(c, id)
	for _, s := range t.Spans {
		if s.To.After(o.begin) && s.From.Before(o.end) {
			h.Spans = append(h.Spans, s)
		}
	}
	for _, p := range t.Pauses {
		if !p.To.Before(o.begin) && p.From.Before(o.end) {
			h.Pauses = append(h.Pauses, p)
		}
	}
	h.Summary = summarise(h.Rebalances, o)
	if o.replay != nil {
		within := *t
		within.Rebalances, within.Pauses = h.Rebalances, h.Pauses
		r := inspect.WhatIf(within, *o.replay)
		h.WhatIf = &r
	}
	return h
}

// wholeLog reports whether the group's partition was read from its very first
// record, with nothing compacted away.
func wholeLog(c *inspect.Case, id string) bool {
	part := int32(-1)
	for i := range c.Records {
		if c.Records[i].Group == id {
			part = c.Records[i].Partition
			break
		}
	}
	for _, l := range c.Logs {
		if l.Partition == part {
			return l.LogStart == 0 && l.From == 0 && l.CompleteFrom == 0
		}
	}
	return false
}

// summarise counts rebalances.
func summarise(list []inspect.Rebalance, o *pastOptions) historySummary {
	s := historySummary{Rebalances: len(list), Causes: map[inspect.Cause]int{}}
	if hours := o.end.Sub(o.begin).Hours(); hours > 0 {
		s.window = o.end.Sub(o.begin).Round(time.Second)
		s.PerHour = float64(int(float64(len(list))/hours*10+0.5)) / 10
	}
	gone := map[string]int{}
	for _, r := range list {
		s.Causes[r.Cause]++
		s.Evictions += evictionsOf(&r, func(inspect.Cause, inspect.Confidence) bool { return true })
		s.Stopped = addMillis(s.Stopped, r.Stopped)
		for _, d := range r.Members.Left {
			s.Idle = addMillis(s.Idle, d.Idle)
			gone[memberName(d.ClientID, d.MemberID, d.InstanceID)]++
		}
	}
	for _, name := range sortedNames(gone) {
		if gone[name] > 1 && gone[name] > s.WorstCount {
			s.Worst, s.WorstCount = name, gone[name]
		}
	}
	return s
}

// evictionsOf counts the members that were put out in a rebalance. Its own cause may
// be another: a group is emptied when its last member is put out.
func evictionsOf(r *inspect.Rebalance, want func(inspect.Cause, inspect.Confidence) bool) int {
	n := 0
	for i := range r.Members.Left {
		l := &r.Members.Left[i]
		n += bit(l.Cause.Eviction() && want(l.Cause, l.Confidence))
	}
	if n == 0 && r.Cause.Eviction() && want(r.Cause, r.Confidence) {
		n = 1
	}
	return n
}

func sortedNames(m map[string]int) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func addMillis(sum, d *inspect.Millis) *inspect.Millis {
	if d == nil {
		return sum
	}
	return inspect.Ms(inspect.Or(sum, 0) + d.Duration())
}

// memberName names a member for people: its instance id, else its client id.
func memberName(clientID, memberID string, instance *string) string {
	switch {
	case instance != nil && *instance != "":
		return *instance
	case clientID != "":
		return clientID
	}
	return memberID
}

// historyBlocks are the texts of one group.
func (a *app) historyBlocks(c *inspect.Case, h groupHistory, o *pastOptions, apart bool) []render.Block {
	head := []render.Line{a.historyHead(h, o)}
	if apart {
		head = append([]render.Line{nil}, head...)
	}
	block := render.Block{Lines: head, NoTSV: true}
	if len(h.Rebalances) == 0 {
		return append([]render.Block{block}, a.whatIfBlock(h)...)
	}
	block.Table = a.historyTable(h)
	block.After = a.summaryLines(h)
	blocks := []render.Block{block}
	if a.flags.verbose {
		blocks = append(blocks, render.Block{Lines: a.evidenceLines(h), NoTSV: true})
	}
	blocks = append(blocks, a.whatIfBlock(h)...)
	if lanes := a.laneChart(h, o); len(lanes) > 0 {
		blocks = append(blocks, render.Block{Lines: append([]render.Line{nil}, lanes...), NoTSV: true})
	}
	return blocks
}

// historyHead is the first line of a group: how much happened, in what time, and
// since when the log is whole.
func (a *app) historyHead(h groupHistory, o *pastOptions) render.Line {
	l := render.Line{render.S(term.Bold, "%s", h.Group)}
	if len(h.Rebalances) == 0 {
		l = append(l, render.P("  no rebalance in %s", prose.Span(o.end.Sub(o.begin).Round(time.Second))))
		if len(o.causes) > 0 {
			l = append(l, render.P(" by %s", strings.Join(o.causes, ", ")))
		}
		if h.Last != nil {
			l = append(l, render.P("; last: %s, gen %d, %s, %s", a.day(h.Last.Time.Time), h.Last.Generation, h.Last.Cause, h.Last.Confidence))
		} else {
			l = append(l, render.P("; none is known from before"))
		}
	} else {
		l = append(l, render.P("  %s, %s-%s", plural(len(h.Rebalances), "rebalance"), a.shortMoment(o.begin, o), a.shortMoment(o.end, o)+" "+o.end.In(a.zone()).Format("MST")))
	}
	if h.whole {
		return append(l, render.P("; log complete from its beginning"))
	}
	if !h.CompleteSince.IsZero() && h.CompleteSince.After(o.begin) {
		return append(l, render.P("; "), render.S(term.Warn, "asked from %s, the log is complete since %s", a.shortMoment(o.begin, o), a.shortMoment(h.CompleteSince.Time, o)))
	}
	if !h.CompleteSince.IsZero() {
		l = append(l, render.P("; log complete since %s", a.day(h.CompleteSince.Time)))
	}
	return l
}

// day is a time with its day where that is not today.
func (a *app) day(t time.Time) string {
	t = t.In(a.zone())
	now := a.now().In(a.zone())
	if t.Year() == now.Year() && t.YearDay() == now.YearDay() {
		return t.Format("15:04")
	}
	if t.Year() == now.Year() {
		return t.Format("2 Jan 15:04")
	}
	return t.Format("2 Jan 2006 15:04")
}

// shortMoment is an edge of the window: HH:MM, with the day where the window is
// longer than one.
func (a *app) shortMoment(t time.Time, o *pastOptions) string {
	if o.end.Sub(o.begin) >= 24*time.Hour {
		return t.In(a.zone()).Format("2 Jan 15:04")
	}
	if o.end.Sub(o.begin) < 10*time.Minute {
		return t.In(a.zone()).Format("15:04:05")
	}
	return t.In(a.zone()).Format("15:04")
}

// historyTable has one row a rebalance, oldest first.
func (a *app) historyTable(h groupHistory) *render.Table {
	server := h.Type != inspect.Classic && h.Type != inspect.UnknownType
	t := &render.Table{Columns: render.Cols("TIME", ">GEN", "MEMBERS", "WHO", "CAUSE", "CONF", "STOPPED")}
	if server {
		t.Columns = render.Cols("TIME", ">EPOCH", "MEMBERS", "WHO", "CAUSE", "CONF", "CONVERGED", "LAST")
	}
	long := len(h.Rebalances) > 0 && h.Rebalances[len(h.Rebalances)-1].Time.Sub(h.Rebalances[0].Time.Time) >= 20*time.Hour
	for _, r := range h.Rebalances {
		when := a.clock(r.Time)
		if long {
			when = r.Time.In(a.zone()).Format("01-02 15:04:05")
		}
		row := []render.Span{render.P("%s", when), render.P("%s", genText(r)), render.P("%s", membersText(r)),
			render.P("%s", whoText(r)), render.S(causeStyle(r), "%s", causeText(r)), render.P("%s", confText(r))}
		if server {
			row = append(row, render.P("%s", spanOf(r.Converged)), render.P("%s", r.ConvergedLast))
		} else {
			row = append(row, render.P("%s", stoppedText(r)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// genText is the generation or epoch, ">=5" where polls alone saw it.
func genText(r inspect.Rebalance) string {
	if r.GenerationBasis == "lower_bound" {
		return fmt.Sprintf(">=%d", r.Generation)
	}
	return fmt.Sprint(r.Generation)
}

func membersText(r inspect.Rebalance) string {
	if r.Members.Before == r.Members.After {
		return fmt.Sprint(r.Members.After)
	}
	return fmt.Sprintf("%s -> %d", beforeText(r), r.Members.After)
}

// beforeText is how many members there were, "-" where what was before was not read or
// is compacted away.
func beforeText(r inspect.Rebalance) string {
	if r.PreviousGeneration == nil && r.Members.Before == 0 && len(r.Members.Joined) == 0 && r.Generation > 1 {
		return "-"
	}
	return fmt.Sprint(r.Members.Before)
}

// mostNamed is how many members a row names.
const mostNamed = 3

// whoText names who went and who came.
func whoText(r inspect.Rebalance) string {
	var parts []string
	for _, d := range r.Members.Left {
		parts = append(parts, "-"+atHost(memberName(d.ClientID, d.MemberID, d.InstanceID), d.Host))
	}
	for _, j := range r.Members.Joined {
		parts = append(parts, "+"+atHost(memberName(j.ClientID, j.MemberID, j.InstanceID), j.Host))
	}
	for _, p := range r.Members.Replaced {
		parts = append(parts, "="+atHost(memberName(p.ClientID, p.NewMemberID, p.InstanceID), cmp.Or(p.NewHost, p.Host)))
	}
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(prose.First(parts, mostNamed), " ")
}

func atHost(name, host string) string {
	if host == "" {
		return name
	}
	return name + "@" + host
}

// causeText is the cause, with the time away of members that came back.
func causeText(r inspect.Rebalance) string {
	s := string(r.Cause)
	for _, j := range r.Members.Joined {
		if r.Cause == inspect.MemberJoined && j.BackAfter != nil {
			return s + ", back after " + prose.Span(j.BackAfter.Duration().Round(time.Second))
		}
	}
	return s
}

func confText(r inspect.Rebalance) string {
	if r.Basis == inspect.Stated && r.Cause != inspect.MemberJoined {
		return "stated"
	}
	return string(r.Confidence)
}

func causeStyle(r inspect.Rebalance) term.Style {
	switch {
	case r.Cause.Eviction():
		return term.Bad
	case r.Cause == inspect.UnknownCause:
		return term.Warn
	}
	return term.Plain
}

// stoppedText is how long the group stood still: "~" marks an estimate.
func stoppedText(r inspect.Rebalance) string {
	switch {
	case r.Stopped == nil:
		return "-"
	case *r.Stopped == 0:
		return "none"
	case r.StoppedBasis == "estimated":
		return "~" + prose.Span(r.Stopped.Duration())
	}
	return prose.Span(r.Stopped.Duration())
}

// summaryLines count: an hour, time lost, causes, worst member.
func (a *app) summaryLines(h groupHistory) []render.Line {
	s := h.Summary
	var parts []string
	if s.window >= time.Hour { // an hour's rate from a minute is no rate
		parts = append(parts, fmt.Sprintf("%g an hour", s.PerHour))
	}
	if s.Idle != nil && s.Idle.Duration() >= time.Second {
		parts = append(parts, "partitions of departed members stood still "+prose.Span(s.Idle.Duration().Round(time.Second)))
	}
	if s.Stopped != nil && *s.Stopped > 0 {
		parts = append(parts, "the whole group ~"+prose.Span(about(s.Stopped.Duration())))
	}
	var causes []string
	for _, c := range inspect.Causes() {
		if n := s.Causes[c]; n > 0 {
			causes = append(causes, fmt.Sprintf("%s x%d", c, n))
		}
	}
	parts = append(parts, strings.Join(causes, ", "))
	if s.WorstCount > 1 {
		parts = append(parts, fmt.Sprintf("most often %s, %d times", s.Worst, s.WorstCount))
	}
	var out []render.Line
	for _, l := range prose.Wrap(strings.Join(parts, "; "), pageWidth) {
		out = append(out, render.L("%s", l))
	}
	return out
}

// about rounds a sum to what its parts are known to: not to zero.
func about(d time.Duration) time.Duration {
	switch {
	case d < time.Second:
		return d
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Second)
}

// evidenceLines are what -v adds: the evidence of each rebalance and its rivals.
func (a *app) evidenceLines(h groupHistory) []render.Line {
	var out []render.Line
	for _, r := range h.Rebalances {
		out = append(out, render.L("%s  gen %s  %s, %s, %s  (%s)", a.clock(r.Time), genText(r), r.Cause, r.Confidence, r.Basis, r.ID))
		for _, e := range r.Evidence {
			out = append(out, render.L("      %s", e))
		}
		for _, v := range r.Rivals {
			if v.WhyNot == "" {
				out = append(out, render.L("      or %s: nothing speaks against it", v.Cause))
				continue
			}
			out = append(out, render.L("      not %s: %s", v.Cause, v.WhyNot))
		}
		for _, n := range r.Notes {
			out = append(out, render.L("      %s", n))
		}
	}
	return out
}

// whatIfBlock shows a replay.
func (a *app) whatIfBlock(h groupHistory) []render.Block {
	w := h.WhatIf
	if w == nil {
		return nil
	}
	lines := []render.Line{render.L("what if  %d of %s would not have been, and %s", len(w.Avoided),
		plural(len(w.Avoided)+len(w.Remaining)+len(w.Undecided), "departure"), plural(w.Rebalances, "rebalance less"))}
	if w.Rebalances != 1 {
		lines = []render.Line{render.L("what if  %d of %s would not have been: %d rebalances less", len(w.Avoided),
			plural(len(w.Avoided)+len(w.Remaining)+len(w.Undecided), "departure"), w.Rebalances)}
	}
	show := func(word string, list []inspect.ReplayEvent) {
		for i, e := range list {
			if i == 5 && !a.flags.verbose {
				lines = append(lines, render.L("      and %d more", len(list)-5))
				break
			}
			lines = append(lines, render.L("      %s %s  %s  %s: %s", a.clock(e.Time), word, e.ClientID, e.Cause, e.Why))
		}
	}
	show("avoided  ", w.Avoided)
	show("remains  ", w.Remaining)
	show("undecided", w.Undecided)
	show("added    ", w.Added)
	return []render.Block{{Lines: lines, NoTSV: true}}
}

// historyTSV is one row a rebalance of all groups.
func (a *app) historyTSV(groups []groupHistory) *render.Table {
	t := &render.Table{Columns: render.Cols("GROUP", "TIME", "GENERATION", "BEFORE", "AFTER", "WHO", "CAUSE", "CONFIDENCE", "BASIS", "RETURNED", "STOPPED-MS", "ID")}
	for _, h := range groups {
		for _, r := range h.Rebalances {
			stopped := ""
			if r.Stopped != nil {
				stopped = fmt.Sprint(r.Stopped.Duration().Milliseconds())
			}
			t.Rows = append(t.Rows, render.Row(h.Group, r.Time.UTC().Format("2006-01-02T15:04:05.000Z"), fmt.Sprint(r.Generation),
				beforeText(r), fmt.Sprint(r.Members.After), whoText(r), string(r.Cause), string(r.Confidence), string(r.Basis),
				string(r.Returned), stopped, r.ID))
		}
	}
	return t
}
