// Package eventtext puts the events of a watch into words, for the lines of watch and for
// the feed of the live screen, so that one event reads the same on both.
//
// It refuses to lay out lines, to colour, and to clean what came from outside: whoever
// shows the words does.
package eventtext
