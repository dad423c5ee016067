package cmd

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/internal/render"
	"github.com/kgdiag/kgdiag/internal/term"
)

// whyDoc is the document kgdiag.why/v1.
type whyDoc struct {
	envelope
	Groups []diagnosis   `json:"groups"`
	Shared []sharedCause `json:"shared"` // what groups have in common; empty for one group
}

// whyView is a page a group.
func (w *whyCmd) whyView(c *inspect.Case, ds []diagnosis) render.View {
	doc := whyDoc{envelope: w.envelopeOf("kgdiag.why/v1", c), Groups: ds, Shared: []sharedCause{}}
	more := fmt.Sprintf("last %s to %s", prose.Span(c.Window.Length().Round(time.Second)), w.clockZone(c.Window.To.Time))
	if len(ds) == 1 && c.LogIsWhole(ds[0].Group) {
		more += ", log complete"
	} else if len(ds) == 1 && !ds[0].Complete.IsZero() {
		more += ", log complete since " + w.day(ds[0].Complete.Time)
	}
	v := render.View{Head: w.clusterLine(c.Cluster, more), Data: doc}
	for i := range ds {
		lines := w.whyLines(c, &ds[i])
		if i > 0 {
			lines = append([]render.Line{nil}, lines...)
		}
		v.Blocks = append(v.Blocks, render.Block{Lines: lines, NoTSV: true})
	}
	if len(ds) == 0 {
		v.Blocks = append(v.Blocks, render.Block{Lines: []render.Line{render.L("no group matches")}, NoTSV: true})
	}
	v.Blocks = append(v.Blocks, render.Block{Table: whyTSV(ds), TSVOnly: true})
	return v
}

// whyTSV is one row a group.
func whyTSV(ds []diagnosis) *render.Table {
	t := &render.Table{Columns: render.Cols("GROUP", "VERDICT", "STATE", "GENERATION", "MEMBERS", "LAG", "REBALANCES", "EVICTIONS", "CAUSE", "CONFIDENCE", "BASIS", "MEMBER", "HOST", "SET")}
	for i := range ds {
		d := &ds[i]
		gen, members, lag, set := "", "", "", ""
		if d.Generation != nil {
			gen = fmt.Sprint(*d.Generation)
		}
		if d.Members != nil {
			members = fmt.Sprint(*d.Members)
		}
		if d.Lag != nil {
			lag = fmt.Sprint(*d.Lag)
		}
		if f := d.fix(); f != nil && !d.atRecord {
			set = strings.Join(settings(f.Fix.Set), " ")
		}
		t.Rows = append(t.Rows, render.Row(d.Group, d.Verdict, d.State, gen, members, lag, fmt.Sprint(d.Summary.Rebalances),
			fmt.Sprint(d.Summary.Evictions), string(d.Cause), string(d.Confidence), string(d.Basis), d.Member, d.Host, set))
	}
	return t
}

// whyLines are the page of one group.
func (w *whyCmd) whyLines(c *inspect.Case, d *diagnosis) []render.Line {
	lines := w.verdictLines(d)
	if d.Waiting != nil {
		lines = append(lines, w.waitingLines(d.Waiting)...)
	}
	if d.Cause == "" || d.Cause == inspect.MemberJoined && d.Verdict != verdictUnstable {
		lines = append(lines, w.calmLines(c, d)...)
	} else {
		lines = append(lines, w.causeLines(c, d)...)
		lines = append(lines, w.costLines(d)...)
		lines = append(lines, w.cureLines(c, d)...)
	}
	if d.WhatIf != nil {
		for _, b := range w.whatIfBlock(d.WhatIf) {
			lines = append(lines, b.Lines...)
		}
	}
	lines = append(lines, w.checkLines(c, d)...)
	return append(lines, w.nextLines(d)...)
}

