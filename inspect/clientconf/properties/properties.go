package properties

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxSize is the largest text that Parse accepts, in bytes. Real configurations
// are some kilobytes; above 16 MB somebody named the wrong file.
const MaxSize = 16 << 20

// The reasons for which Parse refuses a text as a whole.
var (
	ErrTooLarge = errors.New("over 16 MB, too large for a configuration")
	ErrNotText  = errors.New("not text")
)

// Entry is one key with its value, unescaped.
type Entry struct {
	Key   string
	Value string
	Line  int // of the key's first character, from 1
	// TrailingComment tells that the value ends in what looks like a comment: .properties has
	// none at the end of a line, so it belongs to the value.
	TrailingComment bool
	// Raw is the value as written, escapes unresolved and the blanks at its end
	// dropped: what librdkafka's tools make of the same line.
	Raw string
}

// File is a parsed text: every entry in order, overridden ones included.
type File struct {
	Entries []Entry
}

// Get is the entry in force for key: the last one, as in Java.
func (f *File) Get(key string) (Entry, bool) {
	for i := len(f.Entries) - 1; i >= 0; i-- {
		if f.Entries[i].Key == key {
			return f.Entries[i], true
		}
	}
	return Entry{}, false
}

// Check reports whether data can be a text configuration at all: at most MaxSize
// bytes and free of the NUL and control bytes that binary files have. The error
// wraps ErrTooLarge or ErrNotText.
func Check(data []byte) error {
	if len(data) > MaxSize {
		return ErrTooLarge
	}
	line := 1
	for _, b := range data {
		switch {
		case b == '\n':
			line++
		case b < 0x20 && b != '\t' && b != '\r' && b != '\f':
			return fmt.Errorf("line %d: byte 0x%02x: %w", line, b, ErrNotText)
		}
	}
	return nil
}

// Parse reads text. Bytes that are no valid UTF-8 are taken as ISO 8859-1, the
// encoding that Java's class assumes. Errors name the line: a \u escape that is
// cut short, which Java refuses as well, or the errors of Check.
func Parse(data []byte) (*File, error) {
	if err := Check(data); err != nil {
		return nil, err
	}
	text := decode(data)
	f := &File{}
	for _, l := range logicalLines(text) {
		rawKey, rawValue := split(l.text)
		key, err := unescape(rawKey)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", l.line, err)
		}
		value, err := unescape(rawValue)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", l.line, err)
		}
		f.Entries = append(f.Entries, Entry{Key: key, Value: value, Line: l.line,
			TrailingComment: strings.Contains(value, " #") || strings.Contains(value, "\t#"),
			Raw:             strings.TrimRight(rawValue, " \t\f")})
	}
	return f, nil
}

func decode(data []byte) string {
	data = trimBOM(data)
	if utf8.Valid(data) {
		return string(data)
	}
	var b strings.Builder
	for _, c := range data {
		b.WriteRune(rune(c))
	}
	return b.String()
}

func trimBOM(data []byte) []byte {
	if len(data) >= 3 && data[0] == 0xEF && data[1] == 0xBB && data[2] == 0xBF {
		return data[3:]
	}
	return data
}

type logical struct {
	text string
	line int
}

// logicalLines joins continued lines, and drops blank lines and comments. A
// comment cannot be continued, and a continuation loses its leading blanks.
func logicalLines(text string) []logical {
	var out []logical
	var current strings.Builder
	start, open := 0, false
	for i, raw := range naturalLines(text) {
		line := strings.TrimLeft(raw, " \t\f")
		if !open {
			if line == "" || line[0] == '#' || line[0] == '!' {
				continue
			}
			start = i + 1
			current.Reset()
		}
		open = endsInOddBackslashes(line)
		if open {
			current.WriteString(line[:len(line)-1])
			continue
		}
		current.WriteString(line)
		out = append(out, logical{current.String(), start})
	}
	if open && current.Len() > 0 {
		out = append(out, logical{current.String(), start})
	}
	return out
}

func naturalLines(text string) []string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.Split(strings.ReplaceAll(text, "\r", "\n"), "\n")
}

func endsInOddBackslashes(s string) bool {
	n := 0
	for i := len(s) - 1; i >= 0 && s[i] == '\\'; i-- {
		n++
	}
	return n%2 == 1
}

// split finds the end of the key: the first unescaped '=', ':' or blank. Blanks
// around the separator belong to neither side; blanks after the value do.
func split(line string) (key, value string) {
	end := len(line)
	for i := 0; i < len(line); i++ {
		if line[i] == '\\' {
			i++
			continue
		}
		if strings.IndexByte("=: \t\f", line[i]) >= 0 {
			end = i
			break
		}
	}
	rest := strings.TrimLeft(line[end:], " \t\f")
	if rest != "" && (rest[0] == '=' || rest[0] == ':') {
		rest = strings.TrimLeft(rest[1:], " \t\f")
	}
	return line[:end], rest
}

func unescape(s string) (string, error) {
	if !strings.Contains(s, `\`) {
		return s, nil
	}
	var b strings.Builder
	var units []uint16
	flush := func() {
		b.WriteString(string(utf16.Decode(units)))
		units = units[:0]
	}
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			flush()
			if s[i] != '\\' {
				b.WriteByte(s[i])
			}
			continue
		}
		i++
		if s[i] == 'u' {
			if i+5 > len(s) {
				return "", fmt.Errorf("\\u escape is cut short: want four hexadecimal digits")
			}
			n, err := strconv.ParseUint(s[i+1:i+5], 16, 16)
			if err != nil {
				return "", fmt.Errorf("\\u escape %q: want four hexadecimal digits", s[i-1:i+5])
			}
			units = append(units, uint16(n))
			i += 4
			continue
		}
		flush()
		switch s[i] {
		case 't':
			b.WriteByte('\t')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 'f':
			b.WriteByte('\f')
		default:
			b.WriteByte(s[i])
		}
	}
	flush()
	return b.String(), nil
}
