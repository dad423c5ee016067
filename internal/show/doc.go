// Package show turns facts of a case into the blocks of a view: groups with their
// members, many groups one line each, and what could not be read.
//
// It refuses to ask a cluster, to judge, to look at the clock and to choose an exit
// code; how times are written is the caller's.
package show