// verdictLines head a group: the verdict, what happened, and the state now, which has
// a line of its own where one is too short.
func (a *app) verdictLines(d *diagnosis) []render.Line {
	style := map[string]term.Style{verdictHealthy: term.Good, verdictOK: term.Good, verdictUnstable: term.Bad, verdictStuck: term.Bad,
		verdictUnknown: term.Warn, verdictGone: term.Warn}[d.Verdict]
	l := render.Line{render.S(term.Bold, "%s", d.Group), render.P("  "), render.S(style, "%s", d.Verdict), render.P(": ")}
	now := a.nowText(d)
	n := len(d.rebalances)
	if n == 0 {
		return []render.Line{append(l, render.P("%s", now))}
	}
	l = append(l, render.P("%s", plural(n, "rebalance")))
	if d.Summary.Evictions > 0 {
		l = append(l, render.P(", %s", plural(d.Summary.Evictions, "eviction")))
	}
	if whole := append(slices.Clone(l), render.P(". Now %s", now)); len([]rune(whole.Plain())) <= pageWidth {
		return []render.Line{whole}
	}
	return append([]render.Line{l}, paragraph("", "now "+now)...)
}

// nowText is the group's state now.
func (a *app) nowText(d *diagnosis) string {
	if d.live == nil {
		return "the group does not exist (any more)"
	}
	if d.State == "" {
		return "its state could not be read"
	}
	parts := []string{d.State}
	if d.Type == inspect.Consumer || d.Type == inspect.Share || d.Type == inspect.Streams {
		parts[0] += fmt.Sprintf(", %s protocol", d.Type)
		if d.Generation != nil {
			parts = append(parts, fmt.Sprintf("epoch %d", *d.Generation))
		}
	} else if d.Generation != nil {
		gen := fmt.Sprintf("generation %d", *d.Generation)
		if len(d.rebalances) == 0 && d.live.GenerationBasis != "lower_bound" && !d.live.StateSince.IsZero() {
			gen += " since " + prose.Span(a.now().Sub(d.live.StateSince.Time).Round(time.Second))
		}
		parts = append(parts, gen)
	}
	if d.Members != nil {
		parts = append(parts, plural(*d.Members, "member"))
	}
	if d.Lag != nil {
		parts = append(parts, "lag "+count(*d.Lag))
	}
	return strings.Join(parts, ", ")
}

// label starts a paragraph of the page.
func label(word, format string, args ...any) render.Line {
	return render.Line{render.S(term.Bold, "%-4s", word), render.P("  "+format, args...)}
}

// The page is made for a terminal of 80 columns, and is the same in a pipe.
const (
	pageIndent = "      "
	pageWidth  = 80
	textRoom   = pageWidth - len(pageIndent)
)

// paragraph is text under a label, broken into the lines of the page.
func paragraph(word, text string) []render.Line {
	var out []render.Line
	for i, s := range prose.Wrap(text, textRoom) {
		if i == 0 && word != "" {
			out = append(out, label(word, "%s", s))
		} else {
			out = append(out, render.L("%s%s", pageIndent, s))
		}
	}
	return out
}

// waitingLines say whom a rebalance waits for, until when.
func (a *app) waitingLines(w *waiting) []render.Line {
	text := "a rebalance is under way"
	if !w.Began.IsZero() {
		text += " since about " + a.clock(w.Began)
	}
	switch {
	case len(w.For) > 0 && w.Sure:
		text += "; it waits for " + strings.Join(prose.First(w.For, 5), ", ")
	case len(w.For) > 0:
		text += "; it probably waits for " + strings.Join(prose.First(w.For, 5), ", ") + " (" + w.Reason + ")"
	case len(w.States) > 0:
		text += " of " + strings.Join(prose.First(w.States, 5), ", ") + "; who has not rejoined is on no API"
	}
	switch {
	case !w.Expected.IsZero() && !w.Until.IsZero():
		text += "; it ends by about " + a.clock(w.Expected) + ", by " + a.clock(w.Until) + " at the latest"
	case !w.Until.IsZero():
		text += "; until " + a.clock(w.Until) + " at most"
	}
	return paragraph("NOW", text)
}

