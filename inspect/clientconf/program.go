package clientconf

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/kgdiag/kgdiag/internal/pattern"
)

// program is the text of a program, taken apart as far as its form tells: what is a
// comment, what a string, and which blocks a call stands in. It knows no language's
// grammar; what it cannot make out it leaves unsaid.
type program struct {
	name   string
	raw    string  // as written
	bare   string  // the same length, comments and the inside of strings blanked
	code   string  // the same length, comments blanked
	blocks []block // outer ones first
	values values
	ext    string
	named  map[string][]int // where each name is followed by a parenthesis
	calls  []call           // of methods
	starts []int            // of the lines
}

// The bounds of what is looked at: generated code is longer, and nobody's consumer.
const (
	longestProgram  = 256 << 10
	mostBlocks      = 4000
	mostCalls       = 4000
	longestArgument = 20_000
)

// block is a part of a program in braces, or indented, with what stands before it.
type block struct {
	header     string // raw: "while (true)", "@KafkaListener(…) public void on(String m)"
	start, end int    // of what is inside
	line       int
	loop       bool
	function   string // the name of the function that it is the body of; "" for other blocks
	callback   bool   // it is told of partitions
	handedOff  bool   // it runs in another thread, or later
}

func programOf(name string, data []byte) *program {
	p := &program{name: name, raw: string(data), ext: filepath.Ext(name)}
	p.values = valuesOf(data, familyOfText(name, data))
	p.bare, p.code = p.blanked()
	p.starts = []int{0}
	for i := 0; i < len(p.raw); i++ {
		if p.raw[i] == '\n' {
			p.starts = append(p.starts, i+1)
		}
	}
	if p.indented() {
		p.blocks = p.indentedBlocks()
	} else {
		p.blocks = p.bracedBlocks()
	}
	p.blocks = p.blocks[:min(len(p.blocks), mostBlocks)]
	for i := range p.blocks {
		b := &p.blocks[i]
		b.loop, b.function = loopHead.MatchString(b.header), functionOf(b.header)
		b.callback, b.handedOff = callback.MatchString(quotedSetting.ReplaceAllString(b.header, "")), handOff.MatchString(b.header)
	}
	p.findCalls()
	return p
}

// quotedSetting is the name of a setting, which may say rebalance too.
var quotedSetting = pattern.New("[\"'\x60]\\w+(?:\\.\\w+)+[\"'\x60]")

var indentedHead = pattern.New(`(?m)^\s*(?:(?:async )?(?:def|for|with) .*|while .*|class .*|try|else)\s*:\s*$|^\s*end\s*$`)

// indented reports whether blocks are told by indentation: Python, Ruby, Elixir.
func (p *program) indented() bool {
	switch p.ext {
	case ".py", ".rb", ".ex", ".exs":
		return true
	case "", ".txt":
		return indentedHead.MatchString(p.raw)
	}
	return false
}

// blanked puts blanks for comments and for what is inside strings, and for comments alone.
func (p *program) blanked() (bare, code string) {
	b, told := []byte(p.raw), []byte(p.raw)
	remark := func(from, to int) int {
		blankTo(told, from, to)
		return blankTo(b, from, to)
	}
	hash := slices.Contains([]string{".py", ".rb", ".ex", ".exs", ".php", ""}, p.ext)
	words := slices.Contains([]string{".py", ".rb", ".js", ".ts", ".mjs", ".tsx", ".php", ".groovy", ".ex", ".exs", ""}, p.ext)
	for i := 0; i < len(b); {
		switch c := b[i]; {
		case c == '/' && i+1 < len(b) && b[i+1] == '/' && p.ext != ".py" && (i == 0 || b[i-1] != ':'), c == '#' && hash && (i == 0 || b[i-1] != '$'):
			i = remark(i, indexFrom(b, i, "\n"))
		case c == '/' && i+1 < len(b) && b[i+1] == '*':
			i = remark(i, indexFrom(b, i+2, "*/")+2)
		case strings.HasPrefix(string(b[i:min(i+3, len(b))]), `"""`), strings.HasPrefix(string(b[i:min(i+3, len(b))]), `'''`):
			i = blankTo(b, i+3, indexFrom(b, i+3, string(b[i:i+3]))) + 3
		case c == '"' || c == '`':
			i = blankString(b, i, c)
		case c == '\'' && (words || i+2 < len(b) && b[i+2] == '\'' || i+3 < len(b) && b[i+3] == '\''):
			i = blankString(b, i, c)
		default:
			i++
		}
	}
	return string(b), string(told)
}

