package top

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kgdiag/kgdiag/advise/diagnose"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/watch"
	"github.com/kgdiag/kgdiag/internal/eventtext"
	"github.com/kgdiag/kgdiag/internal/term"
)

// The messages that the reading side sends.
type (
	eventMsg   watch.Event
	sightsMsg  []*Sight
	troubleMsg string // why the past could not be read; "" it could
	endedMsg   struct{ err error }
	tickMsg    time.Time
)

// mostEvents is how many events are kept, of all groups together.
const mostEvents = 500

// noteFor is how long an answer to a key stays.
const noteFor = 8 * time.Second

// order is what the groups are sorted by.
type order int

const (
	byWorst order = iota
	byLag
	byRebalances
	byName
	orders
)

// String is the order in words.
func (o order) String() string {
	return [...]string{"worst first", "most lag first", "most rebalances first", "by name"}[o]
}

// mode is what fills the screen.
type mode int

const (
	modeGroups mode = iota
	modeWhy
	modeHelp
)

// choice is which groups are in the list, and in what order.
type choice struct {
	sort   order
	filter string
}

// data is what is known.
type data struct {
	sights  map[string]*Sight
	waiting map[string]bool // named groups that do not exist yet
	events  []watch.Event
	lost    map[string]inspect.Time // groups whose coordinator does not answer, since when
	trouble string
}

// clone is a copy that stays as it is while the other goes on.
func (d *data) clone() *data {
	c := *d
	c.sights, c.lost, c.waiting = maps.Clone(d.sights), maps.Clone(d.lost), maps.Clone(d.waiting)
	c.events = slices.Clone(d.events)
	return &c
}

// Model is the screen: what is known, and what the user looks at. It has no clock and
// reads nothing; messages bring both.
type Model struct {
	cfg  *Config
	info *watch.Info
	p    *term.Painter
	tell eventtext.Teller
	show func(visible []string, opened string) // does not wait; nil: nobody wants to know

	now           time.Time
	width, height int
	d             *data
	held          *data // what is shown while paused; nil live
	list          []*Sight
	stirred       bool // what is in the list has changed since it was made
	heldAt        time.Time

	cursor string // group that keys act on
	moved  bool   // the user has put it there; else it stands on the first
	zoomed int    // of zooms
	opened string // "" none
	choice
	typing bool
	mode   mode
	scroll int
	note   string
	noted  time.Time
	err    error // why the screen ended by itself
}

func newModel(cfg *Config, info *watch.Info) Model {
	m := Model{cfg: cfg, info: info, p: cfg.painter(), now: info.At.Time, width: 80, height: 24, stirred: true,
		d: &data{sights: map[string]*Sight{}, waiting: map[string]bool{}, lost: map[string]inspect.Time{}}}
	m.tell = eventtext.Teller{Clock: m.clock}
	for _, id := range info.Waiting {
		m.d.waiting[id] = true
	}
	return m
}

// Init asks for the first tick.
func (m Model) Init() tea.Cmd { return m.tick() }

func (m Model) tick() tea.Cmd {
	return tea.Tick(time.Second, func(time.Time) tea.Msg { return tickMsg(m.cfg.Now()) })
}

// Update takes a message.
func (m Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	chosen, held := m.choice, m.held
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tickMsg:
		m.now, cmd = time.Time(msg), m.tick()
		if m.note != "" && m.now.Sub(m.noted) >= noteFor {
			m.note = ""
		}
	case eventMsg:
		m.happened(watch.Event(msg))
	case sightsMsg:
		for _, s := range msg {
			m.d.sights[s.Group] = s
			delete(m.d.waiting, s.Group)
		}
		m.stirred = true
	case troubleMsg:
		m.d.trouble = string(msg)
	case endedMsg:
		m.err = msg.err
		return m, tea.Quit
	case tea.KeyPressMsg:
		m, cmd = m.key(msg)
	case tea.PasteMsg:
		if m.typing {
			m.filter += strings.Join(strings.Fields(msg.Content), " ")
		}
	}
	if _, many := msg.(eventMsg); !many && (m.stirred || chosen != m.choice || held != m.held) { // events come in storms
		m.list, m.stirred = m.sorted(), false
	}
	m.keepCursor()
	m.tellShown()
	return m, cmd
}