// calmLines are for groups in which nothing is to be explained.
func (a *app) calmLines(c *inspect.Case, d *diagnosis) []render.Line {
	switch {
	case len(d.rebalances) > 0:
		r := d.rebalances[len(d.rebalances)-1]
		return paragraph("", fmt.Sprintf("last rebalance %s, %s: %s", a.clock(r.Time), causeText(r), whoText(r)))
	case d.Last != nil:
		expected := ""
		switch {
		case d.Last.PreviousGeneration == nil && d.Last.Cause == inspect.UnknownCause:
			expected = " (no record before it is left)"
		case !d.Last.Cause.Info().Acts:
			expected = " (expected)"
		}
		return []render.Line{render.L("%slast rebalance %s, gen %d, %s%s", pageIndent, a.day(d.Last.Time.Time), d.Last.Generation, d.Last.Cause, expected)}
	case d.noHistory != "":
		return nil
	}
	return []render.Line{render.L("%sno rebalance is known since %s", pageIndent, a.day(c.Window.From.Time))}
}

// causeLines say why, with the evidence.
func (a *app) causeLines(c *inspect.Case, d *diagnosis) []render.Line {
	lines := paragraph("WHY", a.causeSentence(d))
	if d.atRecord {
		lines = append(paragraph("WHY", stuckSentence(d)), paragraph("", a.causeSentence(d))...)
	}
	lines = append(lines, render.L("%sconfidence %s, %s", pageIndent, d.Confidence, d.Basis))
	lines = append(lines, a.occurrenceLines(d)...)
	if d.Cause == inspect.RollingRestart && !a.flags.verbose {
		return lines
	}
	if d.Basis == inspect.Stated || a.flags.verbose || len(d.main) > 0 && d.main[0].d == nil || d.Cause == inspect.UnknownCause {
		for _, e := range d.Evidence {
			lines = append(lines, paragraph("", e)...)
		}
	}
	lines = append(lines, paragraph("", rivalText(d))...)
	if len(d.stuck) > 0 && !d.atRecord {
		lines = append(lines, paragraph("", fmt.Sprintf("%d of the departures happened at one record: %s", d.stuck[0].Times, d.stuck[0].Place))...)
	}
	if len(d.stuck) > 0 {
		lines = append(lines, stuckLines(c, d)...)
	} else if d.Cause == inspect.PollIntervalExceeded && d.othersCoped() {
		lines = append(lines, paragraph("", "others worked the same partitions at their usual pace: look at this member before the data")...)
	}
	return lines
}

func (d *diagnosis) othersCoped() bool {
	return len(d.main) > 0 && !slices.ContainsFunc(d.main, func(oc occurrence) bool { return oc.d == nil || !oc.d.OthersCoped })
}

// causeSentence says the cause in one or two sentences about who it concerns.
func (a *app) causeSentence(d *diagnosis) string {
	who := "client " + d.Member
	if d.Host != "" {
		who += " (" + d.Host + ")"
	}
	times := ""
	if d.Times > 1 {
		times = fmt.Sprintf(" %d times", d.Times)
	}
	var oc occurrence
	if len(d.main) > 0 {
		oc = d.main[len(d.main)-1]
	}
	for _, o := range d.main { // the newest may not be back yet
		if o.d != nil && o.d.BackAfter != nil {
			oc = o
		}
	}
	rebalance, session, timeout, back, inBatch := "max.poll.interval.ms", "its session timeout", "", "", false
	if oc.d != nil {
		if oc.d.Rebalance != nil {
			rebalance += " (" + prose.Span(oc.d.Rebalance.Duration()) + ")"
		}
		if oc.d.Session != nil {
			session = "session.timeout.ms (" + prose.Span(oc.d.Session.Duration()) + ")"
		}
		timeout, back, inBatch = spanOf(oc.d.Rebalance), returnText(oc.d.Returned), oc.d.InBatch
	}
	joined := ""
	if oc.r != nil {
		joined = whoText(*oc.r)
	}
	return inspect.FillIn(d.Cause.Info().Sentence(oc.d != nil, d.Times, inBatch), "who", who, "times", times, "poll", rebalance,
		"session", session, "rebalance", timeout, "back", back, "first", strings.Join(firstOf(d.Evidence, 1), ""), "joined", joined)
}