// blankString blanks what is inside a string that begins at i, and returns where the
// text goes on.
func blankString(b []byte, i int, quote byte) int {
	end := i + 1
	for end < len(b) && b[end] != quote && (b[end] != '\n' || quote == '`') {
		if b[end] == '\\' {
			end++
		}
		end++
	}
	return blankTo(b, i+1, end) + 1
}

func blankTo(b []byte, from, to int) int {
	to = min(to, len(b))
	for i := from; i < to; i++ {
		if b[i] != '\n' {
			b[i] = ' '
		}
	}
	return to
}

func indexFrom(b []byte, from int, s string) int {
	if from < len(b) {
		if i := strings.Index(string(b[from:]), s); i >= 0 {
			return from + i
		}
	}
	return len(b)
}

// bracedBlocks finds the blocks in braces.
func (p *program) bracedBlocks() []block {
	var out []block
	var open []int // indices into out
	for i := 0; i < len(p.bare); i++ {
		switch p.bare[i] {
		case '{':
			if len(open) > maxDepth || len(out) > mostBlocks {
				return out
			}
			from := p.statementStart(i)
			open = append(open, len(out))
			out = append(out, block{header: strings.TrimSpace(p.code[from:i]), start: i + 1, end: len(p.bare), line: p.lineOf(i)})
		case '}':
			if n := len(open); n > 0 {
				out[open[n-1]].end = i
				open = open[:n-1]
			}
		}
	}
	return out
}

// longestHeader bounds how far back the head of a block may begin.
const longestHeader = 600

// statementStart is where the statement begins that a byte belongs to.
func (p *program) statementStart(at int) int {
	depth := 0
	for i := at - 1; i >= 0 && at-i < longestHeader; i-- {
		switch p.bare[i] {
		case ')', ']':
			depth++
		case '(', '[':
			depth--
		case ';', '{', '}':
			if depth <= 0 {
				return i + 1
			}
		case '\n': // a statement of Go ends with its line
			if depth <= 0 && p.ext == ".go" && strings.TrimSpace(p.bare[i+1:at]) != "" {
				return i + 1
			}
		}
	}
	return max(0, at-longestHeader)
}

// indentedBlocks finds the blocks whose lines are indented more than their head.
func (p *program) indentedBlocks() []block {
	type open struct{ indent, block int }
	var out []block
	var stack []open
	decorators, at := "", 0
	lines := strings.SplitAfter(p.bare, "\n")
	for n, line := range lines {
		start := at
		at += len(line)
		text := strings.TrimSpace(line)
		if text == "" {
			continue
		}
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		for len(stack) > 0 && indent <= stack[len(stack)-1].indent {
			out[stack[len(stack)-1].block].end = start
			stack = stack[:len(stack)-1]
		}
		raw := strings.TrimSpace(p.code[start:at])
		if text[0] == '@' {
			decorators += raw + " "
			continue
		}
		if !nextDeeper(lines[n+1:], indent) || len(stack) > maxDepth {
			decorators = ""
			continue
		}
		stack = append(stack, open{indent, len(out)})
		out = append(out, block{header: decorators + raw, start: at, end: len(p.bare), line: n + 1})
		decorators = ""
	}
	return out
}

