package top

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kgdiag/kgdiag/internal/prose"
)

// key does what a key asks for.
func (m Model) key(k tea.KeyPressMsg) (Model, tea.Cmd) {
	switch name := k.String(); {
	case name == "ctrl+c":
		return m, tea.Quit
	case name == "ctrl+z":
		return m, tea.Suspend
	case m.typing:
		return m.typed(k), nil
	case m.mode != modeGroups:
		return m.read(name), nil
	default:
		return m.command(name)
	}
}

// typed edits the filter.
func (m Model) typed(k tea.KeyPressMsg) Model {
	switch k.String() {
	case "enter":
		m.typing = false
	case "esc":
		m.typing, m.filter = false, ""
	case "backspace":
		if r := []rune(m.filter); len(r) > 0 {
			m.filter = string(r[:len(r)-1])
		}
	case "ctrl+u":
		m.filter = ""
	default:
		m.filter += k.Text
	}
	return m
}

// read scrolls a page of text, or goes back.
func (m Model) read(name string) Model {
	switch name {
	case "q", "esc", "backspace", "enter", "w", "?":
		m.mode, m.scroll = modeGroups, 0
	case "down", "j":
		m.scroll++
	case "up", "k":
		m.scroll--
	case "pgdown", "space", "ctrl+d", "ctrl+f":
		m.scroll += m.height / 2
	case "pgup", "ctrl+u", "ctrl+b":
		m.scroll -= m.height / 2
	case "home", "g":
		m.scroll = 0
	case "end", "G":
		m.scroll = 1 << 20
	}
	m.scroll = min(max(m.scroll, 0), max(0, len(m.pageLines())-(m.height-2)))
	return m
}

// command does what a key asks for among the groups.
func (m Model) command(name string) (Model, tea.Cmd) {
	switch name {
	case "q":
		return m, tea.Quit
	case "down", "j":
		m.move(1)
	case "up", "k":
		m.move(-1)
	case "pgdown", "ctrl+d", "ctrl+f":
		m.move(m.height / 2)
	case "pgup", "ctrl+u", "ctrl+b":
		m.move(-m.height / 2)
	case "home", "g":
		m.move(-1 << 20)
	case "end", "G":
		m.move(1 << 20)
	case "enter", "right", "l":
		m.opened, m.moved = m.cursor, true
	case "+", "=":
		m.zoom(1)
	case "-":
		m.zoom(-1)
	case "esc", "left", "h", "backspace":
		m.back()
	case "/":
		m.typing = true
	case "s":
		m.sort = (m.sort + 1) % orders
		m.say("sorted " + m.sort.String())
	case "p", "space":
		m.pause()
	case "y":
		return m.copyFix()
	case "w":
		m.openWhy()
	case "?", "f1":
		m.mode, m.scroll = modeHelp, 0
	}
	return m, nil
}

// move moves the cursor; an opened group stays open.
func (m *Model) move(by int) {
	rows := m.rows()
	m.moved = true
	if len(rows) > 0 {
		m.cursor = rows[min(max(m.place(rows)+by, 0), len(rows)-1)].Group
	}
}

// zoom shows a shorter or a longer time in the lanes.
func (m *Model) zoom(by int) {
	spans := m.zooms()
	m.zoomed = min(max(m.zoomed+by, 0), len(spans)-1)
	m.say("lanes show the last " + prose.Span(spans[m.zoomed]))
}

// zooms are the times that the lanes can show: the whole window, and less.
func (m *Model) zooms() []time.Duration {
	spans := []time.Duration{m.cfg.Since}
	for _, d := range []time.Duration{6 * time.Hour, time.Hour, 30 * time.Minute, 10 * time.Minute, 5 * time.Minute, 2 * time.Minute, time.Minute} {
		if d < m.cfg.Since {
			spans = append(spans, d)
		}
	}
	return spans
}

// back closes what was opened last: the group, then the filter.
func (m *Model) back() {
	if m.opened != "" {
		m.opened = ""
	} else {
		m.filter = ""
	}
}

// pause holds the screen, or lets it go on.
func (m *Model) pause() {
	if m.held != nil {
		m.held = nil
		m.say("live again")
		return
	}
	m.held, m.heldAt = m.d.clone(), m.now
	m.say("paused: nothing moves on the screen, and nothing is missed; p goes on")
}

// openWhy shows the page of why; it needs all that is known of the group.
func (m *Model) openWhy() {
	if m.opened == "" {
		m.opened = m.cursor
	}
	if m.opened != "" {
		m.mode, m.scroll = modeWhy, 0
	}
}

// copyFix sends the settings of the fix to the terminal's clipboard (OSC 52), and shows
// them, since a terminal does not say whether it took them.
func (m Model) copyFix() (Model, tea.Cmd) {
	s := m.current()
	if s == nil {
		m.say("no group is selected")
		return m, nil
	}
	_, settings := fix(&s.Diagnosis)
	if settings == "" {
		m.say(fmt.Sprintf("%s: no setting to copy", s.Group))
		return m, nil
	}
	text := fmt.Sprintf("sent to the clipboard, of %s: %s", s.Group, shownCopy(settings))
	if m.cfg.Tmux {
		text += "  (tmux: set-clipboard on)"
	}
	m.say(text)
	return m, tea.SetClipboard(settings)
}

// shownCopy is what was copied in one line: the settings, and behind them the condition that
// stands above them as a comment.
func shownCopy(settings string) string {
	comment, rest, ok := strings.Cut(settings, "\n")
	if !ok || !strings.HasPrefix(comment, "# ") {
		return strings.ReplaceAll(settings, "\n", "  ")
	}
	return strings.ReplaceAll(rest, "\n", "  ") + "  " + comment
}

// say answers a key, in the last line.
func (m *Model) say(text string) { m.note, m.noted = text, m.now }