// happened keeps an event, and what it says of who answers.
func (m *Model) happened(e watch.Event) {
	for _, id := range append([]string{e.Group}, e.Groups...) {
		switch {
		case id == "":
		case e.Type == watch.SourceLost && e.Source == watch.FromPoll:
			m.d.lost[id] = e.Time
		case e.Type == watch.SourceBack:
			delete(m.d.lost, id)
		case e.Type == watch.GroupWaiting:
			m.d.waiting[id], m.stirred = true, true
		}
	}
	m.d.events = append(m.d.events, e)
	if n := len(m.d.events); n > mostEvents {
		m.d.events = slices.Clone(m.d.events[n-mostEvents/2:])
	}
}

// tellShown tells the reading side which groups are on the screen: at once and not by a
// command, since commands overtake each other.
func (m *Model) tellShown() {
	if m.show == nil {
		return
	}
	rows, _ := m.page()
	visible := make([]string, 0, len(rows)+1)
	for _, s := range rows {
		visible = append(visible, s.Group)
	}
	if m.opened != "" && !slices.Contains(visible, m.opened) {
		visible = append(visible, m.opened)
	}
	m.show(visible, m.opened)
}

// look is what the screen shows: the present, or the moment of the pause.
func (m *Model) look() *data {
	if m.held != nil {
		return m.held
	}
	return m.d
}

// rows are the groups that the filter lets through, sorted, as of the last message.
func (m *Model) rows() []*Sight { return m.list }

// sorted are the rows as they are now.
func (m *Model) sorted() []*Sight {
	d := m.look()
	rows := make([]*Sight, 0, len(d.sights)+len(d.waiting))
	for _, s := range d.sights {
		rows = append(rows, s)
	}
	for id := range d.waiting {
		rows = append(rows, newSight(diagnose.Diagnosis{Group: id, State: "no such group"}, false))
	}
	words := m.wanted()
	rows = slices.DeleteFunc(rows, func(s *Sight) bool { return !s.matches(words) })
	slices.SortFunc(rows, func(a, b *Sight) int {
		by := 0
		switch m.sort {
		case byLag:
			by = cmp.Compare(inspectOr(b.Lag), inspectOr(a.Lag))
		case byRebalances:
			by = cmp.Compare(len(b.Rebalances), len(a.Rebalances))
		case byName:
			by = cmp.Compare(a.Group, b.Group)
		}
		return cmp.Or(by, diagnose.WorstFirst(&a.Diagnosis, &b.Diagnosis))
	})
	return rows
}

// inspectOr is a number to sort by: what is not known comes last.
func inspectOr(n *int64) int64 {
	if n == nil {
		return -1
	}
	return *n
}

// wanted are the words of the filter.
func (m *Model) wanted() []string { return strings.Fields(strings.ToLower(m.filter)) }

// matches reports whether every one of some words is in the group's id, state or cause.
func (s *Sight) matches(words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(s.words, w) })
}

// keepCursor puts the cursor on a group that is there: the first, if its own has gone.
func (m *Model) keepCursor() {
	rows := m.rows()
	if m.place(rows) < 0 || !m.moved {
		m.cursor = ""
		if len(rows) > 0 {
			m.cursor = rows[0].Group
		}
	}
}

// place is where the cursor stands; -1 nowhere.
func (m *Model) place(rows []*Sight) int {
	return slices.IndexFunc(rows, func(s *Sight) bool { return s.Group == m.cursor })
}

// current is the group that keys act on: the opened one, else the one under the cursor;
// nil where there is none.
func (m *Model) current() *Sight {
	return m.look().sights[cmp.Or(m.opened, m.cursor)]
}

func (m *Model) clock(t inspect.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.In(m.zone()).Format("15:04:05")
}

func (m *Model) zone() *time.Location { return cmp.Or(m.cfg.Zone, time.Local) }
