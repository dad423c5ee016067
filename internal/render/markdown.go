package render

import (
	"io"
	"regexp"
	"strings"

	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"github.com/kgdiag/kgdiag/internal/term"
)

var _ = register("markdown", renderMarkdown)

// renderMarkdown writes text for tickets and chat: tables as tables, lines fenced,
// so that alignment and Kafka's names with underscores survive.
func renderMarkdown(w io.Writer, v View, _ *term.Painter) error {
	var b strings.Builder
	if len(v.Head) > 0 {
		b.WriteString(mdEscape(Clean(v.Head.Plain())) + "\n\n")
	}
	for _, bl := range v.Blocks {
		if bl.TSVOnly {
			continue
		}
		if bl.Title != "" {
			b.WriteString("### " + mdEscape(Clean(bl.Title)) + "\n\n")
		}
		mdLines(&b, bl.Lines)
		if bl.Table != nil {
			var tb strings.Builder
			text, err := finish(newTable(&tb, bl.Table, renderer.NewMarkdown(), tw.Padding{Left: " ", Right: " ", Overwrite: true}),
				&tb, bl.Table, func(s Span) string { return mdEscape(Clean(s.Text)) })
			if err != nil {
				return err
			}
			b.WriteString(text + "\n")
		}
		mdLines(&b, bl.After)
	}
	_, err := io.WriteString(w, strings.TrimRight(b.String(), "\n")+"\n")
	return err
}

// mdLines fences lines.
func mdLines(b *strings.Builder, lines []Line) {
	if len(lines) == 0 {
		return
	}
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = l.Plain()
	}
	b.WriteString(Fenced("text", texts) + "\n")
}

// Fenced is a fenced block of lines, cleaned; a fence longer than any run of backticks in
// them cannot be closed from within.
func Fenced(language string, lines []string) string {
	fence := "```"
	for _, l := range lines {
		for strings.Contains(l, fence) {
			fence += "`"
		}
	}
	var b strings.Builder
	b.WriteString(fence + language + "\n")
	for _, l := range lines {
		b.WriteString(strings.TrimRight(Clean(l), " ") + "\n")
	}
	b.WriteString(fence + "\n")
	return b.String()
}

var mdReplacer = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "|", `\|`, "<", "&lt;", ">", "&gt;", "[", `\[`, "]", `\]`, "#", `\#`)

// EscapeMarkdown makes text stand for itself in Markdown. An underscore within a word
// does, so that causes and settings stay readable where Markdown is shown as it is.
func EscapeMarkdown(s string) string {
	return innerUnderscore.ReplaceAllString(mdEscape(s), "${1}_${2}")
}

var innerUnderscore = regexp.MustCompile(`([0-9A-Za-z])\\_([0-9A-Za-z])`)

func mdEscape(s string) string { return mdReplacer.Replace(s) }
