package top

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/advise/diagnose"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/watch"
	"github.com/kgdiag/kgdiag/internal/eventtext"
	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/internal/render"
	"github.com/kgdiag/kgdiag/internal/show"
	"github.com/kgdiag/kgdiag/internal/term"
)

// The rooms of the parts of the screen.
const (
	newsRoom   = 7  // of the feed below the list, with its rule
	noteWidth  = 15 // of what is said behind a lane
	laneNames  = 18 // of the names before them
	mostLanes  = 16
	leastFeed  = 2
	lateAfter  = 3 * growEvery // behind the clock, what is shown of a group tells its time
	mostReason = 2             // lines of the cause, and
	wideReason = 5             // where the screen is high
)

// pane is the opened group: its settings, lanes, feed, cause and fix, in so many lines.
func (m *Model) pane(room int) []render.Line {
	s := m.look().sights[m.opened]
	if s == nil {
		return []render.Line{m.rule(m.opened)}
	}
	lines := []render.Line{m.rule(m.title(s))}
	if s.Deep == nil {
		return append(lines, render.L(" reading the last %s of %s…", prose.Span(m.cfg.Since), s.Group))
	}
	advice := m.advice(s, room)
	lanes := m.lanes(s, max(1, room-len(lines)-len(advice)-leastFeed-2)) // the times above and the rebalances below
	lines = append(lines, lanes...)
	lines = append(lines, m.feed(s, room-len(lines)-len(advice))...)
	return append(lines, advice...)
}

// rule is a line across with a text in it.
func (m *Model) rule(text string) render.Line {
	text = prose.Clip("-- "+render.Clean(text)+" ", m.width)
	return render.Line{render.S(term.Dim, "%s%s", text, strings.Repeat("-", max(0, m.width-prose.Width(text))))}
}

// title is what heads the opened group: coordinator, timeouts, lag.
func (m *Model) title(s *Sight) string {
	parts := []string{}
	if s.Coordinator != nil {
		parts = append(parts, fmt.Sprintf("coordinator %d", s.Coordinator.ID))
	}
	if s.Live != nil && len(s.Live.Members) > 0 {
		session, rebalance := spread2(s.Live.Members)
		parts = append(parts, "session "+session, strings.ToLower(show.RebalanceColumn(s.Live))+" "+rebalance)
	}
	if s.Live != nil && s.Lag != nil {
		parts = append(parts, "lag "+s.Live.LagText())
	}
	if s.Deep != nil && m.shownAt().Sub(s.Deep.Case.Window.To.Time) > lateAfter {
		parts = append(parts, "as of "+m.clock(s.Deep.Case.Window.To))
	}
	return s.Group + ": " + strings.Join(parts, ", ")
}

// spread2 are the session and rebalance timeouts of members: one value, or the least and
// the most; "-" where none is known.
func spread2(members []inspect.Member) (session, rebalance string) {
	text := func(of func(*inspect.Member) *inspect.Millis) string {
		var all []time.Duration
		for i := range members {
			if v := of(&members[i]); v != nil {
				all = append(all, v.Duration())
			}
		}
		if len(all) == 0 {
			return "-"
		}
		return prose.Between(slices.Min(all), slices.Max(all))
	}
	return text(func(m *inspect.Member) *inspect.Millis { return m.Session }), text(func(m *inspect.Member) *inspect.Millis { return m.Rebalance })
}

// lanes are the lives of the members, at most so many, since the time that the user
// chose or, of a younger group, since its beginning.
func (m *Model) lanes(s *Sight, most int) []render.Line {
	w, h := s.Deep.Case.Window, s.Deep.History
	from := w.To.Add(-m.zooms()[m.zoomed])
	h.Spans = slices.DeleteFunc(slices.Clone(h.Spans), func(sp inspect.Span) bool { return !sp.To.After(from) })
	h.Rebalances = slices.DeleteFunc(slices.Clone(h.Rebalances), func(r inspect.Rebalance) bool { return !r.Time.After(from) })
	if len(h.Spans) == 0 {
		return []render.Line{render.L(" no member in the last %s", prose.Span(w.To.Sub(from)))}
	}
	first := slices.MinFunc(h.Spans, func(a, b inspect.Span) int { return a.From.Compare(b.From.Time) }).From
	if first.After(from) {
		from = first.Time
	}
	w.From = inspect.At(from)
	c := eventtext.Lanes(&h, w, func(t inspect.Time) string { return m.edge(t, w.Length()) })
	names := 0
	for _, span := range c.Spans {
		names = max(names, prose.Width(span.Lane))
	}
	c.NameWidth = min(max(names, len(c.MarkName)), laneNames)
	c.Most, c.Legend, c.Rest = min(most, mostLanes), "", "more"
	c.Width = max(10, m.width-1-c.NameWidth-2-2-noteWidth)
	cell := w.Length() / time.Duration(c.Width)
	c.Note = func(lane string) render.Line { return render.Line{m.laneNote(s, lane, cell)} }
	var out []render.Line
	for _, l := range c.Lines() {
		out = append(out, append(render.Line{render.P(" ")}, l...))
	}
	return out
}

