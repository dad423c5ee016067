package top

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kgdiag/kgdiag/advise/diagnose"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/past"
	"github.com/kgdiag/kgdiag/inspect/watch"
	"github.com/kgdiag/kgdiag/internal/golden"
	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/internal/render"
)

var update = flag.Bool("update", false, "rewrite the frames in testdata")

// recorded is a case of the demo's cluster: orders overruns its poll interval, payments
// pauses for longer than its session, billing is healthy. It is read once, and so are
// its sights, which nobody changes.
var recorded = sync.OnceValues(func() (*inspect.Case, sightsMsg) {
	c, err := past.ReadFile(context.Background(), "testdata/demo.kgcase")
	if err != nil {
		return nil, nil
	}
	return c, diagnosed(c)
})

// moment is when the recorded case ends, and the clock of the screens made of it.
func moment() time.Time {
	c, _ := recorded()
	return c.Window.To.Time
}

// screen is a model of the recorded case as a terminal of this size shows it.
func screen(t testing.TB, width, height int, colours bool) Model {
	t.Helper()
	c, sights := recorded()
	if c == nil {
		t.Fatal("testdata/demo.kgcase cannot be read")
	}
	now := moment()
	cfg := &Config{Since: time.Hour, Zone: time.UTC, Colours: colours, Now: func() time.Time { return now },
		Head: func(c inspect.Cluster) render.Line { return render.L("prod-eu (%s, %d brokers)", c.ID, c.Brokers) },
		Page: func(_ *inspect.Case, d *diagnose.Diagnosis) []render.Line {
			return []render.Line{render.L("%s  %s", d.Group, d.Verdict), render.L("WHY  %s", d.Why())}
		}}
	m := newModel(cfg, &watch.Info{At: c.Window.To, Case: c, Log: true})
	return send(t, m, tea.WindowSizeMsg{Width: width, Height: height}, tickMsg(now), sights)
}

// diagnosed are the sights of the recorded case, orders as if it were opened.
func diagnosed(c *inspect.Case) sightsMsg {
	b := newBook(time.Hour)
	b.takePast(c)
	b.takeLags(c)
	orders := *c
	orders.Groups, orders.Records, orders.Observations = slices.Clone(c.Groups), slices.Clone(c.Records), slices.Clone(c.Observations)
	orders.Narrow([]string{"orders"})
	b.deep["orders"] = &orders
	seen := &inspect.Case{Window: c.Window, Cluster: c.Cluster}
	return b.sights(seen, []string{"billing", "orders", "payments"}, "orders")
}

// send hands messages to a model, as the program does.
func send(t testing.TB, m Model, msgs ...tea.Msg) Model {
	t.Helper()
	for _, msg := range msgs {
		next, _ := m.Update(msg)
		m = next.(Model)
	}
	return m
}

// press are key presses: "enter", "esc", "up", …, or the text of the key.
func press(keys ...string) []tea.Msg {
	named := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "backspace": tea.KeyBackspace, "end": tea.KeyEnd}
	var out []tea.Msg
	for _, k := range keys {
		if code, ok := named[k]; ok {
			out = append(out, tea.KeyPressMsg{Code: code})
		} else {
			out = append(out, tea.KeyPressMsg{Code: []rune(k)[0], Text: k})
		}
	}
	return out
}

// text is a frame with its line ends trimmed.
func text(m Model) string { return trimmed(m.View().Content) }

