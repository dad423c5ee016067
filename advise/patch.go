package advise

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kgdiag/kgdiag/internal/pattern"
)

// Patch says how one file changes by the fixes of findings, as a unified diff, and which
// edits it leaves to the reader: those whose place in the text is not certain. Of two
// edits of one setting the first counts. The diff is "" where nothing changes.
func Patch(file string, text []byte, fs []Finding) (diff string, left []Edit) {
	lines := strings.Split(string(text), "\n")
	changed := map[int]*string{} // by line from 0: the new text, nil deleted
	added := map[int][]string{}  // behind a line
	done := map[string]bool{}
	for _, f := range fs {
		if f.Fix == nil || f.subject == nil || f.subject.Config == nil || f.subject.Config.Where.File != file {
			continue
		}
		for _, e := range f.Fix.Edits {
			if e.Alternative > 0 || done[e.Spelled] {
				continue
			}
			done[e.Spelled] = true
			if !place(f.subject, e, lines, changed, added) {
				left = append(left, e)
			}
		}
	}
	return unified(file, lines, changed, added), left
}

// place works one edit into the changes; false where the text does not show how.
func place(s *Subject, e Edit, lines []string, changed map[int]*string, added map[int][]string) bool {
	if e.Where == nil || e.Where.Line < 1 || e.Where.Line > len(lines) {
		return !e.Delete && insert(s, e, lines, added)
	}
	at := e.Where.Line - 1
	if _, twice := changed[at]; twice {
		return false
	}
	if e.Delete {
		if !alone(lines[at]) {
			return false
		}
		changed[at] = nil
		return true
	}
	old := s.values[e.Key]
	was := old.Raw
	if was == "" {
		was = old.Text
	}
	line, ok := replaceValue(lines[at], e.Spelled, was, e.Value)
	if ok {
		changed[at] = &line
	}
	return ok
}

// alone reports whether a line holds one setting and nothing that must stay.
func alone(line string) bool {
	return !strings.ContainsAny(line, "{}[]<>()") && !strings.HasSuffix(strings.TrimSpace(line), ",") && !strings.HasPrefix(strings.TrimSpace(line), "- ")
}

// replaceValue puts a new value behind the key of a line, where the old one stands there
// once.
func replaceValue(line, spelled, was, value string) (string, bool) {
	from := 0
	last := spelled[strings.LastIndexByte(spelled, '.')+1:]
	if i := strings.LastIndex(line, last); i >= 0 {
		from = i + len(last)
	}
	if was == "" || strings.Count(line[from:], was) != 1 {
		return "", false
	}
	i := from + strings.Index(line[from:], was)
	if end := i + len(was); i > 0 && isWord(line[i-1]) || end < len(line) && isWord(line[end]) {
		return "", false // a part of a longer number
	}
	return line[:i] + value + line[i+len(was):], true
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

// insert adds a setting that the file does not have behind one of the same consumer that
// is written as it would be.
func insert(s *Subject, e Edit, lines []string, added map[int][]string) bool {
	prefix := e.Spelled[:strings.LastIndexByte(e.Spelled, '.')+1]
	at, sibling := -1, ""
	for _, set := range s.Config.Settings {
		if set.Where.File != s.Config.Where.File || set.Where.Line < 1 || set.Where.Line > len(lines) || set.Where.Line-1 < at {
			continue
		}
		line := lines[set.Where.Line-1]
		key := strings.TrimSpace(line)
		flat := strings.HasPrefix(key, set.Spelled) && separator.MatchString(strings.TrimPrefix(key, set.Spelled))
		nested := !flat && strings.HasSuffix(set.Spelled, keyOf(key)) && keyOf(key) != "" && set.Spelled[:len(set.Spelled)-len(keyOf(key))] == e.Spelled[:min(len(e.Spelled), len(set.Spelled)-len(keyOf(key)))]
		if alone(line) && (flat && (prefix == "" || strings.HasPrefix(set.Spelled, prefix) || !strings.Contains(key, ": ")) || nested) {
			at, sibling = set.Where.Line-1, set.Spelled
		}
	}
	if at < 0 {
		return false
	}
	line := lines[at]
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	key := strings.TrimSpace(line)
	written, last := e.Spelled, sibling
	if k := keyOf(key); !strings.HasPrefix(key, sibling) && k != "" {
		written, last = e.Spelled[len(sibling)-len(k):], k
	}
	if screaming(last) != screaming(written) {
		return false // what a program would call its variable is not known
	}
	from := strings.Index(key, last)
	if from < 0 {
		return false
	}
	between := separator.FindString(key[from+len(last):])
	if between == "" {
		return false
	}
	value := e.Value
	if rest := key[from+len(last)+len(between):]; rest != "" && (rest[0] == '"' || rest[0] == '\'') {
		value = rest[:1] + value + rest[:1]
	}
	added[at] = append(added[at], indent+key[:from]+written+between+value)
	return true
}

// separator is what stands between a key and its value: "=", ": ", " => ", blanks, with a
// quote that closes the key.
var separator = pattern.New(`^["']?(?:\s*(?:=>|[=:])\s*|\s+)`)

// screaming reports whether a name is written as a variable of the environment.
func screaming(name string) bool { return name == strings.ToUpper(name) && strings.Contains(name, "_") }

// keyOf is the key of a line of YAML: what stands before the colon.
func keyOf(line string) string {
	key, _, ok := strings.Cut(line, ":")
	if !ok {
		return ""
	}
	return strings.Trim(key, `"' `)
}

const contextLines = 3

// unified draws the changes as a unified diff.
func unified(file string, lines []string, changed map[int]*string, added map[int][]string) string {
	touched := sortedLines(changed, added)
	if len(touched) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", file, file)
	shift := 0
	for len(touched) > 0 {
		n := 1
		for n < len(touched) && touched[n]-touched[n-1] <= 2*contextLines {
			n++
		}
		from, to := max(0, touched[0]-contextLines), min(len(lines)-1, touched[n-1]+contextLines)
		if to == len(lines)-1 && lines[to] == "" && to > touched[n-1] {
			to-- // what Split makes of the last line's end
		}
		shift += hunk(&b, lines, from, to, shift, changed, added)
		touched = touched[n:]
	}
	return b.String()
}

func sortedLines(changed map[int]*string, added map[int][]string) []int {
	var out []int
	for i := range changed {
		out = append(out, i)
	}
	for i := range added {
		if _, also := changed[i]; !also {
			out = append(out, i)
		}
	}
	slices.Sort(out)
	return out
}

// hunk writes the lines from to, and returns by how many the file grows in them.
func hunk(b *strings.Builder, lines []string, from, to, shift int, changed map[int]*string, added map[int][]string) int {
	var body strings.Builder
	grown := 0
	for i := from; i <= to; i++ {
		now, touched := changed[i]
		switch {
		case !touched:
			fmt.Fprintf(&body, " %s\n", lines[i])
		case now == nil:
			fmt.Fprintf(&body, "-%s\n", lines[i])
			grown--
		default:
			fmt.Fprintf(&body, "-%s\n+%s\n", lines[i], *now)
		}
		for _, line := range added[i] {
			fmt.Fprintf(&body, "+%s\n", line)
			grown++
		}
	}
	old := to - from + 1
	fmt.Fprintf(b, "@@ -%d,%d +%d,%d @@\n%s", from+1, old, from+1+shift, old+grown, body.String())
	return grown
}
