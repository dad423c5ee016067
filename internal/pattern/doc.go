// Package pattern has regular expressions that are compiled when they are first used.
// kgdiag has hundreds, for files and logs of many kinds, and most runs use a few.
//
// It is the ground floor: it imports nothing of ours. A source that does not compile
// panics with its first use; a test compiles all.
package pattern