func trimmed(content string) string {
	lines := strings.Split(strings.TrimSuffix(content, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// lost are the events of a cluster that stops answering.
func lost() []tea.Msg {
	at := inspect.At(moment().Add(-12 * time.Second))
	coordinator := int32(2)
	return []tea.Msg{eventMsg{Type: watch.SourceLost, Source: watch.FromPoll, Groups: []string{"orders", "payments", "billing"}, Time: at,
		Coordinator: &coordinator, Why: "broker 2 (kafka-2:9092): no answer within 1s"}}
}

// atRisk is the warning before an eviction.
func atRisk() eventMsg {
	now := moment()
	return eventMsg{Type: watch.MemberAtRisk, Group: "orders", Member: "consumer-orders-2", Time: inspect.At(now.Add(-time.Second)), Silent: inspect.Ms(3 * time.Second),
		Limit: inspect.Ms(5 * time.Second), OutAt: inspect.At(now.Add(2 * time.Second)), Incident: 7}
}

func TestFrames(t *testing.T) {
	for name, f := range map[string]struct {
		width, height int
		colours       bool
		msgs          []tea.Msg
	}{
		"list-80x24":    {80, 24, false, nil},
		"list-60x20":    {60, 20, false, nil},
		"opened-80x24":  {80, 24, false, press("enter")},
		"opened-120x40": {120, 40, false, append(press("enter", "+", "+", "+"), tickMsg(moment().Add(9*time.Second)))},
		"opened-60x20":  {60, 20, false, press("enter")},
		"colours-80x24": {80, 24, true, press("enter")},
		"calm-80x24":    {80, 24, false, press("end", "enter")},
		"risk-80x24":    {80, 24, false, append(press("enter"), atRisk())},
		"paused-80x24":  {80, 24, false, append(press("p"), tickMsg(moment().Add(90*time.Second)), atRisk())},
		"filter-80x24":  {80, 24, false, press("/", "p", "a", "y")},
		"nothing-80x24": {80, 24, false, press("/", "z", "z", "enter")},
		"sorted-80x24":  {80, 24, false, press("s", "s", "s")},
		"copied-80x24":  {80, 24, false, press("y")},
		"why-80x24":     {80, 24, false, press("w")},
		"help-80x24":    {80, 24, false, press("?")},
		"lost-80x24":    {80, 24, false, lost()},
		"small-30x8":    {30, 8, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := text(send(t, screen(t, f.width, f.height, f.colours), f.msgs...))
			golden.Compare(t, *update, filepath.Join("testdata", "frames", name+".txt"), got, "go test ./internal/top -update, and look at the difference")
		})
	}
}

// Before anything has been diagnosed, and where there is nothing, the screen says so.
func TestFramesWithoutGroups(t *testing.T) {
	m := screen(t, 80, 12, false)
	clear(m.d.sights)
	m.stirred = true
	if got := text(send(t, m, tickMsg(m.now))); !strings.Contains(got, "no groups on this cluster, or none that you may DESCRIBE") {
		t.Errorf("empty cluster:\n%s", got)
	}
	if got := text(send(t, m, eventMsg{Type: watch.GroupWaiting, Group: "ordres"}, tickMsg(m.now))); !strings.Contains(got, "ordres  no such group") {
		t.Errorf("group that does not exist:\n%s", got)
	}
	m = screen(t, 80, 12, false)
	var unread sightsMsg
	for _, s := range m.d.sights {
		c := *s
		c.Counted, c.Rebalances = false, nil
		unread = append(unread, &c)
	}
	got := text(send(t, m, unread))
	if !strings.Contains(got, "READING THE PAST") || !regexp.MustCompile(`orders .* … `).MatchString(got) {
		t.Errorf("the number of rebalances is told before it is known:\n%s", got)
	}
}

var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

// Colour says nothing that the text does not: with and without it the screen reads the
// same.
func TestColourCarriesNoMeaningAlone(t *testing.T) {
	for _, msgs := range [][]tea.Msg{nil, press("enter"), append(press("enter"), atRisk()), lost(), press("?"), press("p")} {
		plain, painted := text(send(t, screen(t, 100, 30, false), msgs...)), text(send(t, screen(t, 100, 30, true), msgs...))
		if painted == plain {
			t.Error("nothing is painted")
		}
		lines := strings.Split(sgr.ReplaceAllString(painted, ""), "\n")
		for i := range lines {
			lines[i] = strings.TrimRight(lines[i], " ")
		}
		if got := strings.Join(lines, "\n"); got != plain {
			t.Errorf("with colour:\n%s\nwithout:\n%s", got, plain)
		}
	}
	for _, code := range sgr.FindAllString(text(send(t, screen(t, 100, 30, true), press("enter")...)), -1) {
		if !slices.Contains([]string{"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[7m", "\x1b[22m", "\x1b[27m", "\x1b[22;22m", "\x1b[32m", "\x1b[33m", "\x1b[31;1m", "\x1b[0;22m", "\x1b[0;0m"}, code) {
			t.Errorf("%q: not one of the sixteen colours on the terminal's own background", code)
		}
	}
}

// However wide the terminal is and whatever ids hold, no line is wider than it, there
// are as many as it has rows, and nothing in them acts on it.
func TestEveryFrameFitsAndIsSafe(t *testing.T) {
	hostile := "evil\x1b[2J\x1b]52;c;AAAA\a\u202eabc\nnext 注文サービス注文サービス"
	for _, keys := range [][]tea.Msg{nil, press("enter"), press("y"), press("w"), press("?"), press("/", "e", "v")} {
		for _, size := range [][2]int{{40, 10}, {57, 13}, {80, 24}, {133, 50}, {250, 70}} {
			m := screen(t, size[0], size[1], false)
			d, deep := m.d.sights["orders"].Diagnosis, *m.d.sights["orders"].Deep
			d.Group, d.Member = hostile, hostile
			deep.History.Spans = slices.Clone(deep.History.Spans)
			for i := range deep.History.Spans {
				deep.History.Spans[i].Lane = hostile + fmt.Sprint(i%3)
			}
			s := newSight(d, true)
			s.Deep = &deep
			clear(m.d.sights)
			risk := atRisk()
			risk.Group, risk.Member = hostile, hostile
			m = send(t, m, append([]tea.Msg{sightsMsg{s}, risk}, keys...)...)
			lines := strings.Split(m.View().Content, "\n")
			if len(lines) != size[1] {
				t.Errorf("%v: %d lines", size, len(lines))
			}
			for _, l := range lines {
				if prose.Width(l) > size[0] {
					t.Errorf("%v: %d columns: %q", size, prose.Width(l), l)
				}
				if strings.ContainsAny(l, "\x1b\a\r\u202e") {
					t.Errorf("%v: a terminal would act on %q", size, l)
				}
			}
		}
	}
}

// A paused screen stands still; what came meanwhile is there when it goes on.
func TestPauseMissesNothing(t *testing.T) {
	m := send(t, screen(t, 100, 30, false), press("p")...)
	m = send(t, m, tickMsg(m.now.Add(20*time.Second))) // the answer to the key has gone
	before := text(m)
	later := m.now.Add(5 * time.Second)
	m = send(t, m, atRisk(), tickMsg(later))
	if got := text(m); got != before {
		t.Errorf("it moved:\n%s", got)
	}
	if got := text(send(t, m, press("p")...)); !strings.Contains(got, "AT RISK") || !strings.Contains(got, later.UTC().Format("15:04:05")) {
		t.Errorf("not there after the pause:\n%s", got)
	}
}

// What y copies is the settings, each on a line, below when they help; where there is none,
// nothing is copied.
func TestCopyTheFix(t *testing.T) {
	m := screen(t, 100, 30, false)
	next, cmd := m.Update(press("y")[0])
	if cmd == nil || fmt.Sprint(cmd()) != "# if its host and what it calls are fast\nmax.poll.interval.ms=300000" {
		t.Fatalf("copied: %v", cmd)
	}
	if got := text(next.(Model)); !strings.Contains(got, "sent to the clipboard, of orders: max.poll.interval.ms=300000") {
		t.Errorf("it does not say what was copied:\n%s", got)
	}
	m = send(t, m, press("end")...)
	next, cmd = m.Update(press("y")[0])
	if cmd != nil {
		t.Errorf("copied: %v", cmd())
	}
	if got := text(next.(Model)); !strings.Contains(got, "billing: no setting to copy") {
		t.Errorf("it does not say that there is none:\n%s", got)
	}
}

// The cursor stays on its group whatever the order becomes, and follows the worst one
// only until it is moved.
func TestTheCursorStaysOnItsGroup(t *testing.T) {
	m := screen(t, 100, 30, false)
	if m.cursor != "orders" {
		t.Errorf("it begins on %q, want the worst", m.cursor)
	}
	m = send(t, m, press("down", "s", "s", "s")...)
	if m.cursor != "payments" {
		t.Errorf("it went to %q", m.cursor)
	}
	if m = send(t, m, press("/", "b", "i", "l", "enter")...); m.cursor != "billing" {
		t.Errorf("filtered away: it stands on %q", m.cursor)
	}
}

// The reading side learns which groups are on the screen, so that no others are asked.
func TestTheReaderLearnsWhatIsShown(t *testing.T) {
	m := screen(t, 80, 24, false)
	var visible []string
	var opened string
	m.show = func(v []string, o string) { visible, opened = v, o }
	send(t, m, press("/", "p", "a", "y", "enter", "enter")...)
	if !slices.Equal(visible, []string{"payments"}) || opened != "payments" {
		t.Errorf("shown %v, opened %q", visible, opened)
	}
}

func TestQuit(t *testing.T) {
	for _, k := range []tea.KeyPressMsg{{Code: 'q', Text: "q"}, {Code: 'c', Mod: tea.ModCtrl}} {
		_, cmd := screen(t, 80, 24, false).Update(k)
		if cmd == nil || fmt.Sprintf("%T", cmd()) != "tea.QuitMsg" {
			t.Errorf("%s does not quit", k)
		}
	}
	m := send(t, screen(t, 80, 24, false), press("?", "q")...)
	if m.mode != modeGroups {
		t.Error("q on a page does not go back")
	}
	if v := m.View(); !v.AltScreen || v.MouseMode != tea.MouseModeNone {
		t.Errorf("alternate screen %v, mouse %v", v.AltScreen, v.MouseMode)
	}
}
