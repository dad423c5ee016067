package top

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kgdiag/kgdiag/advise/diagnose"
	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/internal/render"
	"github.com/kgdiag/kgdiag/internal/term"
)

// The least terminal that shows anything of use.
const (
	leastWidth  = 40
	leastHeight = 10
)

// View draws the screen.
func (m Model) View() tea.View {
	var b strings.Builder
	for i, l := range m.frame() {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(l.Text(m.p))
	}
	v := tea.NewView(b.String())
	v.AltScreen = true
	if m.typing {
		v.Cursor = tea.NewCursor(min(prose.Width(m.foot().Plain()), m.width-1), m.height-1)
	}
	return v
}

// frame is the screen as lines, as many as it has rows, none wider than it.
func (m *Model) frame() []render.Line {
	if m.width < leastWidth || m.height < leastHeight {
		return []render.Line{fit(render.L("needs %dx%d, has %dx%d; q quits", leastWidth, leastHeight, m.width, m.height), m.width)}
	}
	lines := []render.Line{m.head()}
	switch m.mode {
	case modeGroups:
		lines = append(lines, m.groups()...)
	default:
		text := m.pageLines()
		lines = append(lines, text[min(m.scroll, len(text)):min(m.scroll+m.height-2, len(text))]...)
	}
	for len(lines) < m.height-1 {
		lines = append(lines, nil)
	}
	lines = append(lines[:m.height-1], m.foot())
	for i := range lines {
		lines[i] = fit(lines[i], m.width)
	}
	return lines
}

// head is the cluster, the number of groups, and how things stand with what is shown.
func (m *Model) head() render.Line {
	left := append(render.Line{render.P(" ")}, m.cfg.Head(m.info.Case.Cluster)...)
	rows, all := len(m.rows()), len(m.look().sights)+len(m.look().waiting)
	count := prose.Plural(all, "group")
	if m.filter != "" {
		count = fmt.Sprintf("%d of %s", rows, count)
	}
	left = append(left, render.P("  %s", count))
	right := render.Line{render.P("%s  read-only  ", m.shownAt().In(m.zone()).Format("15:04:05 MST")), m.status()}
	return spread(left, right, m.width)
}

// status says whether what is shown is live.
func (m *Model) status() render.Span {
	d := m.look()
	switch {
	case m.held != nil:
		return render.S(term.Warn, "PAUSED ")
	case len(d.lost) > 0 && len(d.lost) >= len(d.sights):
		return render.S(term.Bad, "NO ANSWER ")
	case len(d.lost) > 0:
		return render.S(term.Bad, "%d WITHOUT ANSWER ", len(d.lost))
	case d.trouble != "":
		return render.S(term.Warn, "LIVE, PAST UNREAD ")
	}
	for _, s := range d.sights {
		if !s.Counted {
			return render.S(term.Warn, "READING THE PAST ")
		}
	}
	return render.S(term.Good, "LIVE ")
}

// foot is the last line: what is typed, an answer, or the keys.
func (m *Model) foot() render.Line {
	switch {
	case m.typing:
		return render.L(" filter: %s", render.Clean(m.filter))
	case m.mode != modeGroups:
		more := ""
		if n := len(m.pageLines()) - m.scroll - (m.height - 2); n > 0 {
			more = "  " + prose.Plural(n, "line") + " more below"
		}
		return render.Line{render.S(term.Dim, " up/down scroll  q back  ctrl-c quit"), render.P("%s", more)}
	case m.note != "":
		return render.Line{render.S(term.Bold, " %s", m.note)}
	}
	keys := " enter open  / filter  s sort  p pause  y copy fix  w why  ? help  q quit"
	switch {
	case m.opened != "" && m.cursor != m.opened:
		keys = fmt.Sprintf(" enter open %s  esc close %s  ? help  q quit", prose.Middle(render.Clean(m.cursor), 20), prose.Middle(render.Clean(m.opened), 20))
	case m.opened != "":
		keys = " esc close  / filter  p pause  y copy fix  w why  ? help  q quit"
	case m.filter != "":
		keys = fmt.Sprintf(" filter %q  esc clear  enter open  y copy fix  w why  ? help  q quit", m.filter)
	}
	return render.Line{render.S(term.Dim, "%s", keys)}
}

// groups is the list, and below it the opened group, or else what happens.
func (m *Model) groups() []render.Line {
	rows, at := m.page()
	lines := m.table(rows, at)
	if len(rows) == 0 {
		lines = append(lines, m.nothing())
	}
	room := m.height - 2 - len(lines)
	if m.opened != "" {
		return append(lines, m.pane(room)...)
	}
	return append(lines, m.news(room)...)
}

