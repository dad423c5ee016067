package clientconf

import (
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

// made is a consumer that a program makes.
type made struct {
	at     int
	name   string // of the variable, without what it belongs to; "" none
	group  string // as the text gives it, an expression in parentheses; "" unknown
	none   bool   // group.id is None
	random bool
	line   int
}

var (
	makesConsumer = pattern.New(`(?:\b(?:AIOKafkaConsumer|KafkaConsumer|DeserializingConsumer|AvroConsumer|BaseConsumer|StreamConsumer|ConsumerGroupStream|ConsumerGroup|ConsumerStream|Consumer)(?:<[^(){};=]*>|\[[^(){};=\]]*\])?|\.consumer|\bNewConsumerGroup(?:FromClient)?|kafka\.NewConsumer|kgo\.NewClient|kafka\.NewReader|ConsumerBuilder<[^(){};=]*>|create_with_context|rd_kafka_new|createConsumer)\s*\(`)
	notMade       = pattern.New(`(?:\b(?:class|def|func|fun|interface|extends|implements|import|function|public|private|protected|void)|@)\s*$`)
	givenName     = pattern.New(`([\w.$@>-]+)\s*(?:,\s*\w+\s*)?(?::[ \t]*[\w<>\[\].,?' ]+?)?[ \t]*:?=\s*(?:await\s+|new\s+|&|\\?[\w.\\]+(?:\.|::|\\)\s*|[\w.]*\s*)*$`)
	asName        = pattern.New(`^\)?\s*as\s+(\w+)`)
	groupArgument = pattern.New(`(?i)(?:group[._]?id|GROUP_ID_CONFIG|consumer_group|ConsumerGroup)["'\x60]?\s*\]?\s*\)?\s*(?:=>|:=|=|:|,|\()\s*([^\n]*)`)
	randomValue   = pattern.New(`(?i)uuid|random|date\.now|currenttimemillis|nanotime|time\.time\(|time\.now\(|guid\.newguid|nanoid|mktemp|getpid|process\.pid|rand\.`)
	noneValue     = pattern.New(`^(?:None|null|nil|undefined)\b`)
	wholeName     = pattern.New(`^[\w.$]+$`)
)

// own is a receiver's last name: what this.consumer and self._consumer have in common.
func own(receiver string) string {
	receiver = strings.TrimRight(receiver, ".>-!?")
	if i := strings.LastIndexAny(receiver, ".>"); i >= 0 {
		receiver = receiver[i+1:]
	}
	return strings.TrimLeft(receiver, "_$@&*")
}

// consumers finds where the program makes consumers.
func (p *program) consumers() []made {
	var out []made
	groups := p.groups()
	for _, m := range makesConsumer.FindAllStringSubmatchIndex(p.bare, -1) {
		before := p.bare[max(0, m[0]-200):m[0]]
		call := p.bare[m[0]:m[1]]
		if notMade.MatchString(before) || strings.HasPrefix(call, "rd_kafka_new") && !strings.Contains(p.raw[m[1]:min(m[1]+40, len(p.raw))], "RD_KAFKA_CONSUMER") {
			continue
		}
		c := made{at: m[0], line: p.lineOf(m[0])}
		if g := givenName.FindStringSubmatch(before); g != nil {
			c.name = own(g[1])
		}
		args, end := p.arguments(m[1] - 1)
		if g := asName.FindStringSubmatch(p.raw[min(end, len(p.raw)):]); g != nil && c.name == "" {
			c.name = g[1]
		}
		p.groupOf(&c, args, groups)
		out = append(out, c)
	}
	return out
}

// groups are the expressions that the text gives group.id.
func (p *program) groups() []string {
	seen := map[string]bool{}
	var out []string
	for _, m := range groupArgument.FindAllStringSubmatchIndex(p.raw, -1) {
		if p.bare[m[0]] == ' ' && p.raw[m[0]] != ' ' && (m[0] == 0 || p.bare[m[0]-1] != '"' && p.bare[m[0]-1] != '\'' && p.bare[m[0]-1] != '`') {
			continue // in a comment
		}
		if nextArgument(p.raw[m[0]:m[2]]) {
			continue
		}
		e := expression(p.raw[m[2]:m[3]])
		if e != "" && !seen[e] {
			seen[e] = true
			out = append(out, e)
		}
	}
	return out
}

// nextArgument reports whether what follows a name is no value of it, but the argument
// behind it: create(groupId, null). A key that is handed to put() is quoted, or a constant.
func nextArgument(name string) bool {
	name = strings.TrimSpace(name)
	return strings.HasSuffix(name, ",") && !strings.ContainsAny(name, "\"'`") && !strings.Contains(name, "_CONFIG")
}

// expression is what comes first in a list of arguments or of pairs.
func expression(text string) string {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth < 0 {
				return strings.TrimSpace(text[:i])
			}
		case ',', ';':
			if depth == 0 {
				return strings.TrimSpace(text[:i])
			}
		}
	}
	return strings.TrimSpace(text)
}