func firstOf(list []string, n int) []string { return list[:min(len(list), n)] }

func returnText(r inspect.Returned) string {
	switch r {
	case inspect.ReturnedNo:
		return "it did not come back: a crash, or a close without LeaveGroup"
	case inspect.ReturnedSameProcess:
		return "the same process came back: it had stood still, or its network had"
	case inspect.ReturnedNewProcess:
		return "a new process came in its place: it crashed, or was killed, and was restarted"
	}
	return "it came back: a pause, a crash under a supervisor and a cut network look alike here"
}

// mostOccurrences is how many occurrences a page shows without -v.
const mostOccurrences = 3

// occurrenceLines show when it happened: silent, out, back.
func (a *app) occurrenceLines(d *diagnosis) []render.Line {
	list := d.main
	longest := -1
	var most time.Duration
	for i, oc := range list {
		if oc.d == nil {
			return nil
		}
		if s := inspect.Or(oc.d.Stall, 0); s > most {
			most, longest = s, i
		}
	}
	if len(list) == 1 {
		longest = -1
	}
	first := 0
	if !a.flags.verbose && len(list) > mostOccurrences {
		first = len(list) - mostOccurrences
		if longest >= 0 && longest < first {
			list = append([]occurrence{list[longest]}, list[len(list)-mostOccurrences+1:]...)
			first, longest = 0, 0
		}
	}
	var out []render.Line
	for i := first; i < len(list); i++ {
		text := a.occurrenceText(list[i])
		if i == longest {
			text += "  longest"
		}
		out = append(out, render.L("%s%s", pageIndent, text))
	}
	if n := len(d.main) - len(out); n > 0 {
		out = append(out, render.L("%sand %s more (-v)", pageIndent, plural(n, "time")))
	}
	return out
}

func (a *app) occurrenceText(oc occurrence) string {
	var parts []string
	if !oc.d.LastCommit.IsZero() {
		parts = append(parts, "last commit "+a.clock(oc.d.LastCommit))
	}
	out := "out " + a.clock(oc.d.LeftBetween[1])
	if oc.d.Silent != nil {
		lo, hi := oc.d.Silent[0].Duration(), oc.d.Silent[1].Duration()
		if hi-lo < time.Second {
			out += fmt.Sprintf(", %s later", prose.Seconds(hi, 1))
		} else {
			out += fmt.Sprintf(", %s-%s later", strings.TrimSuffix(prose.Seconds(lo, 1), " s"), prose.Seconds(hi, 1))
		}
	}
	parts = append(parts, out)
	if oc.d.BackAfter != nil {
		parts = append(parts, "back after "+prose.Span(oc.d.BackAfter.Duration().Round(100*time.Millisecond)))
	} else if oc.d.Returned == inspect.ReturnedNo {
		parts = append(parts, "not back")
	}
	return strings.Join(parts, "  ")
}

// rivalText says what else it could be, and why it is not the rest.
func rivalText(d *diagnosis) string {
	var open, not []string
	for _, r := range d.Rivals {
		if r.WhyNot == "" {
			open = append(open, string(r.Cause))
		} else {
			not = append(not, fmt.Sprintf("not %s: %s", r.Cause, r.WhyNot))
		}
	}
	var parts []string
	if len(open) > 0 {
		parts = append(parts, "what was read fits "+strings.Join(open, ", ")+" as well")
	}
	return strings.Join(append(parts, not...), "; ")
}

