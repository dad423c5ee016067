package outsider

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// own are the colours that kgdiag itself writes; no Text holds one of them.
var own = regexp.MustCompile("\x1b\\[(0|1|2|7|22|27|39|3[1236])(;(0|1|2|7|22|27|39|3[1236]))*m")

// Harm is what is wrong with an output of a form ("table", "colours", "json", "lines" of
// JSON, "tsv", "markdown", "html", "sarif", "metrics"); "" for nothing.
func Harm(form, out string) string {
	text, allowed := out, "\n"
	switch form {
	case "colours":
		text = own.ReplaceAllString(out, "")
	case "tsv", "html": // the page's own script and style
		allowed += "\t"
	}
	if h := acts(text, allowed); h != "" {
		return h
	}
	switch form {
	case "json", "sarif":
		if out != "" && !json.Valid([]byte(out)) {
			return "no JSON"
		}
	case "lines":
		for l := range strings.Lines(out) {
			if !json.Valid([]byte(l)) {
				return fmt.Sprintf("no JSON: %q", l)
			}
		}
	case "tsv":
		return even(strings.Split(out, "\n"), func(l string) int { return strings.Count(l, "\t") }, func(l string) bool { return l != "" })
	case "markdown":
		return markdown(out)
	case "metrics":
		return metrics(out)
	}
	return ""
}

// acts is what in a text acts on a terminal or on the direction of text.
func acts(text, allowed string) string {
	if !utf8.ValidString(text) {
		return "no UTF-8"
	}
	for i, r := range text {
		switch {
		case strings.ContainsRune(allowed, r):
		case r < 0x20, r >= 0x7f && r < 0xa0, r == 0x61c, r == 0xfeff, r == 0x200e, r == 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return fmt.Sprintf("%U at byte %d: %q", r, i, text[max(0, i-20):min(len(text), i+20)])
		}
	}
	return ""
}

var (
	fence = regexp.MustCompile("^(`{3,})[a-z]*$")
	// What Markdown would not show as it is: elements, links, pictures, headings within.
	element = regexp.MustCompile(`<[A-Za-z/!?]`)
	link    = regexp.MustCompile(`(^|[^\\])(\\\\)*\]\(`)
)

// markdown holds what is outside of fences to be text and even tables, and fences to end.
func markdown(out string) string {
	open := ""
	var outside []string
	for l := range strings.SplitSeq(out, "\n") {
		if m := fence.FindStringSubmatch(l); m != nil && open == "" {
			open = m[1]
		} else if m != nil && len(m[1]) >= len(open) && l == m[1] {
			open = ""
			outside = append(outside, "")
		} else if open == "" {
			outside = append(outside, l)
		}
	}
	if open != "" {
		return "a fence that does not end"
	}
	for _, l := range outside {
		if element.MatchString(l) || link.MatchString(l) {
			return fmt.Sprintf("an element or a link: %q", l)
		}
	}
	cells := strings.NewReplacer(`\\`, "", `\|`, "")
	return even(outside, func(l string) int { return strings.Count(cells.Replace(l), "|") }, func(l string) bool { return strings.HasPrefix(l, "|") })
}

// even reports lines of one table with other numbers of columns than its first.
func even(lines []string, columns func(string) int, row func(string) bool) string {
	want := -1
	for _, l := range lines {
		switch {
		case !row(l):
			want = -1
		case want < 0:
			want = columns(l)
		case columns(l) != want:
			return fmt.Sprintf("a row with other columns: %q", l)
		}
	}
	return ""
}

var sample = regexp.MustCompile(`^[a-z_]+(\{([a-z_]+="([^"\\]|\\[\\"n])*",?)*\})? \S+( \S+)?$`)

// metrics holds every line to be a comment or a sample.
func metrics(out string) string {
	for l := range strings.SplitSeq(strings.TrimSuffix(out, "\n"), "\n") {
		if !strings.HasPrefix(l, "# ") && !sample.MatchString(l) {
			return fmt.Sprintf("no sample: %q", l)
		}
	}
	return ""
}

// Elements are the elements of an HTML document, sorted, each with the names of its
// attributes: text from outside must not add to them.
func Elements(doc string) []string {
	var out []string
	z := html.NewTokenizer(strings.NewReader(doc))
	for {
		switch z.Next() {
		case html.ErrorToken:
			slices.Sort(out)
			return out
		case html.StartTagToken, html.SelfClosingTagToken:
			tok := z.Token()
			name := tok.Data
			for _, a := range tok.Attr {
				name += " " + a.Key
			}
			out = append(out, name)
		}
	}
}
