package pattern

import (
	"regexp"
	"sync"
)

// Pattern is a regular expression, with the methods of regexp.Regexp that are used.
type Pattern struct {
	source string
	once   sync.Once
	re     *regexp.Regexp
}

var all []*Pattern

// New makes a Pattern of a source that regexp.MustCompile takes. It is for variables of
// packages, as they are initialised.
func New(source string) *Pattern {
	p := &Pattern{source: source}
	all = append(all, p)
	return p
}

// Sources are the sources of all patterns of the program.
func Sources() []string {
	out := make([]string, 0, len(all))
	for _, p := range all {
		out = append(out, p.source)
	}
	return out
}

// Compiled counts the patterns that have been used.
func Compiled() int {
	n := 0
	for _, p := range all {
		if p.re != nil {
			n++
		}
	}
	return n
}

// regexp is the compiled expression.
func (p *Pattern) regexp() *regexp.Regexp {
	p.once.Do(func() { p.re = regexp.MustCompile(p.source) })
	return p.re
}

// MatchString is regexp.Regexp's.
func (p *Pattern) MatchString(s string) bool { return p.regexp().MatchString(s) }

// Match is regexp.Regexp's.
func (p *Pattern) Match(b []byte) bool { return p.regexp().Match(b) }

// FindString is regexp.Regexp's.
func (p *Pattern) FindString(s string) string { return p.regexp().FindString(s) }

// FindStringIndex is regexp.Regexp's.
func (p *Pattern) FindStringIndex(s string) []int { return p.regexp().FindStringIndex(s) }

// FindIndex is regexp.Regexp's.
func (p *Pattern) FindIndex(b []byte) []int { return p.regexp().FindIndex(b) }

// FindStringSubmatch is regexp.Regexp's.
func (p *Pattern) FindStringSubmatch(s string) []string { return p.regexp().FindStringSubmatch(s) }

// FindStringSubmatchIndex is regexp.Regexp's.
func (p *Pattern) FindStringSubmatchIndex(s string) []int {
	return p.regexp().FindStringSubmatchIndex(s)
}

// FindSubmatch is regexp.Regexp's.
func (p *Pattern) FindSubmatch(b []byte) [][]byte { return p.regexp().FindSubmatch(b) }

// FindSubmatchIndex is regexp.Regexp's.
func (p *Pattern) FindSubmatchIndex(b []byte) []int { return p.regexp().FindSubmatchIndex(b) }

// FindAll is regexp.Regexp's.
func (p *Pattern) FindAll(b []byte, n int) [][]byte { return p.regexp().FindAll(b, n) }

// FindAllString is regexp.Regexp's.
func (p *Pattern) FindAllString(s string, n int) []string { return p.regexp().FindAllString(s, n) }

// FindAllStringSubmatch is regexp.Regexp's.
func (p *Pattern) FindAllStringSubmatch(s string, n int) [][]string {
	return p.regexp().FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex is regexp.Regexp's.
func (p *Pattern) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return p.regexp().FindAllStringSubmatchIndex(s, n)
}

// ReplaceAll is regexp.Regexp's.
func (p *Pattern) ReplaceAll(src, repl []byte) []byte { return p.regexp().ReplaceAll(src, repl) }

// ReplaceAllString is regexp.Regexp's.
func (p *Pattern) ReplaceAllString(src, repl string) string {
	return p.regexp().ReplaceAllString(src, repl)
}

// ReplaceAllStringFunc is regexp.Regexp's.
func (p *Pattern) ReplaceAllStringFunc(src string, repl func(string) string) string {
	return p.regexp().ReplaceAllStringFunc(src, repl)
}
