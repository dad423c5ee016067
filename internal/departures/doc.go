// Package departures reads the files of labelled departures that scripts/record-departures
// writes: groups of real clients, one member of which had a fault, with what was done,
// what the coordinator's log says of it, and what kgdiag could have read.
//
// It is for tests that hold verdicts to what happened. It refuses to judge, and no part
// of the program imports it.
package departures
