package clientconf

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kgdiag/kgdiag/internal/pattern"
)

// The languages that nest with braces: HOCON (Akka, Pekko, Play), HCL (Terraform), and
// Logstash's own. They differ in what stands between a key and its value ("=", ":",
// "=>", nothing before a block) and in comments, and one lenient reader takes them all:
// what it cannot make sense of it leaves out, since a wrong guess would become a
// setting.

var braceHead = pattern.New(`(?m)^\s*"?[A-Za-z][\w.\-/]*"?(?:\s+"[^"\n]*")*\s*(?:=>|=|:)?\s*(?:\$\{[^}\n]*\}\s*)?\{`)

// looksBraced tells such a text by a block that opens on the line of its key.
func looksBraced(data []byte) bool { return braceHead.Match(data) }

// substitution is a reference before a block.
var substitution = pattern.New(`^\$\{[^}\n]*\}[ \t]*\{`)

type braceReader struct {
	text  string
	at    int
	line  int
	nodes int
}

var errUnclosed = errors.New("a block or a list is not closed")

// parseBraces reads a text; the root is a mapping.
func parseBraces(data []byte) (*node, error) {
	r := &braceReader{text: string(data), line: 1}
	root := &node{kind: mapping, line: 1}
	r.blank()
	if r.peek() == '{' { // HOCON may stand in braces as a whole
		r.at++
		if err := r.body(root, '}', 0); err != nil {
			return nil, err
		}
		return root, nil
	}
	if err := r.body(root, 0, 0); err != nil {
		return nil, err
	}
	return root, nil
}

