//go:build browser

package page

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

var pictures = flag.String("pictures", "", "write screenshots to this folder")

// browser is a page in a headless Chromium, with what it complained of and asked for.
type browser struct {
	ctx context.Context
	mu  sync.Mutex
	// complaints are exceptions and lines of the console, requests what was asked for.
	complaints, requests []string
}

// open shows a page at a width, in a theme ("light" or "dark").
func open(t *testing.T, page string, width int64, theme string) *browser {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Fatal("no chromium is installed: apt-get install chromium")
	}
	file := filepath.Join(t.TempDir(), "incident.html")
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox)
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &browser{ctx: ctx}
	note := func(list *[]string, text string) {
		b.mu.Lock()
		defer b.mu.Unlock()
		*list = append(*list, text)
	}
	chromedp.ListenTarget(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			note(&b.complaints, e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			note(&b.complaints, "console: "+string(e.Type))
		case *log.EventEntryAdded:
			note(&b.complaints, e.Entry.Text)
		case *network.EventRequestWillBeSent:
			note(&b.requests, e.Request.URL)
		}
	})
	b.do(t, log.Enable(), network.Enable(), emulation.SetFocusEmulationEnabled(true),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}),
		chromedp.EmulateViewport(width, 900), chromedp.Navigate("file://"+file))
	return b
}

func (b *browser) do(t *testing.T, actions ...chromedp.Action) {
	t.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// eval is the value of an expression in the page.
func eval[T any](t *testing.T, b *browser, expression string) (value T) {
	t.Helper()
	b.do(t, chromedp.Evaluate(expression, &value))
	return value
}

// silent holds that the browser had nothing to complain of, and asked for the file alone.
func (b *browser) silent(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.complaints) > 0 {
		t.Errorf("the browser complains: %s", strings.Join(b.complaints, "; "))
	}
	for _, url := range b.requests {
		if !strings.HasPrefix(url, "file:///") {
			t.Errorf("asked for %s", url)
		}
	}
	if len(b.requests) == 0 {
		t.Error("no request was seen: not even the one for the page")
	}
}

// picture writes a screenshot if --pictures asks for it.
func (b *browser) picture(t *testing.T, name string, height int64) {
	t.Helper()
	if *pictures == "" {
		return
	}
	var png []byte
	b.do(t, chromedp.EmulateViewport(960, height), chromedp.CaptureScreenshot(&png))
	if err := os.WriteFile(filepath.Join(*pictures, name), png, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestBrowserThemes holds that the page follows the reader's theme.
func TestBrowserThemes(t *testing.T) {
	page := write(t, slowOrders(t), "orders")
	for _, theme := range []string{"light", "dark"} {
		t.Run(theme, func(t *testing.T) {
			b := open(t, page, 1100, theme)
			want := map[string]string{"light": "rgb(255, 255, 255)", "dark": "rgb(18, 22, 28)"}[theme]
			if got := eval[string](t, b, `getComputedStyle(document.body).backgroundColor`); got != want {
				t.Errorf("the page is %s, want %s", got, want)
			}
			b.picture(t, "report-"+theme+".png", 1260)
			b.silent(t)
		})
	}
}

// TestBrowserKeyboard walks through the chart.
func TestBrowserKeyboard(t *testing.T) {
	page := write(t, slowOrders(t), "orders")
	b := open(t, page, 1100, "light")
	said := `document.querySelector(".said").textContent`
	b.do(t, chromedp.Focus(`svg .item[tabindex="0"]`, chromedp.ByQuery))
	if got := eval[string](t, b, said); !strings.HasPrefix(got, "rebalance 1 at 12:13:04: exceeded poll interval, very likely") {
		t.Errorf("says %q", got)
	}
	b.do(t, chromedp.KeyEvent(kb.ArrowRight))
	if got := eval[string](t, b, said); !strings.HasPrefix(got, "rebalance 2 at 12:15:31: new member") {
		t.Errorf("to the right is %q", got)
	}
	b.do(t, chromedp.KeyEvent(kb.Enter))
	if !eval[bool](t, b, `document.getElementById("g1-r2").classList.contains("hit") && document.querySelector("#g1-r2 details").open`) {
		t.Error("Enter does not show the row with its evidence")
	}
	b.do(t, chromedp.KeyEvent(kb.End))
	if got := eval[string](t, b, said); !strings.HasPrefix(got, "orders-2: not in the group, 12:53:13 to 12:55:34") {
		t.Errorf("the last is %q", got)
	}
	if n := eval[int](t, b, `document.querySelectorAll('svg .item[tabindex="0"]').length`); n != 1 {
		t.Errorf("%d stops of the Tab key in the chart", n)
	}
	b.silent(t)
}

// TestBrowserMouse copies a fix and unfolds a list.
func TestBrowserMouse(t *testing.T) {
	page := write(t, slowOrders(t), "orders")
	b := open(t, page, 1100, "light")
	b.do(t, chromedp.Click(`button[data-copy="g1-f0-set"]`, chromedp.ByQuery))
	copied := `document.querySelector('button[data-copy="g1-f0-set"]').textContent`
	b.do(t, chromedp.Poll(copied+` !== "Copy the setting"`, nil))
	if got := eval[string](t, b, copied); got != "Copied" && !strings.HasPrefix(got, "Selected") {
		t.Errorf("the button says %q", got)
	}
	if !eval[bool](t, b, `document.querySelector("#g1-checks ~ details summary").click(), document.querySelector("#g1-checks ~ details").open`) {
		t.Error("the rules that were not checked do not unfold")
	}
	b.silent(t)
}

// TestBrowserNarrow holds that a telephone shows the page without scrolling sideways.
func TestBrowserNarrow(t *testing.T) {
	page := write(t, slowOrders(t), "orders")
	b := open(t, page, 360, "light")
	if wide := eval[int](t, b, `document.documentElement.scrollWidth`); wide > 360 {
		t.Errorf("the page is %d wide on a screen of 360", wide)
	}
	b.silent(t)
}

// TestBrowserPrint holds that paper is white, and has nothing to press on it.
func TestBrowserPrint(t *testing.T) {
	page := write(t, slowOrders(t), "orders")
	b := open(t, page, 1100, "dark")
	var pdf []byte
	b.do(t, chromedp.ActionFunc(func(ctx context.Context) (err error) {
		pdf, _, err = cdppage.PrintToPDF().Do(ctx)
		return err
	}))
	if !strings.HasPrefix(string(pdf), "%PDF-") {
		t.Errorf("printed %.20q", pdf)
	}
	b.do(t, emulation.SetEmulatedMedia().WithMedia("print").WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}))
	if got := eval[string](t, b, `getComputedStyle(document.body).backgroundColor`); got != "rgb(255, 255, 255)" {
		t.Errorf("paper is %s", got)
	}
	if shown := eval[[]string](t, b, `[...document.querySelectorAll("button, nav")].filter(e => e.checkVisibility()).map(e => e.tagName)`); len(shown) > 0 {
		t.Errorf("on paper there are %v", slices.Compact(shown))
	}
	b.picture(t, "report-print.png", 1260)
	b.silent(t)
}

// TestBrowserHostile puts markup into every name.
func TestBrowserHostile(t *testing.T) {
	c := slowOrders(t)
	rename(c)
	b := open(t, write(t, c, hostile), 1100, "light")
	if n := eval[int](t, b, `document.images.length`); n != 0 {
		t.Errorf("%d images", n)
	}
	b.silent(t)
}
