package render

import (
	"io"
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

// mdLines fences lines; a fence longer than any run of backticks in them cannot be
// closed from within.
func mdLines(b *strings.Builder, lines []Line) {
	if len(lines) == 0 {
		return
	}
	fence := "```"
	for _, l := range lines {
		for strings.Contains(l.Plain(), fence) {
			fence += "`"
		}
	}
	b.WriteString(fence + "text\n")
	for _, l := range lines {
		b.WriteString(strings.TrimRight(Clean(l.Plain()), " ") + "\n")
	}
	b.WriteString(fence + "\n\n")
}

var mdReplacer = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "|", `\|`, "<", "&lt;", ">", "&gt;", "[", `\[`, "]", `\]`, "#", `\#`)

func mdEscape(s string) string { return mdReplacer.Replace(s) }