// edge is a moment above lanes that show so much time.
func (m *Model) edge(t inspect.Time, length time.Duration) string {
	layout := "15:04"
	switch {
	case length > 12*time.Hour:
		layout = "Jan 2 15:04"
	case length < 15*time.Minute:
		layout = "15:04:05"
	}
	return t.In(m.zone()).Format(layout)
}

// laneNote says how a member is now: when it committed, or that it is silent or out, or
// that it is back, which the last cell of its lane may not show; a cell is so long.
func (m *Model) laneNote(s *Sight, lane string, cell time.Duration) render.Span {
	var last, out *inspect.Span
	for i := range s.Deep.History.Spans {
		sp := &s.Deep.History.Spans[i]
		if sp.Lane != lane {
			continue
		}
		if last == nil || sp.To.After(last.To.Time) {
			last = sp
		}
		if sp.Kind == "out" && (out == nil || sp.To.After(out.To.Time)) {
			out = sp
		}
	}
	end := s.Deep.Case.Window.To
	switch {
	case last == nil:
		return render.P("")
	case end.Sub(last.To.Time) > time.Second:
		return render.S(term.Warn, "left %s", m.clock(last.To))
	case last.Kind == "out":
		return render.S(term.Bad, "OUT")
	}
	if e := m.risk(s.Group, lane); e != nil {
		return m.riskNote(e)
	}
	if out != nil && end.Sub(out.To.Time) < 2*cell {
		return render.P("back %s", m.clock(out.To))
	}
	if at := s.Deep.Commits[lane]; !at.IsZero() {
		return render.P("commit %s", ago(end.Sub(at.Time)))
	}
	return render.P("member")
}

// shownAt is the time of the screen: now, or when it was paused.
func (m *Model) shownAt() time.Time {
	if m.held != nil {
		return m.heldAt
	}
	return m.now
}

// riskNote is how long a member has been silent, or how long it has left.
func (m *Model) riskNote(e *watch.Event) render.Span {
	now := m.shownAt()
	switch {
	case e.Type == watch.MemberSilent:
		return render.S(term.Warn, "silent %s", ago(now.Sub(e.Time.Time)+inspect.Or(e.Silent, 0)))
	case now.Before(e.OutAt.Time):
		return render.S(term.Bad, "leaves in %s", ago(e.OutAt.Sub(now)))
	}
	return render.S(term.Bad, "OVERDUE %s", ago(now.Sub(e.OutAt.Time)))
}

// ago is a short span of time in whole seconds.
func ago(d time.Duration) string {
	if d < time.Second {
		return "<1s"
	}
	return prose.Span(d.Round(time.Second))
}

// risk is the newest event that says that a member is silent, unless it has committed or
// left since.
func (m *Model) risk(group, lane string) *watch.Event {
	events := m.look().events
	for i := len(events) - 1; i >= 0; i-- {
		e := &events[i]
		if e.Group != group {
			continue
		}
		switch e.Type {
		case watch.MemberSilent, watch.MemberAtRisk:
			if e.Member == lane {
				return e
			}
		case watch.MemberSpoke:
			if e.Member == lane {
				return nil
			}
		case watch.RebalanceDone:
			return nil
		}
	}
	return nil
}

