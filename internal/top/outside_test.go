package top

import (
	"os"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kgdiag/kgdiag/advise/diagnose"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/past"
	"github.com/kgdiag/kgdiag/inspect/watch"
	"github.com/kgdiag/kgdiag/internal/outsider"
	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/internal/render"
)

// TestTextFromOutside: whatever the groups, clients, hosts and topics are called, every
// frame has its size, and nothing in it acts on the terminal.
func TestTextFromOutside(t *testing.T) {
	calm, _ := recorded()
	if calm == nil {
		t.Fatal("testdata/demo.kgcase cannot be read")
	}
	small := *calm
	small.Narrow([]string{"orders", "payments"})
	seeds := uint64(2)
	if os.Getenv("KGDIAG_TEST_FULL") != "" {
		seeds = 60
	}
	frames := 0
	for seed := range seeds {
		name := outsider.Names(seed)
		c, err := outsider.Poison(&small, name)
		if err != nil {
			t.Fatal(err)
		}
		past.Rebuild(c)
		b := newBook(time.Hour)
		b.takePast(c)
		b.takeLags(c)
		orders, now := name("orders"), c.Window.To.Time
		deep := *c
		deep.Narrow([]string{orders})
		b.deep[orders] = &deep
		sights := b.sights(&inspect.Case{Window: c.Window, Cluster: c.Cluster}, []string{orders, name("payments")}, orders)
		for _, size := range []tea.WindowSizeMsg{{Width: 80, Height: 24}, {Width: 41, Height: 11}, {Width: 200, Height: 60}} {
			m := newModel(&Config{Since: time.Hour, Zone: time.UTC, Colours: true, Now: func() time.Time { return now },
				Head: func(c inspect.Cluster) render.Line { return render.L("%s (%s)", c.Bootstrap, c.ID) },
				Page: func(_ *inspect.Case, d *diagnose.Diagnosis) []render.Line {
					return []render.Line{render.L("%s  %s", d.Group, d.Verdict), render.L("WHY  %s", d.Why())}
				}}, &watch.Info{At: c.Window.To, Case: c, Log: true})
			risk := atRisk()
			risk.Group, risk.Member = orders, name("someone")
			gone := lost()
			m = send(t, m, size, tickMsg(now), sights, risk)
			for _, keys := range [][]string{{}, {"enter"}, {"+", "+"}, {"w"}, {"esc"}, {"y"}, {"?"}, {"esc"}, {"down"}, {"enter"}, {"p"}, {"esc"}, append([]string{"/"}, strings.Split(strings.ToValidUTF8(outsider.Text(seed+1), "?"), "")...), {"enter"}} {
				m = send(t, m, press(keys...)...)
				frame(t, m, size)
				frames++
			}
			frame(t, send(t, m, gone...), size)
			frames++
		}
	}
	t.Logf("%d frames", frames)
}

// frame holds what the screen shows to its size, and to be harmless.
func frame(t *testing.T, m Model, size tea.WindowSizeMsg) {
	t.Helper()
	shown := m.View().Content
	if h := outsider.Harm("colours", shown); h != "" {
		t.Errorf("%dx%d: %s: %q", size.Width, size.Height, h, shown)
	}
	lines := m.frame()
	if len(lines) != size.Height {
		t.Errorf("%d lines on %d", len(lines), size.Height)
	}
	for _, l := range lines {
		if w := prose.Width(l.Plain()); w > size.Width {
			t.Errorf("%d columns on %d: %q", w, size.Width, l.Plain())
		}
	}
}

// TestResized: a terminal may take any size at any time, whatever is shown.
func TestResized(t *testing.T) {
	m := screen(t, 80, 24, true)
	for _, keys := range [][]string{{}, {"enter"}, {"w"}, {"end"}, {"esc"}, {"?"}, {"esc"}, {"/", "p"}} {
		m = send(t, m, press(keys...)...)
		for _, size := range []tea.WindowSizeMsg{{Width: 200, Height: 60}, {Width: 1, Height: 1}, {Width: 0, Height: 0}, {Width: leastWidth, Height: leastHeight}, {Width: leastWidth - 1, Height: 60}, {Width: 500, Height: leastHeight}, {Width: 80, Height: 24}} {
			m = send(t, m, size)
			if size.Width >= leastWidth && size.Height >= leastHeight {
				frame(t, m, size)
			} else if n := len(m.frame()); n != 1 || prose.Width(m.frame()[0].Plain()) > size.Width {
				t.Errorf("%v: %d lines, %q", size, n, m.frame()[0].Plain())
			}
		}
	}
}