// nothing says why there are no rows.
func (m *Model) nothing() render.Line {
	if m.filter != "" {
		return render.L(" no group matches %q; esc clears the filter", m.filter)
	}
	return render.L(" no groups on this cluster, or none that you may DESCRIBE")
}

// page are the rows that the screen has room for, and where the cursor stands in them.
func (m *Model) page() (rows []*Sight, at int) {
	all := m.rows()
	n := len(all)
	if m.opened != "" {
		n = min(n, max(3, (m.height-14)/2))
	} else {
		n = min(n, max(3, m.height-3-newsRoom))
	}
	at = max(0, m.place(all))
	first := min(max(0, at-n/2), len(all)-n)
	return all[first : first+n], at - first
}

// column is one of the list's.
type column struct {
	name  string
	right bool
	least int // the width to which it may be cut; 0: it is left out where there is no room
	cut   func(string, int) string
	cell  func(*Model, *Sight) render.Span
}

// columns in their order; those with the higher index among the ones that may be left
// out go first.
var columns = []column{
	{"GROUP", false, 12, prose.Middle, func(_ *Model, s *Sight) render.Span { return render.P("%s", s.Group) }},
	{"STATE", false, 9, prose.Clip, (*Model).stateCell},
	{"GEN", true, 0, nil, func(_ *Model, s *Sight) render.Span { return render.P("%s", generationText(&s.Diagnosis)) }},
	{"MEMBERS", true, 0, nil, func(_ *Model, s *Sight) render.Span { return render.P("%s", number(s.Members)) }},
	{"LAG", true, 0, nil, func(_ *Model, s *Sight) render.Span { return render.P("%s", lagText(s.Lag)) }},
	{"REBALANCES", true, 1, nil, (*Model).rebalancesCell},
	{"EVICT", true, 0, nil, (*Model).evictionsCell},
	{"WORST CAUSE", false, 16, prose.Clip, (*Model).causeCell},
}

// causeColumn is the column of the cause, the first to be cut.
const causeColumn = 7

// stateCell is the state, unless nobody answers for it.
func (m *Model) stateCell(s *Sight) render.Span {
	switch since, lost := m.look().lost[s.Group]; {
	case lost:
		return render.S(term.Bad, "no answer %s", ago(m.now.Sub(since.Time)))
	case s.Verdict == diagnose.Stuck, s.Waiting != nil:
		return render.S(term.Warn, "%s", s.State)
	case s.State == "":
		return render.P("-")
	}
	return render.P("%s", s.State)
}

// rebalancesCell is how many there were in the window, as far as that is known.
func (m *Model) rebalancesCell(s *Sight) render.Span {
	switch {
	case s.NoHistory != "" || s.State == "no such group":
		return render.P("-")
	case !s.Counted:
		return render.P("…")
	}
	return render.P("%d", len(s.Rebalances))
}

// evictionsCell is how many evictions there were in the window, as far as that is known.
func (m *Model) evictionsCell(s *Sight) render.Span {
	if s.NoHistory != "" || s.State == "no such group" || !s.Counted {
		return render.P("-")
	}
	style := term.Plain
	if s.Summary.Evictions > 0 {
		style = term.Bad
	}
	return render.S(style, "%d", s.Summary.Evictions)
}

func (m *Model) causeCell(s *Sight) render.Span {
	style := term.Plain
	if s.Summary.Evictions > 0 {
		style = term.Bad
	}
	return render.S(style, "%s", cmp.Or(causeText(&s.Diagnosis), "-"))
}

// causeText is the cause in the order in which it may be cut: how sure and how often
// before whom it concerns.
func causeText(d *diagnose.Diagnosis) string {
	if d.AtRecord || d.Verdict == diagnose.Stuck || d.Cause == "" {
		return d.Worst()
	}
	text := d.Cause.Label()
	if d.Unsure() {
		text += "?"
	}
	if d.Times > 1 {
		text += fmt.Sprintf(" x%d", d.Times)
	}
	if d.Member != "" {
		text += " (" + d.Member + ")"
	}
	return text
}

func generationText(d *diagnose.Diagnosis) string {
	switch {
	case d.Generation == nil:
		return "-"
	case d.Live != nil && d.Live.Epoch != nil:
		return fmt.Sprintf("e%d", *d.Generation)
	case d.Live != nil && d.Live.GenerationBasis == "lower_bound":
		return fmt.Sprintf(">=%d", *d.Generation)
	}
	return fmt.Sprint(*d.Generation)
}

