// Package assume says which timeouts a member may have where none could be read: those of
// a configuration that somebody gave, else the default of its client library. Each value
// comes with where it is from, so that whoever uses it can name it as assumed.
//
// It refuses to read files and to guess where configurations disagree: a value that two of
// them give differently is not known.
package assume
