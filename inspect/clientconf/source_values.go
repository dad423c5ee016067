package clientconf

import (
	"strconv"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

// What an expression of a program stands for, as far as its own text tells: a literal, a
// product of literals, a duration, a constant of the same text, and the value that an
// environment variable has where nobody sets it.

var (
	stringLiteral = pattern.New(`^(?:[bruf]|<<)?["'\x60]([^"'\x60]*)["'\x60]`)
	numbers       = pattern.New(`^\(?\s*(?:\(\w+\)\s*)?(?:time\.Duration\()?(\d[\d_]*(?:\.\d+)?)[lLuU]*\)?((?:\s*\*\s*(?:\d[\d_]*|time\.\w+))*)\s*\)?\s*(.*)$`)
	factor        = pattern.New(`\*\s*(\d[\d_]*|time\.\w+)`)
	unitsFirst    = pattern.New(`^time\.(\w+)\s*\*\s*(\d+)`)
	durationCall  = pattern.New(`(?i)^(?:\(\w+\)\s*)?(?:TimeSpan\.From|Duration\.of|Duration\.|Duration::from_|:timer\.|timedelta\(|TimeUnit\.)(Milliseconds|Millis|Seconds|Secs|Minutes|Hours)(?:\.toMillis)?[(=]\s*(\d[\d_]*)(?:L|\.0)?\s*\)`)
	unitSuffix    = pattern.New(`^(\d[\d_]*)\.(millis|milliseconds|seconds?|minutes?|hours?)\b`)
	wrapped       = pattern.New(`^\(?(?:String\.valueOf|String|Integer\.toString|Long\.toString|Integer\.valueOf|Integer\.parseInt|Long\.parseLong|strconv\.Itoa|Convert\.ToInt32|int\.Parse|parseInt|Number|str|int|Some|intval|String\.to_integer)\(`)
	fromEnv       = pattern.New(`(?i)^(?:System\.getenv\(\)\.)?[\w.:]*(?:env|getOrDefault|getProperty)[\w.]*\(\s*["'][\w.\- ]+["']\s*,\s*(.*)$`)
	orDefault     = pattern.New(`(?i)^[\w.]*env\b[\w.\[\]"']*\s*(?:\|\||\?\?|or)\s*(.*)$`)
	identifier    = pattern.New(`^(?:[A-Za-z_]\w*\.)*([A-Za-z_]\w*)(?:\.to_s|\.to_string\(\)|\.toString\(\))?\s*(?:[,;)}\]].*)?$`)
	constant      = pattern.New(`(?m)^[ \t]*(?:[\w<>\[\]@.]+[ \t]+)*([A-Za-z_]\w*)[ \t]*(?::[ \t]*[\w.]+[ \t]*)?:?=[ \t]*([^\n=>][^\n]*)$`)
)

var timeUnits = map[string]time.Duration{"millisecond": time.Millisecond, "milliseconds": time.Millisecond, "millis": time.Millisecond, "second": time.Second,
	"seconds": time.Second, "secs": time.Second, "minute": time.Minute, "minutes": time.Minute, "hour": time.Hour, "hours": time.Hour}

// values evaluates the expressions of one text.
type values struct {
	family    inspect.Family
	constants map[string]string // name → its expression; "" where it is given more than one
}

func valuesOf(data []byte, family inspect.Family) values {
	v := values{family, map[string]string{}}
	for _, m := range constant.FindAllStringSubmatch(string(data), -1) {
		name, expr := m[1], strings.TrimSpace(m[2])
		if old, had := v.constants[name]; had && old != expr {
			expr = ""
		}
		v.constants[name] = expr
	}
	return v
}

// maxSteps bounds how often an expression is taken apart: constants may name each other.
const maxSteps = 8

// of is the value of an expression; where it names a unit, with the suffix ms. False
// where its text does not tell.
func (v values) of(expr string, isDuration bool) (string, bool) {
	for range maxSteps {
		expr = strings.TrimSpace(expr)
		switch {
		case strings.HasPrefix(expr, "value"): // of an annotation: value = "30000"
			expr = strings.TrimLeft(strings.TrimPrefix(expr, "value"), " =")
			continue
		case wrapped.MatchString(expr):
			expr = wrapped.ReplaceAllString(expr, "")
			continue
		case fromEnv.MatchString(expr):
			expr = fromEnv.FindStringSubmatch(expr)[1]
			continue
		case orDefault.MatchString(expr):
			expr = orDefault.FindStringSubmatch(expr)[1]
			continue
		}
		if text, ok := literal(expr, isDuration, v.family); ok {
			return text, true
		}
		if put := v.product(expr); put != expr {
			expr = put
			continue
		}
		m := identifier.FindStringSubmatch(expr)
		if m == nil || v.constants[m[1]] == "" {
			return "", false
		}
		expr = v.constants[m[1]]
	}
	return "", false
}

var productOfNames = pattern.New(`^\(?[\w. ]+(?:\*[\w. ]+)+\)?\s*(?:[,;)}\]].*)?$`)

// product puts the numbers of constants in place in a product: SECOND * 60 * 20.
func (v values) product(expr string) string {
	if !productOfNames.MatchString(expr) {
		return expr
	}
	factors := strings.Split(expr, "*")
	for i, f := range factors {
		name := strings.Trim(f, " ,;()")
		if n := strings.TrimRight(v.constants[name], " ,;"); n != "" && wholeNumber.MatchString(n) {
			factors[i] = strings.Replace(f, name, n, 1)
		}
	}
	return strings.Join(factors, "*")
}

var wholeNumber = pattern.New(`^\d[\d_]*$`)

// literal is the value that a program's expression stands for by itself.
func literal(expr string, isDuration bool, family inspect.Family) (string, bool) {
	if m := stringLiteral.FindStringSubmatch(expr); m != nil {
		if strings.Contains(m[1], "${") || strings.Contains(m[1], "#{") {
			return "", false
		}
		return m[1], true
	}
	for _, form := range []*pattern.Pattern{durationCall, unitsFirst} {
		if m := form.FindStringSubmatch(expr); m != nil {
			return milliseconds(m[2], timeUnits[strings.ToLower(m[1])])
		}
	}
	if m := unitSuffix.FindStringSubmatch(expr); m != nil {
		return milliseconds(m[1], timeUnits[m[2]])
	}
	if strings.HasPrefix(expr, "Integer.MAX_VALUE") {
		return "2147483647", true
	}
	if m := numbers.FindStringSubmatch(expr); m != nil {
		return numberLiteral(m[1], m[2], m[3], isDuration, family)
	}
	return wordLiteral(expr)
}

// wordLiteral takes booleans, bare text of XML, and members of an enumeration.
func wordLiteral(expr string) (string, bool) {
	word := strings.TrimSpace(expr)
	if i := strings.IndexAny(word, ",;)}"); i > 0 {
		word = strings.TrimSpace(word[:i]) // what follows is the next argument, or the end of the statement
	}
	low := strings.ToLower(word)
	switch {
	case low == "true" || low == "false":
		return low, true
	case strings.HasPrefix(word, "AutoOffsetReset."), strings.HasPrefix(word, "PartitionAssignmentStrategy."), strings.HasPrefix(word, "IsolationLevel."):
		return strings.ToLower(word[strings.LastIndexByte(word, '.')+1:]), true
	}
	return "", false
}

// numberLiteral multiplies the factors of an expression. Behind them nothing but the end
// of the statement may follow.
func numberLiteral(first, factors, rest string, isDuration bool, family inspect.Family) (string, bool) {
	if rest = strings.TrimSpace(rest); rest != "" && strings.IndexByte(",;)}]/#<", rest[0]) < 0 && rest[0] != '"' && rest[0] != ':' {
		return "", false
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(first, "_", ""), 64)
	if err != nil {
		return "", false
	}
	unit, below := time.Duration(0), false
	for _, m := range factor.FindAllStringSubmatch(factors, -1) {
		if u, ok := strings.CutPrefix(m[1], "time."); ok {
			switch unit = timeUnits[strings.ToLower(u)]; u {
			case "Microsecond":
				below, n = true, n*1000
			case "Nanosecond":
				below = true
			}
			continue
		}
		f, err := strconv.ParseFloat(strings.ReplaceAll(m[1], "_", ""), 64)
		if err != nil {
			return "", false
		}
		n *= f
	}
	switch {
	case n > 1e15:
		return "", false
	case unit > 0:
		return milliseconds(strconv.FormatFloat(n, 'f', -1, 64), unit)
	case below && n >= 1e6:
		return strconv.FormatFloat(n/1e6, 'f', -1, 64) + "ms", n == 1e6*float64(int64(n/1e6))
	case isDuration && (family == inspect.Sarama || family == inspect.FranzGo || family == inspect.KafkaGo):
		if n > 0 && n < 1e6 {
			return strconv.FormatFloat(n, 'f', -1, 64) + "ns", n == float64(int64(n))
		}
		n /= 1e6 // a time.Duration's plain number
	}
	return strconv.FormatFloat(n, 'f', -1, 64), n == float64(int64(n)) || !isDuration
}

func milliseconds(n string, unit time.Duration) (string, bool) {
	v, err := strconv.ParseInt(strings.ReplaceAll(n, "_", ""), 10, 64)
	if err != nil || unit == 0 || v > 1e12 {
		return "", false
	}
	return strconv.FormatInt(v*int64(unit/time.Millisecond), 10) + "ms", true
}