func number(n *int) string {
	if n == nil {
		return "-"
	}
	return prose.Count(int64(*n))
}

func lagText(n *int64) string {
	if n == nil {
		return "-"
	}
	return prose.Count(*n)
}

// table draws the rows; the one under the cursor has a mark and is reversed, and an
// opened group from which the cursor has moved away another mark.
func (m *Model) table(rows []*Sight, at int) []render.Line {
	cells := make([][]render.Span, len(rows))
	widths := make([]int, len(columns))
	for c := range columns {
		widths[c] = prose.Width(m.columnName(c))
	}
	for i, s := range rows {
		for c := range columns {
			cell := columns[c].cell(m, s)
			cell.Text = render.Clean(cell.Text)
			cells[i] = append(cells[i], cell)
			widths[c] = max(widths[c], prose.Width(cell.Text))
		}
	}
	squeeze(widths, m.width-1)
	dim, chosen := term.Dim, term.Selected
	out := []render.Line{m.row(" ", &dim, widths, func(c int) render.Span { return render.P("%s", m.columnName(c)) })}
	for i := range rows {
		mark, style := " ", (*term.Style)(nil)
		switch {
		case i == at:
			mark, style = ">", &chosen
		case rows[i].Group == m.opened:
			mark = "*" // what is below is of this one
		}
		out = append(out, m.row(mark, style, widths, func(c int) render.Span { return cells[i][c] }))
	}
	return out
}

// row lays cells out in columns of these widths, 0 for one that is left out; a style, if
// there is one, is that of the whole line.
func (m *Model) row(mark string, style *term.Style, widths []int, cell func(int) render.Span) render.Line {
	l := render.Line{render.P("%s", mark)}
	for c, w := range widths {
		if w == 0 {
			continue
		}
		s := cell(c)
		if cut := columns[c].cut; cut != nil {
			s.Text = cut(s.Text, w)
		}
		gap := strings.Repeat(" ", max(0, w-prose.Width(s.Text)))
		if columns[c].right {
			s.Text = gap + s.Text
		} else {
			s.Text += gap
		}
		if c < len(widths)-1 {
			s.Text += "  "
		}
		l = append(l, s)
	}
	if style == nil {
		return l
	}
	l = append(l, render.P("%s", strings.Repeat(" ", max(0, m.width-prose.Width(l.Plain())))))
	for i := range l {
		l[i].Style = *style
	}
	return l
}

// columnName says of the number of rebalances in what time, which is why it differs.
func (m *Model) columnName(c int) string {
	if columns[c].name == "REBALANCES" {
		return "REB/" + prose.Span(m.cfg.Since)
	}
	return columns[c].name
}

// squeeze cuts the widths of columns until they fit, two blanks apart: first those that
// may be cut, the cause before the group and the state, then whole columns.
func squeeze(widths []int, room int) {
	over := func() int {
		n := -room
		for _, w := range widths {
			if w > 0 {
				n += w + 2
			}
		}
		return n - 2
	}
	for _, c := range []int{causeColumn, 0, 1} {
		if n := over(); n > 0 && widths[c] > columns[c].least {
			widths[c] = max(columns[c].least, widths[c]-n)
		}
	}
	for _, c := range []int{2, 3, 6, 4} {
		if over() > 0 {
			widths[c] = 0
		}
	}
	if n := over(); n > 0 {
		widths[causeColumn] = max(0, widths[causeColumn]-n)
	}
}

// fit cuts a line to so many columns, text from outside made safe first.
func fit(l render.Line, width int) render.Line {
	var out render.Line
	for _, s := range l {
		s.Text = render.Clean(s.Text)
		n := prose.Width(s.Text)
		if n > width {
			s.Text = prose.Clip(s.Text, width)
			return append(out, s)
		}
		width -= n
		out = append(out, s)
	}
	return out
}

// spread puts one text at each end of a line; the left one gives way.
func spread(left, right render.Line, width int) render.Line {
	n := prose.Width(right.Plain())
	left = fit(left, max(0, width-n-1))
	gap := max(1, width-n-prose.Width(left.Plain()))
	return slices.Concat(left, render.Line{render.P("%s", strings.Repeat(" ", gap))}, right)
}

// pageLines are the lines of a page of text: why, or help.
func (m *Model) pageLines() []render.Line {
	if m.mode == modeHelp {
		return helpLines(m)
	}
	s := m.look().sights[m.opened]
	if s == nil || s.Deep == nil {
		return []render.Line{render.L(" reading %s…", m.opened)}
	}
	return m.cfg.Page(s.Deep.Case, &s.Diagnosis)
}
