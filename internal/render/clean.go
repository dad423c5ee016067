package render

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes text from outside harmless: control characters (a terminal acts on
// C0 and C1), bidirectional overrides and invalid UTF-8 become visible escapes.
// Group and client ids may hold any of them.
func Clean(s string) string {
	if !needsCleaning(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case harmful(r) && r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case harmful(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

func needsCleaning(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return true
		}
	}
	return false
}

// harmful holds for runes that a terminal or a reader's eye may be tricked by.
func harmful(r rune) bool {
	switch {
	case unicode.IsControl(r): // C0, DEL, C1
		return true
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x061c: // bidi
		return true
	case r == 0x2028, r == 0x2029, r == 0xfeff:
		return true
	}
	return false
}

// CleanLines gives a writer that passes on to w what it gets, cleaned, but for the ends
// of lines: for a log that quotes what came from outside.
func CleanLines(w io.Writer) io.Writer { return cleaner{w} }

type cleaner struct{ to io.Writer }

func (c cleaner) Write(b []byte) (int, error) {
	lines := strings.Split(string(b), "\n")
	for i, l := range lines {
		lines[i] = Clean(l)
	}
	_, err := io.WriteString(c.to, strings.Join(lines, "\n"))
	return len(b), err
}
