package clientconf

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
	"go.yaml.in/yaml/v3"

	"github.com/kgdiag/kgdiag/internal/prose"
)

// node is a value of a YAML, JSON or TOML document, with the line it stands on.
type node struct {
	key   string // in its parent; "" in a list
	line  int
	value string // of a scalar
	block bool   // the scalar is a YAML block: its text begins on the next line
	kind  nodeKind
	kids  []*node
}

type nodeKind int

const (
	scalar nodeKind = iota
	null
	mapping
	list
)

// maxNodes bounds what aliases may unfold to: a few lines of YAML can otherwise hold
// a billion nodes.
const maxNodes = 200_000

var errTooManyNodes = errors.New("over 200,000 values once its aliases are unfolded")

// kid finds a child of a mapping by key.
func (n *node) kid(key string) *node {
	if n == nil {
		return nil
	}
	for _, k := range n.kids {
		if k.key == key {
			return k
		}
	}
	return nil
}

// at follows keys downwards; nil where the path ends.
func (n *node) at(path ...string) *node {
	for _, p := range path {
		n = n.kid(p)
	}
	return n
}

// text is the value of a scalar child, or "".
func (n *node) text(path ...string) string {
	if k := n.at(path...); k != nil && k.kind == scalar {
		return k.value
	}
	return ""
}

// walk visits every node, parents first, with the path of keys to it.
func (n *node) walk(visit func(path []string, n *node)) { n.walkFrom(nil, visit) }

func (n *node) walkFrom(path []string, visit func([]string, *node)) {
	visit(path, n)
	for i, k := range n.kids {
		step := k.key
		if n.kind == list {
			step = fmt.Sprintf("[%d]", i)
		}
		k.walkFrom(append(path[:len(path):len(path)], step), visit)
	}
}

// parseYAML reads all documents of a YAML text. JSON is YAML too, once comments,
// which .NET allows in its settings, and tabs are out of the way.
func parseYAML(data []byte) ([]*node, error) {
	if line := tooDeep(data); line > 0 {
		return nil, fmt.Errorf("line %d: nested too deeply", line)
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var docs []*node
	left := maxNodes
	for {
		var doc yaml.Node
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err != nil {
			return nil, prose.YAMLError(err)
		}
		n, err := fromYAML(&doc, &left, 0)
		if err != nil {
			return nil, err
		}
		if n != nil {
			docs = append(docs, n)
		}
	}
}

// tooDeep gives the line from which on more brackets are open than any configuration
// has, strings and comments included; 0 for none. The parser takes seconds to find out.
func tooDeep(data []byte) int {
	open, line := 0, 1
	for _, b := range data {
		switch b {
		case '[', '{':
			open++
		case ']', '}':
			open = max(0, open-1)
		case '\n':
			line++
		}
		if open > 5*maxDepth {
			return line
		}
	}
	return 0
}

// maxDepth bounds nesting; an alias inside its own anchor would never end.
const maxDepth = 200

func fromYAML(y *yaml.Node, left *int, depth int) (*node, error) {
	if *left--; *left < 0 {
		return nil, errTooManyNodes
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("line %d: nested over %d deep", y.Line, maxDepth)
	}
	switch y.Kind {
	case yaml.DocumentNode:
		if len(y.Content) == 0 {
			return nil, nil
		}
		return fromYAML(y.Content[0], left, depth+1)
	case yaml.AliasNode:
		return fromYAML(y.Alias, left, depth+1)
	case yaml.SequenceNode:
		n := &node{line: y.Line, kind: list}
		for _, c := range y.Content {
			k, err := fromYAML(c, left, depth+1)
			if err != nil {
				return nil, err
			}
			n.kids = append(n.kids, k)
		}
		return n, nil
	case yaml.MappingNode:
		return fromMapping(y, left, depth)
	}
	if y.Tag == "!!null" {
		return &node{line: y.Line, kind: null}, nil
	}
	return &node{line: y.Line, value: y.Value, block: y.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0}, nil
}

// fromMapping reads a mapping; what "<<" merges in stands behind its own keys and
// never replaces them.
func fromMapping(y *yaml.Node, left *int, depth int) (*node, error) {
	n := &node{line: y.Line, kind: mapping}
	var merged []*node
	for i := 0; i+1 < len(y.Content); i += 2 {
		k, err := fromYAML(y.Content[i+1], left, depth+1)
		if err != nil {
			return nil, err
		}
		if y.Content[i].Tag == "!!merge" || y.Content[i].Value == "<<" {
			if k.kind == list {
				for _, part := range k.kids {
					merged = append(merged, part.kids...)
				}
			} else {
				merged = append(merged, k.kids...)
			}
			continue
		}
		own := *k
		own.key = y.Content[i].Value
		own.line = y.Content[i].Line
		n.kids = append(n.kids, &own)
	}
	for _, m := range merged {
		if n.kid(m.key) == nil {
			n.kids = append(n.kids, m)
		}
	}
	return n, nil
}

// parseJSON reads JSON, with the comments and trailing commas that .NET's and
// TypeScript's readers allow.
func parseJSON(data []byte) (*node, error) {
	text := plainJSON(data)
	if err := checkJSON(text); err != nil {
		return nil, err
	}
	docs, err := parseYAML(text)
	if err != nil {
		return nil, err
	}
	if len(docs) == 0 {
		return &node{kind: null}, nil
	}
	nestColons(docs[0])
	return docs[0], nil
}

// nestColons takes .NET's "Kafka:Consumer:GroupId" apart into the sections that it stands
// for.
func nestColons(root *node) {
	if root.kind != mapping {
		return
	}
	kids := root.kids
	root.kids = nil
	for _, k := range kids {
		at, path := root, strings.Split(k.key, ":")
		for _, p := range path[:len(path)-1] {
			at = tomlChild(at, p, k.line, false)
		}
		k.key = path[len(path)-1]
		at.kids = append(at.kids, k)
	}
}

// checkJSON finds what YAML would let pass; the error names the line.
func checkJSON(text []byte) error {
	var any json.RawMessage
	err := json.Unmarshal(text, &any)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("line %d: %w", 1+bytes.Count(text[:min(int(syntax.Offset), len(text))], []byte("\n")), err)
	}
	return err
}

