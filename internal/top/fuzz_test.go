package top

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/kgdiag/kgdiag/internal/prose"
)

// FuzzKeys: whatever is typed in a terminal of whatever size, every frame fits.
func FuzzKeys(f *testing.F) {
	for _, s := range []string{"jjk\n\x1b", "/ord\n", "?q", "wswss", "ypP", "++--00", "\n\n\x1b\x1b", "/\x7f\x7f注文\n"} {
		f.Add(s, uint8(80), uint8(24))
	}
	f.Add("\n", uint8(1), uint8(1))
	f.Add("?", uint8(0), uint8(0))
	f.Fuzz(func(t *testing.T, keys string, width, height uint8) {
		w, h := int(width), int(height)
		m := screen(t, w, h, false)
		for _, r := range keys[:min(len(keys), 200)] {
			key := tea.KeyPressMsg{Code: r, Text: string(r)}
			switch r {
			case '\n':
				key = tea.KeyPressMsg{Code: tea.KeyEnter}
			case '\x1b':
				key = tea.KeyPressMsg{Code: tea.KeyEscape}
			case '\x7f':
				key = tea.KeyPressMsg{Code: tea.KeyBackspace}
			}
			m = send(t, m, key)
			if w < 20 || h < 5 {
				_ = m.View() // too small to fit; it must not fall over
				continue
			}
			lines := strings.Split(m.View().Content, "\n")
			if len(lines) > h {
				t.Fatalf("%q: %d lines on %dx%d", keys, len(lines), w, h)
			}
			for _, l := range lines {
				if prose.Width(l) > w {
					t.Fatalf("%q: %d columns on %dx%d: %q", keys, prose.Width(l), w, h, l)
				}
			}
		}
	})
}
