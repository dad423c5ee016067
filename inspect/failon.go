package inspect

import "slices"

// FailOn says what turns the exit code of a command: "never", "rebalance", "eviction",
// or a Cause. Nothing of low confidence does, but a rebalance itself, which is seen.
type FailOn string

// The words of FailOn that are no causes.
const (
	FailNever     FailOn = "never"
	FailRebalance FailOn = "rebalance"
	FailEviction  FailOn = "eviction"
)

// ParseFailOn reads a word of FailOn, a cause also by its name in words, as screens have it.
func ParseFailOn(word string) (FailOn, bool) {
	if c, ok := ParseCause(word); ok {
		return FailOn(c), true
	}
	f := FailOn(word)
	return f, f.Known()
}

// Known reports whether the word has a meaning.
func (f FailOn) Known() bool {
	return f == FailNever || f == FailRebalance || f == FailEviction || Cause(f).Known()
}

// Cause reports whether a cause of this confidence trips it.
func (f FailOn) Cause(c Cause, conf Confidence) bool {
	return conf != Low && (f == FailEviction && c.Eviction() || Cause(f) == c)
}

// Rebalance reports whether a rebalance trips it, by its cause or by that of one of the
// departures in it.
func (f FailOn) Rebalance(r *Rebalance) bool {
	return f == FailRebalance || f.Cause(r.Cause, r.Confidence) || r.Evictions(f.Cause) > 0
}

// Known reports whether a word is a cause.
func (c Cause) Known() bool { return slices.Contains(Causes(), c) }