// plainJSON blanks comments, tabs and trailing commas outside strings; lengths and
// lines stay.
func plainJSON(data []byte) []byte {
	out := bytes.Clone(data)
	inString := false
	for i := 0; i < len(out); i++ {
		switch c := out[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '\t':
			out[i] = ' '
		case c == '}' || c == ']':
			if j := bytes.LastIndexFunc(out[:i], func(r rune) bool { return r != ' ' && r != '\n' && r != '\r' }); j >= 0 && out[j] == ',' {
				out[j] = ' '
			}
		case bytes.HasPrefix(out[i:], []byte("//")):
			i += blank(out[i:], "\n", 0)
		case bytes.HasPrefix(out[i:], []byte("/*")):
			i += blank(out[i:], "*/", len("*/")) - 1
		}
	}
	return out
}

// blank overwrites a text up to the first end, and so many bytes of that too, with
// spaces that keep its lines, and gives the number of bytes that it went over.
func blank(text []byte, end string, too int) int {
	n := bytes.Index(text, []byte(end))
	if n < 0 {
		n, too = len(text), 0
	}
	for i := range text[:n+too] {
		if text[i] != '\n' {
			text[i] = ' '
		}
	}
	return n + too
}

// parseTOML reads a TOML text.
func parseTOML(data []byte) (*node, error) {
	p := &unstable.Parser{}
	p.Reset(data)
	root := &node{kind: mapping, line: 1}
	here := root
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			here = tomlTable(root, e, tomlLine(p, e), e.Kind == unstable.ArrayTable)
		case unstable.KeyValue:
			tomlKeyValue(p, here, e, 0)
		}
	}
	if err := p.Error(); err != nil {
		var pe *unstable.ParserError
		if errors.As(err, &pe) && len(pe.Highlight) > 0 {
			r := p.Range(pe.Highlight)
			return nil, fmt.Errorf("line %d: %s", 1+bytes.Count(data[:r.Offset], []byte("\n")), pe.Message)
		}
		return nil, err
	}
	return root, nil
}

func tomlLine(p *unstable.Parser, e *unstable.Node) int {
	it := e.Key()
	for it.Next() {
		return p.Shape(it.Node().Raw).Start.Line
	}
	return 0
}

// tomlTable finds or makes the table of a [header]; an [[array]] header makes a new
// element each time.
func tomlTable(root *node, e *unstable.Node, line int, array bool) *node {
	at := root
	it := e.Key()
	for it.Next() {
		at = tomlChild(at, string(it.Node().Data), line, array && it.IsLast())
	}
	return at
}

func tomlChild(at *node, key string, line int, element bool) *node {
	k := at.kid(key)
	if k == nil {
		k = &node{key: key, line: line, kind: mapping}
		if element {
			k.kind = list
		}
		at.kids = append(at.kids, k)
	}
	if element {
		n := &node{line: line, kind: mapping}
		k.kind = list
		k.kids = append(k.kids, n)
		return n
	}
	if k.kind == list && len(k.kids) > 0 {
		return k.kids[len(k.kids)-1]
	}
	return k
}

func tomlKeyValue(p *unstable.Parser, at *node, e *unstable.Node, depth int) {
	line := tomlLine(p, e)
	it := e.Key()
	for it.Next() {
		key := string(it.Node().Data)
		if it.IsLast() {
			n := tomlValue(p, e.Value(), line, depth)
			n.key = key
			at.kids = append(at.kids, n)
			return
		}
		at = tomlChild(at, key, line, false)
	}
}

func tomlValue(p *unstable.Parser, v *unstable.Node, line, depth int) *node {
	n := &node{line: line}
	if depth > maxDepth {
		return n
	}
	switch v.Kind {
	case unstable.Array:
		n.kind = list
		for it := v.Children(); it.Next(); {
			if it.Node().Kind != unstable.Comment {
				n.kids = append(n.kids, tomlValue(p, it.Node(), line, depth+1))
			}
		}
	case unstable.InlineTable:
		n.kind = mapping
		for it := v.Children(); it.Next(); {
			if it.Node().Kind == unstable.KeyValue {
				tomlKeyValue(p, n, it.Node(), depth+1)
			}
		}
	default:
		n.value = strings.ReplaceAll(string(v.Data), "_", "")
		if v.Kind == unstable.String {
			n.value = string(v.Data)
		}
	}
	return n
}