// stuckSentence names the record that comes back every time.
func stuckSentence(d *diagnosis) string {
	r := d.stuck[0]
	who := map[string]bool{}
	var names []string
	for i := range d.rebalances {
		for _, l := range d.rebalances[i].Members.Left {
			if n := inspect.MemberName(l.ClientID, l.MemberID, l.InstanceID); slices.Contains(l.Stuck, r.Place) && !who[n] {
				who[n] = true
				names = append(names, n)
			}
		}
	}
	s := fmt.Sprintf("the same record every time: %s; members went %d times while it was next (%s)", r.Place, r.Times, prose.Few(names, 3))
	if n := len(d.stuck) - 1; n > 0 {
		s += fmt.Sprintf("; before it %s", d.stuck[1].Place)
		if n > 1 {
			s += fmt.Sprintf(" and %d more", n-1)
		}
	}
	return s
}

// stuckLines say how to read that record.
func stuckLines(c *inspect.Case, d *diagnosis) []render.Line {
	if read := d.stuck[0].Command(firstBroker(c)); read != "" {
		return []render.Line{render.L("%s%s", pageIndent, read)} // one line, however long: it is there to be copied
	}
	return nil
}

// firstBroker is one address of the cluster, for commands to copy.
func firstBroker(c *inspect.Case) string {
	first, _, _ := strings.Cut(c.Cluster.Bootstrap, ",")
	return first
}

// costLines say what it cost.
func (a *app) costLines(d *diagnosis) []render.Line {
	var parts []string
	if d.Cost.Idle != nil && d.Cost.Idle.Duration() >= time.Second {
		parts = append(parts, fmt.Sprintf("%s stood still %s", partitionRanges(d.Cost.Partitions), prose.Span(d.Cost.Idle.Duration().Round(time.Second))))
	}
	switch {
	case d.Cost.Stopped != nil && *d.Cost.Stopped > 0:
		parts = append(parts, "the whole group ~"+prose.Span(about(d.Cost.Stopped.Duration())))
	case d.Cost.Stopped != nil:
		parts = append(parts, "none stopped as a whole")
	}
	if d.Cost.Moved > 0 {
		parts = append(parts, plural(d.Cost.Moved, "partition")+" moved")
	}
	if r := d.slowestConvergence(); r != nil {
		parts = append(parts, fmt.Sprintf("converged in %s, last %s", spanOf(r.Converged), r.ConvergedLast))
	}
	if len(parts) == 0 {
		return nil
	}
	return paragraph("COST", strings.Join(parts, "; "))
}

func (d *diagnosis) slowestConvergence() *inspect.Rebalance {
	var slow *inspect.Rebalance
	for i := range d.rebalances {
		r := &d.rebalances[i]
		if r.Converged != nil && r.ConvergedLast != "" && (slow == nil || *r.Converged > *slow.Converged) {
			slow = r
		}
	}
	return slow
}

// partitionRanges is "orders-8..11, refunds-3".
func partitionRanges(parts []string) string {
	byTopic := map[string][]int{}
	for _, p := range parts {
		if i := strings.LastIndexByte(p, '-'); i > 0 {
			if n, err := strconv.Atoi(p[i+1:]); err == nil {
				byTopic[p[:i]] = append(byTopic[p[:i]], n)
			}
		}
	}
	topics := make([]string, 0, len(byTopic))
	for t := range byTopic {
		topics = append(topics, t)
	}
	slices.Sort(topics)
	var out []string
	for _, t := range topics {
		ns := byTopic[t]
		slices.Sort(ns)
		for i := 0; i < len(ns); {
			j := i
			for j+1 < len(ns) && ns[j+1] == ns[j]+1 {
				j++
			}
			if j > i {
				out = append(out, fmt.Sprintf("%s-%d..%d", t, ns[i], ns[j]))
			} else {
				out = append(out, fmt.Sprintf("%s-%d", t, ns[i]))
			}
			i = j + 1
		}
	}
	return strings.Join(prose.First(out, 4), ", ")
}

