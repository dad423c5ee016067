//go:build browser

package top

import (
	"context"
	"flag"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/chromedp/chromedp"

	"github.com/kgdiag/kgdiag/internal/term"
)

var pictures = flag.String("pictures", "", "write screenshots to this folder")

// colours are those of a dark terminal.
var colours = map[term.Style]string{term.Bold: "font-weight:bold", term.Dim: "color:#9a9a9a", term.Good: "color:#3fb950", term.Warn: "color:#d29922",
	term.Bad: "color:#f0525a;font-weight:bold", term.Selected: "color:#1e1e1e;background:#d4d4d4"}

// A browser shows a frame as a terminal does, column under column: the pictures of the
// README, which -pictures writes.
func TestBrowserShowsTheScreen(t *testing.T) {
	program := ""
	for _, name := range []string{"/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"} {
		if _, err := os.Stat(name); err == nil {
			program = name
		}
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox)...)
	defer cancel()
	ctx, cancel = context.WithTimeout(ctx, time.Minute)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	for name, m := range map[string]Model{
		"top-80x24.png": send(t, screen(t, 80, 24, false), append(press("enter"), atRisk())...),
		"top-wide.png":  send(t, screen(t, 120, 34, false), append(press("enter", "+", "+", "+"), tea.Msg(atRisk()))...),
	} {
		var page strings.Builder
		page.WriteString("<!doctype html><meta charset=utf-8><body style='margin:0;background:#1e1e1e'><pre style='display:inline-block;margin:0;padding:14px;" +
			"font:14px/18px DejaVu Sans Mono,monospace;color:#d4d4d4'>")
		for _, l := range m.frame() {
			for _, s := range l {
				fmt.Fprintf(&page, "<span style='%s'>%s</span>", colours[s.Style], html.EscapeString(s.Text))
			}
			page.WriteByte('\n')
		}
		file := filepath.Join(t.TempDir(), "screen.html")
		if err := os.WriteFile(file, []byte(page.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		var shown string
		var png []byte
		var size []float64
		err := chromedp.Run(ctx, chromedp.EmulateViewport(1200, 900), chromedp.Navigate("file://"+file), chromedp.Text("pre", &shown),
			chromedp.Evaluate("(r => [r.width, r.height])(document.querySelector('pre').getBoundingClientRect())", &size),
			chromedp.Screenshot("pre", &png))
		if err != nil {
			t.Fatal(err)
		}
		if want := text(m); trimmed(shown) != want {
			t.Errorf("%s shows\n%s\nwant\n%s", name, shown, want)
		}
		if most := float64(m.width)*9 + 28; size[0] > most || size[1] != float64(m.height*18+28) {
			t.Errorf("%s: %v, want %v at most: the columns do not stand", name, size, most)
		}
		if *pictures != "" {
			if err := os.WriteFile(filepath.Join(*pictures, name), png, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
