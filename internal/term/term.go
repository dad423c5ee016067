package term

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/fatih/color"
	"github.com/mattn/go-isatty"
	xterm "golang.org/x/term"
)

// Streams are the three streams of a run and what is known about their ends.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer

	InTTY, OutTTY, ErrTTY bool

	// Keyboard is the terminal behind In, whatever In is wrapped in; nil where In is none.
	Keyboard *os.File

	// Width is the width of the terminal behind Out in columns, 0 where Out is none.
	Width int
}

// System are the streams of the process.
func System() *Streams {
	s := &Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTTY: isTTY(os.Stdin), OutTTY: isTTY(os.Stdout), ErrTTY: isTTY(os.Stderr),
	}
	if s.InTTY {
		s.Keyboard = os.Stdin
	}
	if s.OutTTY {
		if w, _, err := xterm.GetSize(int(os.Stdout.Fd())); err == nil {
			s.Width = w
		}
	}
	return s
}

// ReadSecret asks on the terminal, without showing what is typed; the question goes to
// the error stream, so that stdout holds the result alone.
func (s *Streams) ReadSecret(question string) (string, error) {
	if s.Keyboard == nil {
		return "", errors.New("no terminal to ask on")
	}
	fmt.Fprint(s.Err, question)
	b, err := xterm.ReadPassword(int(s.Keyboard.Fd()))
	fmt.Fprintln(s.Err)
	return string(b), err
}

func isTTY(f *os.File) bool {
	return isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd())
}

// ColorMode is the value of --color.
type ColorMode string

// The modes of --color.
const (
	ColorAuto   ColorMode = "auto"
	ColorAlways ColorMode = "always"
	ColorNever  ColorMode = "never"
)

// UseColor decides whether text for a stream may be coloured. An empty NO_COLOR
// counts as unset (no-color.org).
func UseColor(mode ColorMode, tty bool, getenv func(string) string) bool {
	switch mode {
	case ColorAlways:
		return true
	case ColorNever:
		return false
	}
	if getenv("NO_COLOR") != "" || getenv("TERM") == "dumb" {
		return false
	}
	return tty
}

// Style is a meaning that colour may underline; the word beside it always says the
// same.
type Style int

// The styles: sixteen colours on the terminal's own background, so that light and
// dark schemes stay readable.
const (
	Plain Style = iota
	Bold
	Dim
	Good
	Warn
	Bad
	Selected // the row that keys act on; a mark in front says the same
)

// Painter colours text, or returns it unchanged.
type Painter struct{ palette map[Style]*color.Color }

// NewPainter makes a painter; with on false it paints nothing.
func NewPainter(on bool) *Painter {
	if !on {
		return &Painter{}
	}
	p := &Painter{palette: map[Style]*color.Color{
		Bold: color.New(color.Bold),
		Dim:  color.New(color.Faint),
		Good: color.New(color.FgGreen),
		Warn: color.New(color.FgYellow),
		Bad:  color.New(color.FgRed, color.Bold),
		// No colour of its own, so that it shows on any background.
		Selected: color.New(color.ReverseVideo),
	}}
	for _, c := range p.palette {
		// The library's own default looks at stdout, which need not be this stream.
		c.EnableColor()
	}
	return p
}

// Paint wraps text in the escapes of a style, where colour is on.
func (p *Painter) Paint(s Style, text string) string {
	c := p.palette[s]
	if c == nil || text == "" {
		return text
	}
	return c.Sprint(text)
}
