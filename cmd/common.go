package cmd

import (
	"bytes"
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/input"
	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/internal/render"
	"github.com/kgdiag/kgdiag/internal/show"
	"github.com/kgdiag/kgdiag/internal/term"
)

// version is set by the linker for releases (-X …/cmd.version=v0.1.0).
var version = ""

// Version is the version of this build.
func Version() string {
	if version != "" {
		return version
	}
	if bi, ok := debug.ReadBuildInfo(); ok && bi.Main.Version != "" && bi.Main.Version != "(devel)" {
		return bi.Main.Version
	}
	return "v0.1.0-dev"
}

// envelope starts every JSON document; commands embed it.
type envelope struct {
	Schema      string           `json:"schema"`
	Kgdiag      string           `json:"kgdiag"`
	GeneratedAt inspect.Time     `json:"generated_at"`
	Cluster     *inspect.Cluster `json:"cluster"` // null offline
	Window      *inspect.Window  `json:"window"`  // null where no span of time is meant
	Gaps        []inspect.Gap    `json:"gaps"`
}

// envelopeOf makes the envelope of a document of this schema from a case; c may be
// nil for offline commands.
func (a *app) envelopeOf(schema string, c *inspect.Case) envelope {
	e := envelope{Schema: schema, Kgdiag: Version(), GeneratedAt: inspect.At(a.now()), Gaps: []inspect.Gap{}}
	if c == nil {
		return e
	}
	if c.Cluster != (inspect.Cluster{}) {
		cluster := c.Cluster
		e.Cluster = &cluster
	}
	if c.Window != (inspect.Window{}) {
		window := c.Window
		e.Window = &window
	}
	if len(c.Gaps) > 0 {
		e.Gaps = c.Gaps
	}
	return e
}

// show renders a view into memory first, so that stdout gets the whole result or
// nothing, and then writes it.
func (a *app) show(v render.View) error {
	var b bytes.Buffer
	if !a.flags.verbose && (a.streams.OutTTY || !v.Wide) {
		v.Width = a.width()
	}
	v.Whole = !a.streams.OutTTY // what is cut cannot be searched for
	if err := render.Render(&b, a.flags.output, v, a.painter()); err != nil {
		return err
	}
	return a.write(b.Bytes())
}

// write puts bytes on stdout; a full disk is an error that names what was lost.
func (a *app) write(b []byte) error {
	if _, err := a.streams.Out.Write(b); err != nil {
		return incomplete(fmt.Errorf("output: %w", err), "")
	}
	return nil
}

// painter is the painter of stdout.
func (a *app) painter() *term.Painter {
	return term.NewPainter(a.coloured())
}

// coloured reports whether text on stdout may be coloured.
func (a *app) coloured() bool {
	return term.UseColor(term.ColorMode(a.flags.color), a.streams.OutTTY, a.getenv)
}

// timeout is --timeout: a Go duration, or milliseconds as Apache's tools take them.
func (a *app) timeout() (time.Duration, error) {
	return parseTimeout("--timeout", a.flags.timeout)
}

func parseTimeout(flag, s string) (time.Duration, error) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		switch {
		case n <= 0:
			return 0, usagef("%s %s: want more than zero", flag, s)
		case n < 1000:
			return 0, usagef("%s %s: %d is %d ms; write %ds", flag, s, n, n, n)
		case n > int64(24*time.Hour/time.Millisecond):
			return 0, usagef("%s %s: want at most 24h", flag, s)
		}
		return time.Duration(n) * time.Millisecond, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 || d > 24*time.Hour {
		return 0, usagef("%s %q: want a duration such as 30s (at most 24h), or milliseconds", flag, s)
	}
	return d, nil
}

// parseSpan reads a flag that takes a span of time.
func parseSpan(flag, s string) (time.Duration, error) {
	d, err := prose.ParseSpan(s)
	if err != nil {
		return 0, usagef("%s %v", flag, err)
	}
	return d, nil
}

// parseMoment reads --since and --until: a span before now, an RFC 3339 time, or
// HH:MM of today (yesterday, if that lies ahead) in the shown zone.
func (a *app) parseMoment(flag, s string, now time.Time) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	for _, layout := range []string{"15:04", "15:04:05"} {
		if t, err := time.Parse(layout, s); err == nil {
			n := now.In(a.zone())
			at := time.Date(n.Year(), n.Month(), n.Day(), t.Hour(), t.Minute(), t.Second(), 0, a.zone())
			if at.After(now) {
				at = at.AddDate(0, 0, -1)
			}
			return at, nil
		}
	}
	d, err := parseSpan(flag, s)
	if err != nil {
		return time.Time{}, usagef("%s %q: want a duration back from now (1h, 2d), an RFC 3339 time, or HH:MM", flag, s)
	}
	return now.Add(-d), nil
}

// zone is the zone that text shows: local, or UTC with --utc. TZ is honoured by Go.
func (a *app) zone() *time.Location {
	if a.flags.utc {
		return time.UTC
	}
	return time.Local
}

// clock writes the moments of a window.
func (a *app) clock(w inspect.Window) show.Clock {
	c := show.Clock{Zone: a.zone(), Window: w}
	if !a.old {
		c.Today = a.now()
	}
	return c
}

// clockOf writes the moments around one that is now.
func (a *app) clockOf(now time.Time) show.Clock { return a.clock(inspect.Window{To: inspect.At(now)}) }

// live writes moments of what is under way.
func (a *app) live(t inspect.Time) string { return a.clockOf(t.Time).Second(t) }

// The widths of text: a terminal's, within bounds beyond which it does not read well, and
// that of a pipe, whose reader is not known.
const (
	usualWidth, leastWidth, mostWidth = 80, 60, 120
)

// width is how many columns text may take.
func (a *app) width() int {
	if !a.streams.OutTTY || a.streams.Width <= 0 {
		return usualWidth
	}
	return min(max(a.streams.Width, leastWidth), mostWidth)
}

// page lays out text as wide as it may be.
func (a *app) page() show.Page { return show.Page{Width: a.width()} }

// clusterLine is the first line of every text: the cluster it speaks of.
func (a *app) clusterLine(c inspect.Cluster, more string) render.Line {
	name := c.Context
	if name == "" {
		// One address names the cluster well enough; -o json has them all.
		var more bool
		if name, _, more = strings.Cut(c.Bootstrap, ","); more {
			name += ",…"
		}
	}
	id := c.ID
	if len(id) > 6 {
		id = id[:6]
	}
	if id != "" {
		id += ", "
	}
	line := render.Line{render.S(term.Bold, "%s", name), render.P(" (%s%s)", id, prose.Plural(c.Brokers, "broker"))}
	if more != "" {
		line = append(line, render.P("  %s", more))
	}
	return line
}

// ids reads group ids from arguments; "-" stands for standard input, one id a line.
func (a *app) ids(args []string) ([]string, error) {
	var out []string
	for _, arg := range args {
		if arg != "-" {
			out = append(out, arg)
			continue
		}
		b, err := input.All(a.streams.In, maxStdin)
		if err != nil {
			return nil, usagef("standard input: %w", err)
		}
		for _, line := range strings.Split(string(b), "\n") {
			if line = strings.TrimSuffix(line, "\r"); line != "" {
				out = append(out, line)
			}
		}
	}
	return out, checkIDs(out)
}

// maxStdin bounds what is read from standard input.
const maxStdin = 64 << 20