func (r *braceReader) peek() byte {
	if r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

func (r *braceReader) has(s string) bool { return strings.HasPrefix(r.text[r.at:], s) }

func (r *braceReader) failed(err error) error { return fmt.Errorf("line %d: %w", r.line, err) }

// blank skips what separates: spaces, line ends, commas, semicolons and comments.
func (r *braceReader) blank() {
	for r.at < len(r.text) {
		switch c := r.peek(); {
		case c == '\n':
			r.line++
			r.at++
		case c == ' ' || c == '\t' || c == '\r' || c == ',' || c == ';':
			r.at++
		case c == '#' || r.has("//"):
			r.skipLine()
		case r.has("/*"):
			end := strings.Index(r.text[r.at:], "*/")
			if end < 0 {
				end = len(r.text) - r.at - 2
			}
			r.line += strings.Count(r.text[r.at:r.at+end], "\n")
			r.at += end + 2
		default:
			return
		}
	}
}

func (r *braceReader) skipLine() {
	for r.at < len(r.text) && r.peek() != '\n' {
		r.at++
	}
}

func (r *braceReader) spaces() {
	for r.peek() == ' ' || r.peek() == '\t' {
		r.at++
	}
}

// body reads keys and values up to the closing byte; 0 is the end of the text.
func (r *braceReader) body(into *node, closing byte, depth int) error {
	if depth > maxDepth {
		return r.failed(fmt.Errorf("nested over %d deep", maxDepth))
	}
	for {
		r.blank()
		if r.at >= len(r.text) {
			if closing != 0 {
				return r.failed(errUnclosed)
			}
			return nil
		}
		if c := r.peek(); c == closing {
			r.at++
			return nil
		} else if strings.IndexByte("{}[]()=:", c) >= 0 {
			r.at++ // nothing that could be a key
			continue
		}
		if err := r.pair(into, depth); err != nil {
			return err
		}
	}
}

// pair reads one key with its value or block; a word without either is left out.
func (r *braceReader) pair(into *node, depth int) error {
	line, key := r.line, r.word(" \t\r\n{}[](),;=:#")
	if key == "" {
		r.at++
		return nil
	}
	r.spaces()
	labels := []string{}
	for r.peek() == '"' { // HCL: resource "kind" "name" {
		labels = append(labels, r.word(""))
		r.spaces()
	}
	operator := false
	for _, op := range []string{"=>", "+=", ":=", "?=", "=", ":"} {
		if r.has(op) {
			r.at += len(op)
			operator = true
			break
		}
	}
	r.spaces()
	if !operator && r.peek() == '\n' { // a block may open on the next line
		if rest := strings.TrimLeft(r.text[r.at:], " \t\r\n"); strings.HasPrefix(rest, "{") {
			r.blank()
		}
	}
	if !operator && r.peek() != '{' {
		return nil
	}
	n, err := r.value(depth)
	if err != nil || n == nil {
		return err
	}
	if r.nodes++; r.nodes > maxNodes {
		return errTooManyNodes
	}
	n.key, n.line = key, line
	if len(labels) > 0 {
		n.key += "." + strings.Join(labels, ".")
	}
	into.kids = append(into.kids, n)
	return nil
}

// word reads a quoted text, or everything up to one of the bytes.
func (r *braceReader) word(until string) string {
	if strings.HasPrefix(r.text[r.at:], `"""`) {
		end := strings.Index(r.text[r.at+3:], `"""`)
		if end < 0 {
			end = len(r.text) - r.at - 3
		}
		w := r.text[r.at+3 : r.at+3+end]
		r.at = min(r.at+6+end, len(r.text))
		r.line += strings.Count(w, "\n")
		return w
	}
	if q := r.peek(); q == '"' || q == '\'' {
		return r.quoted(q)
	}
	start := r.at
	for r.at < len(r.text) && strings.IndexByte(until, r.peek()) < 0 {
		if r.has("${") { // a reference keeps its braces
			if end := strings.IndexAny(r.text[r.at:], "}\n"); end > 0 && r.text[r.at+end] == '}' {
				r.at += end + 1
				continue
			}
		}
		r.at++
	}
	return r.text[start:r.at]
}

func (r *braceReader) quoted(q byte) string {
	r.at++
	var b strings.Builder
	for r.at < len(r.text) && r.peek() != q {
		c := r.peek()
		if c == '\\' && r.at+1 < len(r.text) {
			r.at++
			c = r.peek()
			if c == 'n' {
				c = '\n'
			}
		} else if c == '\n' {
			r.line++
		}
		b.WriteByte(c)
		r.at++
	}
	r.at = min(r.at+1, len(r.text))
	return b.String()
}

func (r *braceReader) value(depth int) (*node, error) {
	n := &node{line: r.line}
	switch {
	case r.peek() == '{':
		r.at++
		n.kind = mapping
		return n, r.body(n, '}', depth+1)
	case r.peek() == '[':
		r.at++
		n.kind = list
		return n, r.elements(n, depth+1)
	case r.has("<<"):
		n.value, n.block = r.heredoc(), true
		return n, nil
	}
	if m := substitution.FindString(r.text[r.at:]); m != "" { // HOCON: ${common} { … } is the block with what it adds to
		r.at += len(m)
		n.kind = mapping
		return n, r.body(n, '}', depth+1)
	}
	quoted := r.peek() == '"' || r.peek() == '\''
	n.value = r.word("\n,}]#([")
	if r.peek() == '(' && !quoted { // jsonencode([…]) and the like: what it holds
		r.at++
		r.blank()
		inner, err := r.value(depth + 1)
		r.skipLine()
		return inner, err
	}
	if !quoted {
		if i := strings.Index(n.value, " //"); i >= 0 {
			n.value = n.value[:i]
		}
		n.value = strings.TrimSpace(n.value)
	}
	return n, nil
}

func (r *braceReader) elements(into *node, depth int) error {
	if depth > maxDepth {
		return r.failed(fmt.Errorf("nested over %d deep", maxDepth))
	}
	for {
		r.blank()
		switch {
		case r.at >= len(r.text):
			return r.failed(errUnclosed)
		case r.peek() == ']':
			r.at++
			return nil
		case r.peek() == '}' || r.peek() == ')':
			r.at++
			continue
		}
		if r.nodes++; r.nodes > maxNodes {
			return errTooManyNodes
		}
		before := r.at
		n, err := r.value(depth)
		if err != nil {
			return err
		}
		if r.at == before {
			r.at++
			continue
		}
		into.kids = append(into.kids, n)
	}
}

// heredoc reads HCL's <<EOF … EOF; its text begins on the next line.
func (r *braceReader) heredoc() string {
	end := strings.IndexByte(r.text[r.at:], '\n')
	if end < 0 {
		r.skipLine()
		return ""
	}
	mark := strings.Trim(strings.TrimLeft(r.text[r.at:r.at+end], "<-~"), " \t\r\"'")
	r.at += end + 1
	r.line++
	start := r.at
	for r.at < len(r.text) {
		from := r.at
		r.skipLine()
		if strings.TrimSpace(r.text[from:r.at]) == mark {
			return r.text[start:from]
		}
		if r.at < len(r.text) {
			r.at++
			r.line++
		}
	}
	return r.text[start:]
}

var sectionHead = pattern.New(`^\[+\s*([^\]]+?)\s*\]+$`)

// parseSections reads [SECTION] headers with "Key value" or "key = value" lines below,
// as Fluent Bit and .ini files have them. Each header begins a new mapping.
func parseSections(data []byte) *node {
	root := &node{kind: mapping, line: 1}
	here := root
	for i, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if m := sectionHead.FindStringSubmatch(line); m != nil {
			here = &node{key: m[1], kind: mapping, line: i + 1}
			root.kids = append(root.kids, here)
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok {
			if j := strings.IndexAny(line, " \t"); j > 0 {
				key, value = line[:j], line[j:]
			}
		}
		here.kids = append(here.kids, &node{key: strings.TrimSpace(key), value: strings.Trim(strings.TrimSpace(value), `"'`), line: i + 1})
	}
	return root
}
