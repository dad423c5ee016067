package show

import (
	"fmt"
	"strings"

	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/internal/render"
	"github.com/kgdiag/kgdiag/internal/term"
)

// Page lays paragraphs out under short labels.
type Page struct {
	Width int // columns
}

// Indent is what stands before text without a label.
const Indent = "      "

// room is how wide text may be.
func (p Page) room() int { return p.Width - len(Indent) }

// Label is a line under a label, however long: text that is there to be copied is not
// broken.
func (p Page) Label(word, text string) render.Line {
	if word == "" {
		return render.L("%s%s", Indent, text)
	}
	return render.Line{render.S(term.Bold, "%-4s", word), render.P("  %s", text)}
}

// Paragraph is text under a label, broken into lines; none where there is no text.
func (p Page) Paragraph(word, text string) []render.Line {
	var out []render.Line
	over := max(0, len(word)+2-len(Indent)) // a long word makes the first line shorter
	for i, s := range prose.Wrap(strings.Repeat("-", over)+text, p.room()) {
		if i > 0 {
			word = ""
		} else {
			s = s[over:]
		}
		out = append(out, p.Label(word, s))
	}
	if text == "" {
		return nil
	}
	return out
}

// Setting is one setting to change, with a note and a rule's id behind it, or the note
// below it where the line has no room.
func (p Page) Setting(word, what, note, id string) []render.Line {
	s := what
	if note != "" {
		s = fmt.Sprintf("%-32s %s", s, note)
	}
	below := note != "" && prose.Width(s)+2+len(id) > p.room()
	if below {
		s = what
	}
	if id != "" {
		s += strings.Repeat(" ", max(2, p.room()-prose.Width(s)-len(id))) + id
	}
	lines := []render.Line{p.Label(word, s)}
	if below {
		lines = append(lines, p.Paragraph("", "   "+note)...)
	}
	return lines
}

// Command is a command to copy, with what it is for behind it as a shell's comment, or
// below it where the line has no room.
func (p Page) Command(word, command, why string) []render.Line {
	for _, s := range []string{fmt.Sprintf("%-51s  # %s", command, why), command + "  # " + why} {
		if prose.Width(s) <= p.room() {
			return []render.Line{p.Label(word, s)}
		}
	}
	return []render.Line{p.Label(word, command), p.Label("", "  # "+why)}
}

// Rows are lines of cells, each column as wide as its widest, line ends trimmed.
func Rows(rows [][]string) []string {
	var wide []int
	for _, r := range rows {
		for i, cell := range r {
			if i == len(wide) {
				wide = append(wide, 0)
			}
			wide[i] = max(wide[i], prose.Width(cell))
		}
	}
	out := make([]string, len(rows))
	for i, r := range rows {
		var b strings.Builder
		for j, cell := range r {
			b.WriteString(cell + strings.Repeat(" ", wide[j]-prose.Width(cell)+2))
		}
		out[i] = strings.TrimRight(b.String(), " ")
	}
	return out
}
