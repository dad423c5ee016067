// Package eventtext puts what a watch tells, and the lives of a group's members, into
// words and marks: for the lines of watch, the chart of history and the live screen, so
// that one event reads the same on each.
//
// It refuses to lay out a screen, to paint, and to clean what came from outside: whoever
// shows the words does.
package eventtext