// fix is the finding whose fix is offered: the first that sets something.
func (d *diagnosis) fix() *advise.Finding {
	for i := range d.Findings {
		if f := &d.Findings[i]; f.Fix != nil && len(f.Fix.Set) > 0 {
			return f
		}
	}
	return nil
}

func settings(set map[string]string) []string {
	keys := make([]string, 0, len(set))
	for k := range set {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	out := make([]string, 0, len(keys))
	for _, k := range keys {
		out = append(out, k+"="+set[k])
	}
	return out
}

// cureLines say what to change, what else would do, and what that costs.
func (a *app) cureLines(c *inspect.Case, d *diagnosis) []render.Line {
	f := d.fix()
	if d.atRecord && len(d.Findings) > 0 && d.Findings[0].ID == "KGD210" {
		return stuckFix(d, f)
	}
	if f == nil {
		for i := range d.Findings {
			if x := &d.Findings[i]; x.Fix != nil && x.Fix.Summary != "" {
				return a.wrapped("FIX", x.Fix.Summary+"  "+x.ID)
			}
		}
		if info := d.Cause.Info(); info.Acts {
			return a.wrapped("FIX", info.Do)
		}
		return nil
	}
	var lines []render.Line
	word := "FIX"
	for _, kv := range settings(f.Fix.Set) {
		key, _, _ := strings.Cut(kv, "=")
		lines = append(lines, setting(word, kv, f.Fix.Notes[key], f.ID)...)
		word = "and"
	}
	for _, alt := range f.Fix.Alternatives {
		for _, kv := range settings(alt) {
			key, _, _ := strings.Cut(kv, "=")
			lines = append(lines, setting("", "or "+kv, f.Fix.Notes[key], "")...)
		}
	}
	if text := d.avoided(f); text != "" {
		lines = append(lines, paragraph("", text)...)
	}
	if f.Fix.Price != "" {
		lines = append(lines, paragraph("", "price: "+f.Fix.Price)...)
	}
	_ = c
	return lines
}

// stuckFix is what to do about a record that stops everybody: no timeout cures one
// that kills, and one that is merely slow gets by with a longer interval.
func stuckFix(d *diagnosis, f *advise.Finding) []render.Line {
	lines := setting("FIX", "read that record, handle it apart (dead letter topic, time limit)", "", "KGD210")
	if f != nil && f.Fix.Set["max.poll.interval.ms"] != "" {
		lines = append(lines, paragraph("", fmt.Sprintf("or max.poll.interval.ms=%s, if it is slow and not broken (%s)", f.Fix.Set["max.poll.interval.ms"], f.ID))...)
	}
	return append(lines, paragraph("", "price: "+d.Findings[0].Fix.Price)...)
}

// avoided replays the window with a fix, and says how many evictions it would have
// prevented.
func (d *diagnosis) avoided(f *advise.Finding) string {
	var list []string
	for _, kv := range settings(f.Fix.Set) {
		if key, _, _ := strings.Cut(kv, "="); key == "max.poll.interval.ms" || key == "session.timeout.ms" || key == "group.instance.id" {
			list = append(list, kv)
		}
	}
	o, err := parseWhatIf(list)
	if err != nil || o == nil {
		return ""
	}
	r := inspect.WhatIf(inspect.Timeline{Rebalances: d.rebalances}, *o)
	perhaps := 0
	for _, u := range r.Undecided {
		perhaps += bit(u.Need > 0)
	}
	all := plural(max(r.Evictions, len(r.Avoided)+perhaps), "eviction")
	switch {
	case r.Evictions == 0 && len(r.Avoided) == 0:
		return ""
	case perhaps > 0:
		return fmt.Sprintf("would have avoided %d to %d of %s: it depends on whether the process lived on", len(r.Avoided), len(r.Avoided)+perhaps, all)
	}
	return fmt.Sprintf("would have avoided %d of %s", len(r.Avoided), all)
}

// setting is one setting to change, with a note and a rule id behind it, or the note
// below it where the line has no room.
func setting(word, what, note, id string) []render.Line {
	s := what
	if note != "" {
		s = fmt.Sprintf("%-32s %s", s, note)
	}
	below := note != "" && len([]rune(s))+2+len(id) > textRoom
	if below {
		s = what
	}
	if id != "" {
		s = fmt.Sprintf("%-*s%s", max(textRoom-len(id), len([]rune(s))+2), s, id)
	}
	lines := []render.Line{render.L("%s%s", pageIndent, s)}
	if word != "" {
		lines[0] = label(word, "%s", s)
	}
	if below {
		lines = append(lines, paragraph("", "   "+note)...)
	}
	return lines
}

func (a *app) wrapped(word, text string) []render.Line {
	return paragraph(word, text)
}

// checkLines say what was not read and not checked.
func (a *app) checkLines(c *inspect.Case, d *diagnosis) []render.Line {
	text := fmt.Sprintf("%d of %d checks made", d.Checked, d.Rules)
	if n := len(d.Findings); n == 0 && d.Others == 0 {
		text += ", none fired"
	}
	if d.Others > 0 {
		text += fmt.Sprintf("; %s of other things: kgdiag advise %s", plural(d.Others, "finding"), shellWord(d.Group))
	}
	if not := notChecked(d.Unchecked); not != "" {
		text += "; not: " + not
	}
	lines := paragraph("?", text)
	told := func(g inspect.Gap) bool { return strings.Contains(text, "("+g.Why) }
	for _, l := range gapsByReason(slices.DeleteFunc(gapsOf(c.Gaps, d.Group), told)) {
		lines = append(lines, paragraph("", l.Plain())...)
	}
	return lines
}

// nextLines are the commands to run next.
func (w *whyCmd) nextLines(d *diagnosis) []render.Line {
	g := shellWord(d.Group) + w.connectWords()
	var lines []render.Line
	hint := func(command, why string) {
		line := fmt.Sprintf("%-53s  %s", command, why)
		if len(lines) == 0 {
			lines = append(lines, label("next", "%s", line))
		} else {
			lines = append(lines, render.L("%s%s", pageIndent, line))
		}
	}
	switch {
	case d.noHistory != "":
		hint("kgdiag watch "+g, "from now on")
		return lines
	case d.Verdict == verdictStuck && d.fix() == nil:
		hint("kgdiag watch "+g, "shows who comes last")
	case (d.Verdict == verdictUnstable || d.Verdict == verdictStuck) && d.fix() == nil:
		hint("kgdiag watch "+g+" --for 20m --fail-on eviction", "shows the next one")
	case d.Verdict == verdictUnstable || d.Verdict == verdictStuck:
		hint("kgdiag watch "+g+" --for 20m --fail-on eviction", "proves the fix")
	default:
		return nil
	}
	if w.past.from == "" { // else it is kept already
		hint("kgdiag record "+g+" --to "+fileWord(d.Group)+".kgcase", "keeps the evidence")
	}
	return lines
}

// connectWords are the flags that named the cluster, for commands to copy; none where
// the environment or a context did, which is there for the next command too.
func (a *app) connectWords() string {
	words := ""
	if len(a.flags.bootstrap) > 0 {
		words += " -b " + shellWord(a.flags.bootstrap[0])
	}
	if a.flags.commandConfig != "" {
		words += " --command-config " + shellWord(a.flags.commandConfig)
	}
	if a.flags.context != "" {
		words += " --context " + shellWord(a.flags.context)
	}
	return words
}

// fileWord makes a file name of a group id.
func fileWord(id string) string {
	s := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
			return r
		}
		return '-'
	}, id)
	return strings.TrimLeft(s, "-.")
}