// advice is why, and what to change, as it stands now, in a pane of so many lines.
func (m *Model) advice(s *Sight, room int) []render.Line {
	var out []render.Line
	most := min(max(mostReason, room/4), wideReason)
	d := &s.Diagnosis
	switch {
	case d.Waiting != nil:
		out = append(out, m.labelled("NOW", term.Warn, d.Waiting.Text(m.clock), mostReason)...)
	case d.NoHistory != "":
		out = append(out, m.labelled("WHY", term.Warn, "the past is not known: "+d.NoHistory, mostReason)...)
	}
	if d.Calm() {
		out = append(out, render.Line{render.P(" "), render.S(term.Good, "%-4s", string(d.Verdict)), render.P("  %s", m.calm(d))})
		return append(out, m.besides(d)...)
	}
	out = append(out, m.labelled("WHY", term.Bad, d.Why()+d.Since(m.clock), most)...)
	out = append(out, m.labelled("", term.Plain, d.Sure(), 1)...)
	if words, _ := fix(d); words != "" {
		out = append(out, m.labelled("FIX", term.Good, words, mostReason)...)
	}
	return append(out, m.besides(d)...)
}

// besides is what advise says of the group that the cause does not explain: the gravest
// finding, and how many more.
func (m *Model) besides(d *diagnose.Diagnosis) []render.Line {
	if len(d.Unrelated) == 0 {
		return nil
	}
	f := &d.Unrelated[0]
	text := f.ID + " " + f.Message
	if n := len(d.Unrelated) - 1; n > 0 {
		text = prose.Clip(text, max(20, m.width-7-len("; 100 more: kgdiag advise"))) + fmt.Sprintf("; %d more: kgdiag advise", n)
	}
	return m.labelled("ALSO", term.Warn, text, 1)
}

// calm is what is to be said of a group in which nothing is to be explained.
func (m *Model) calm(d *diagnose.Diagnosis) string {
	switch {
	case len(d.Rebalances) > 0:
		r := &d.Rebalances[len(d.Rebalances)-1]
		return fmt.Sprintf("last rebalance %s, %s: %s", m.clock(r.Time), diagnose.CauseText(*r), diagnose.Who(r))
	case d.Last != nil:
		return fmt.Sprintf("last rebalance %s, %s", d.Last.Time.In(m.zone()).Format("2 Jan 15:04:05"), diagnose.CauseText(*d.Last))
	}
	return "no rebalance in the last " + prose.Span(m.cfg.Since)
}

// labelled is a paragraph behind a word, cut to so many lines.
func (m *Model) labelled(word string, style term.Style, text string, most int) []render.Line {
	rows := prose.Wrap(render.Clean(text), m.width-7)
	if len(rows) > most {
		rows[most-1] = prose.ClipWords(strings.Join(rows[most-1:], " "), m.width-7)
		rows = rows[:most]
	}
	var out []render.Line
	for i, r := range rows {
		if i > 0 {
			word = ""
		}
		out = append(out, render.Line{render.P(" "), render.S(style, "%-4s", word), render.P("  %s", r)})
	}
	return out
}

// item is one line of a feed.
type item struct {
	at    inspect.Time
	group string
	word  string
	style term.Style
	text  string
}

// feed is what happened to the opened group, the newest last, in so many lines.
func (m *Model) feed(s *Sight, room int) []render.Line {
	one := map[string]*Sight{s.Group: s}
	events := slices.DeleteFunc(slices.Clone(m.look().events), func(e watch.Event) bool { return e.Group != s.Group && !slices.Contains(e.Groups, s.Group) })
	return m.items(append(rebalances([]*Sight{s}, room), m.told(events, one, room)...), room, 0)
}

// news is what happened to all groups, below the list.
func (m *Model) news(room int) []render.Line {
	d, words := m.look(), m.wanted()
	logged := slices.DeleteFunc(slices.Clone(m.rows()), func(s *Sight) bool { return s.NoHistory != "" })
	events := slices.DeleteFunc(slices.Clone(d.events), func(e watch.Event) bool {
		return len(words) > 0 && (d.sights[e.Group] == nil || !d.sights[e.Group].matches(words))
	})
	items := append(rebalances(logged, room), m.told(events, d.sights, room)...)
	wide := 0
	for _, i := range items {
		wide = max(wide, prose.Width(render.Clean(i.group)))
	}
	lines := []render.Line{m.rule("what happened in the last " + prose.Span(m.cfg.Since))}
	if len(items) == 0 {
		return append(lines, render.L(" nothing yet"))
	}
	return append(lines, m.items(items, room-1, min(wide, 20))...)
}

