// Package properties reads Java .properties text as java.util.Properties.load
// does, and keeps what that class throws away: the line of every entry, and the
// entries that a later one of the same key overrode.
//
// It refuses to guess: text that is not text, or that is larger than anybody's
// configuration, is an error. It knows nothing of Kafka, does no I/O and imports
// nothing of ours. The well-known parsers in Go do not report line numbers, which
// every finding of kgdiag must name.
package properties
