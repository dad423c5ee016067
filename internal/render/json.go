package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/kgdiag/kgdiag/internal/term"
)

var _ = register("json", func(w io.Writer, v View, _ *term.Painter) error {
	b, err := JSON(v.Data, "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
})

// JSON encodes v with a final newline; indent "" gives one line, as NDJSON needs.
// Runes that Clean would escape become \u escapes, so that a terminal that shows
// the document does not act on them; the decoded value is the same.
func JSON(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if indent != "" {
		enc.SetIndent("", indent)
	}
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("json: %w", err)
	}
	return escapeRunes(b.Bytes()), nil
}

// escapeRunes works on encoded JSON, in which harmful runes above C0 can only stand
// inside strings.
func escapeRunes(in []byte) []byte {
	out := make([]byte, 0, len(in))
	for i := 0; i < len(in); {
		r, n := utf8.DecodeRune(in[i:])
		if r >= 0x7f && harmful(r) {
			out = fmt.Appendf(out, `\u%04x`, r)
		} else {
			out = append(out, in[i:i+n]...)
		}
		i += n
	}
	return out
}