// rebalances are those of some groups' windows as items, the newest that there is room
// for. Of thousands of groups only these few are put into words.
func rebalances(groups []*Sight, room int) []item {
	type one struct {
		s *Sight
		*inspect.Rebalance
	}
	var newest []one // the oldest first
	for _, s := range groups {
		for i := len(s.Rebalances) - 1; i >= 0; i-- {
			r := &s.Rebalances[i]
			if len(newest) >= room && (room <= 0 || !r.Time.After(newest[0].Time.Time)) {
				break
			}
			at, _ := slices.BinarySearchFunc(newest, r.Time, func(o one, t inspect.Time) int { return o.Time.Compare(t.Time) })
			newest = slices.Insert(newest, at, one{s, r})
			newest = newest[max(0, len(newest)-room):]
		}
	}
	out := make([]item, 0, len(newest))
	for _, o := range newest {
		out = append(out, rebalance(o.s, o.Rebalance))
	}
	return out
}

// rebalance is one as an item.
func rebalance(s *Sight, r *inspect.Rebalance) item {
	style := term.Plain
	if r.Evictions(nil) > 0 {
		style = term.Bad
	}
	word := "gen " + diagnose.GenerationText(*r)
	if s.Live != nil && s.Live.Epoch != nil {
		word = "epoch " + diagnose.GenerationText(*r)
	}
	text := diagnose.CauseText(*r)
	if r.Cause.Explained() {
		text += ", " + diagnose.Likelihood(r)
	}
	if who := diagnose.Who(r); who != "-" {
		text += ": " + who
	}
	return item{r.Time, s.Group, word, style, text}
}

// told are events as items, the newest that there is room for, without those that the
// groups' rebalances tell already: a rebalance, its cause, and the first signs of it.
func (m *Model) told(events []watch.Event, sights map[string]*Sight, room int) []item {
	known := func(e *watch.Event) bool {
		s := sights[e.Group]
		return s != nil && e.Record != "" && slices.ContainsFunc(s.Rebalances, func(r inspect.Rebalance) bool { return r.ID == e.Record })
	}
	over := map[int]bool{} // incidents that came to a rebalance
	for i := range events {
		if e := &events[i]; e.Type == watch.RebalanceDone && known(e) {
			over[e.Incident] = true
		}
	}
	var news []*watch.Event
	for i := range events {
		e := &events[i]
		sign := e.Type == watch.RebalanceStarted || e.Type == watch.MemberJoined || e.Type == watch.MemberLeft || e.Type == watch.StateChanged || e.Type == watch.CauseSoFar
		if e.Type != watch.CauseFound && !e.Past && !known(e) && !(sign && over[e.Incident]) {
			news = append(news, e)
		}
	}
	slices.SortStableFunc(news, func(a, b *watch.Event) int { return a.Time.Compare(b.Time.Time) })
	var out []item
	for _, e := range news[max(0, len(news)-max(0, room)):] {
		word, style, text := m.tell.Event(e)
		group := e.Group
		if group == "" {
			group = prose.Plural(len(e.Groups), "group")
		}
		out = append(out, item{e.Time, group, word, style, text})
	}
	return out
}

// items are the newest of a feed, as many as there is room for, two lines at most each; a
// group column of width 0 is left out.
func (m *Model) items(list []item, room, group int) []render.Line {
	slices.SortStableFunc(list, func(a, b item) int { return a.at.Compare(b.at.Time) })
	list = list[max(0, len(list)-max(0, room)):]
	wide := 0
	for _, i := range list {
		wide = max(wide, prose.Width(i.word))
	}
	indent := 1 + len("15:04:05") + 2 + wide + 2
	if group > 0 {
		indent += group + 2
	}
	var out []render.Line
	for k := len(list) - 1; k >= 0; k-- {
		lines := m.itemLines(&list[k], wide, group, indent)
		if len(out)+len(lines) > room {
			break
		}
		out = append(lines, out...)
	}
	return out
}

// itemLines are one item in its columns.
func (m *Model) itemLines(i *item, word, group, indent int) []render.Line {
	text := prose.Wrap(render.Clean(i.text), max(10, m.width-indent))
	if len(text) == 0 {
		text = []string{""}
	}
	l := render.Line{render.P(" %s  ", m.clock(i.at))}
	if group > 0 {
		l = append(l, render.P("%s  ", prose.Pad(prose.Middle(render.Clean(i.group), group), group)))
	}
	out := []render.Line{append(l, render.S(i.style, "%s", prose.Pad(i.word, word)), render.P("  %s", text[0]))}
	if len(text) > 1 {
		out = append(out, render.L("%s%s", strings.Repeat(" ", indent), strings.Join(text[1:], " ")))
	}
	return out
}
