package credentials

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// jaas is one entry of sasl.jaas.config.
type jaas struct {
	module  string // class name as written
	options map[string]string
}

// name is the class without its package: PlainLoginModule is PLAIN wherever a
// vendor has moved it (org.apache.kafka.…, kafkashaded.org.apache.kafka.… as in Databricks).
func (j jaas) name() string { return strings.TrimPrefix(path.Ext("."+j.module), ".") }

// mechanism is the SASL mechanism that the login module is for; SCRAM for
// ScramLoginModule, which serves two; "" for a class that is not known.
func (j jaas) mechanism() string {
	switch j.name() {
	case "PlainLoginModule":
		return "PLAIN"
	case "ScramLoginModule":
		return "SCRAM"
	case "OAuthBearerLoginModule":
		return "OAUTHBEARER"
	case "IAMLoginModule":
		return "AWS_MSK_IAM"
	case "Krb5LoginModule":
		return "GSSAPI"
	}
	return ""
}

// parseJAAS reads the value of sasl.jaas.config as Kafka's JaasConfig does:
//
//	LoginModuleClass controlFlag (optionName=optionValue)*;
//
// Values are quoted or words; within quotes Java's escapes hold. One module is
// allowed. Errors never contain a value.
func parseJAAS(s string) (jaas, error) {
	lex := jaasLexer{s: s}
	module, err := lex.word("the class of a login module")
	if err != nil {
		return jaas{}, err
	}
	flag, err := lex.word("required")
	if err != nil {
		return jaas{}, err
	}
	switch strings.ToLower(flag) {
	case "required", "requisite", "sufficient", "optional":
	default:
		return jaas{}, errors.New(`the word after the login module must be "required"`)
	}
	j := jaas{module: module, options: make(map[string]string)}
	for {
		lex.space()
		if lex.take(';') {
			break
		}
		key, err := lex.word("an option or ;")
		if err != nil {
			return jaas{}, err
		}
		lex.space()
		if !lex.take('=') {
			return jaas{}, fmt.Errorf("option %s: = and a value are missing", key)
		}
		value, err := lex.value()
		if err != nil {
			return jaas{}, fmt.Errorf("option %s: %w", key, err)
		}
		j.options[key] = value
	}
	if lex.space(); lex.i < len(lex.s) {
		return jaas{}, errors.New("text after the ; that ends the first login module (one is allowed)")
	}
	return j, nil
}

type jaasLexer struct {
	s string
	i int
}

func (l *jaasLexer) space() {
	for l.i < len(l.s) && strings.IndexByte(" \t\r\n\f", l.s[l.i]) >= 0 {
		l.i++
	}
}

func (l *jaasLexer) take(c byte) bool {
	if l.i < len(l.s) && l.s[l.i] == c {
		l.i++
		return true
	}
	return false
}

func (l *jaasLexer) word(want string) (string, error) {
	l.space()
	start := l.i
	for l.i < len(l.s) && strings.IndexByte(" \t\r\n\f;=\"'", l.s[l.i]) < 0 {
		l.i++
	}
	if l.i == start {
		if l.i == len(l.s) {
			return "", fmt.Errorf("it ends where %s should stand; it must end in ;", want)
		}
		return "", fmt.Errorf("%q stands where %s is expected", l.s[l.i], want)
	}
	return l.s[start:l.i], nil
}

func (l *jaasLexer) value() (string, error) {
	l.space()
	if l.i == len(l.s) || (l.s[l.i] != '"' && l.s[l.i] != '\'') {
		// Unlike Java's tokenizer this takes = and quotes within a word: a base64
		// password that was left unquoted has only one meaning.
		start := l.i
		for l.i < len(l.s) && strings.IndexByte(" \t\r\n\f;", l.s[l.i]) < 0 {
			l.i++
		}
		if l.i == start {
			return "", errors.New("the value is missing")
		}
		return l.s[start:l.i], nil
	}
	quote := l.s[l.i]
	l.i++
	var b strings.Builder
	for l.i < len(l.s) {
		c := l.s[l.i]
		l.i++
		switch {
		case c == quote:
			return b.String(), nil
		case c == '\\' && l.i < len(l.s):
			b.WriteByte(l.escape())
		default:
			b.WriteByte(c)
		}
	}
	return "", errors.New("the closing quote is missing")
}

// escape reads what follows a backslash as java.io.StreamTokenizer does.
func (l *jaasLexer) escape() byte {
	c := l.s[l.i]
	l.i++
	if i := strings.IndexByte("abfnrtv", c); i >= 0 {
		return "\a\b\f\n\r\t\v"[i]
	}
	if c < '0' || c > '7' {
		return c
	}
	n, digits := int(c-'0'), 1
	for l.i < len(l.s) && l.s[l.i] >= '0' && l.s[l.i] <= '7' && (digits < 2 || digits == 2 && c <= '3') {
		n, digits = n*8+int(l.s[l.i]-'0'), digits+1
		l.i++
	}
	return byte(n)
}