// nextDeeper reports whether the next line with text is indented more.
func nextDeeper(lines []string, indent int) bool {
	for _, l := range lines {
		if strings.TrimSpace(l) != "" {
			return len(l)-len(strings.TrimLeft(l, " \t")) > indent
		}
	}
	return false
}

func (p *program) lineOf(at int) int {
	i, found := slices.BinarySearch(p.starts, min(at, len(p.raw)))
	if found {
		return i + 1
	}
	return i
}

// around are the blocks that a byte stands in, the innermost first.
func (p *program) around(at int) []block {
	var out []block
	for _, b := range p.blocks {
		if b.start <= at && at < b.end {
			out = append(out, b)
		}
	}
	slices.Reverse(out)
	return out
}

// arguments is what stands in the parentheses that open at or behind a byte, and where
// they close.
func (p *program) arguments(at int) (text string, end int) {
	for at < len(p.bare) && p.bare[at] != '(' {
		at++
	}
	depth := 0
	limit := min(len(p.bare), at+longestArgument)
	for i := at; i < limit; i++ {
		switch p.bare[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return p.raw[at+1 : i], i
			}
		}
	}
	return p.raw[min(at+1, len(p.raw)):limit], limit
}

var (
	namedCall  = pattern.New(`([A-Za-z_]\w*)\(`)
	methodCall = pattern.New(`([\w.$@)\]?!]+?)(?:\.|->|\?\.|!!\.|!\.)([A-Za-z_]\w*)\s*\(`)
)

// call is a call of a method.
type call struct {
	at, open int
	receiver string // the last name of what it is called on
	method   string
	args     string
	end      int
	written  string
}

// findCalls finds all calls once.
func (p *program) findCalls() {
	p.named = map[string][]int{}
	for _, m := range namedCall.FindAllStringSubmatchIndex(p.bare, mostCalls) {
		name := p.bare[m[2]:m[3]]
		p.named[name] = append(p.named[name], m[2])
	}
	for _, m := range methodCall.FindAllStringSubmatchIndex(p.bare, mostCalls) {
		receiver, method := own(p.bare[m[2]:m[3]]), p.bare[m[4]:m[5]]
		args, end := p.arguments(m[1] - 1)
		p.calls = append(p.calls, call{m[0], m[1] - 1, receiver, method, args, end, receiver + "." + method})
	}
}

// calledIn is where a function is first called between two bytes; -1 nowhere.
func (p *program) calledIn(start, end int, name string) int {
	for _, at := range p.named[name] {
		if at >= start && at < end {
			return at
		}
	}
	return -1
}

var (
	loopHead     = pattern.New(`(?:^|[^\w.])(?:while|for|foreach|loop|until)\b|\.forEach\(|\.each\b|^do$`)
	functionHead = pattern.New(`\b(?:def|func|fun|fn|function)\s+(?:\([^)]*\)\s*)?(\w+)|([A-Za-z_]\w*)\s*=\s*(?:async\s*)?(?:function\b|\([^()]*\)\s*(?::\s*[\w<>]+\s*)?=>$)|([A-Za-z_]\w*)\s*\([^{};]*\)\s*(?:throws [\w., ]+|const|:\s*[\w<>\[\]]+)?$`)
	controlWord  = pattern.New(`^(?:if|for|foreach|while|switch|catch|else|try|with|using|when|synchronized|lock|until|unless|return|match)$`)
	handOff      = pattern.New(`(?i)\.submit\(|\.execute\(|runAsync\(|supplyAsync\(|\bgo func|Task\.Run\(|StartNew\(|setTimeout\(|setImmediate\(|create_task\(|Thread\(|thread::spawn|tokio::spawn|Thread\.new|\bspawn\(|@Async`)
)

// functionOf is the name of the function that a head begins; "" for other heads.
func functionOf(header string) string {
	for _, m := range functionHead.FindAllStringSubmatch(header, -1) {
		for _, name := range m[1:] {
			if name != "" && !controlWord.MatchString(name) {
				return name
			}
		}
	}
	return ""
}