// groupOf says which group a consumer is of: its own arguments', else the only one of the
// text.
func (p *program) groupOf(c *made, args string, groups []string) {
	e := ""
	if m := groupArgument.FindStringSubmatch(args); m != nil && !nextArgument(strings.TrimSuffix(m[0], m[1])) {
		e = expression(m[1])
	} else if strings.HasPrefix(p.bare[c.at:], "NewConsumerGroup") && strings.Contains(args, ",") {
		parts := strings.SplitN(args, ",", 3)
		if e = strings.TrimSpace(parts[1]); strings.HasPrefix(p.bare[c.at:], "NewConsumerGroupFromClient") {
			e = strings.TrimSpace(parts[0])
		}
	} else if len(groups) == 1 {
		e = groups[0]
	}
	c.none = noneValue.MatchString(e)
	full := e
	if m := identifier.FindStringSubmatch(e); m != nil && p.values.constants[m[1]] != "" {
		full = p.values.constants[m[1]]
	}
	c.random = randomValue.MatchString(full)
	c.group = p.groupText(e)
}

// groupText is a group.id as it is told: the literal, or the expression in parentheses.
func (p *program) groupText(e string) string {
	if text, ok := p.values.of(e, false); ok && !strings.ContainsAny(text, "{}") {
		return text
	}
	if e == "" || !wholeName.MatchString(e) || noneValue.MatchString(e) {
		return ""
	}
	return "(" + e + ")"
}

// methods are all calls of methods with one of the names.
func (p *program) methods(names map[string]bool) []call {
	var out []call
	for _, c := range p.calls {
		if names[c.method] {
			out = append(out, c)
		}
	}
	return out
}

var consumerName = pattern.New(`(?i)consumer|^kafka$|^cons$|^kc$|reader$|^rk$`)

// ofConsumer reports whether a call is one on a consumer, and which.
func ofConsumer(c call, consumers []made) (made, bool) {
	best, found := made{}, false
	for _, m := range consumers { // the one made last before the call
		if m.name != "" && m.name == c.receiver && (!found || m.at < c.at) {
			best, found = m, true
		}
	}
	if found {
		return best, true
	}
	if len(consumers) == 1 && (consumers[0].name == "" || consumerName.MatchString(c.receiver)) {
		return made{at: consumers[0].at, name: c.receiver, group: consumers[0].group, line: consumers[0].line}, consumerName.MatchString(c.receiver) || len(consumers[0].name) < 2
	}
	return made{name: c.receiver}, consumerName.MatchString(c.receiver)
}

var literalText = pattern.New(`["'\x60]([^"'\x60{}\n]*)["'\x60]`)

// notTopics are arguments that hold a function or a map of settings: not every literal in
// them is a topic.
var notTopics = pattern.New(`=>|\bfunction\b|\bfunc\b|["'][a-z]+(?:\.[a-z]+)+["']\s*:`)

// topicsOf are the literal topics among arguments.
func topicsOf(args string) string {
	var out []string
	if notTopics.MatchString(args) {
		return ""
	}
	for _, m := range literalText.FindAllStringSubmatch(args, -1) {
		if m[1] != "" && !strings.ContainsAny(m[1], " $:/") {
			out = append(out, m[1])
		}
	}
	return strings.Join(out, ",")
}

func (p *program) position(at int) inspect.Position {
	return inspect.Position{File: p.name, Line: p.lineOf(at)}
}
