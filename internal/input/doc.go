// Package input opens whatever a user names as an input file, with every limit that a
// hostile one needs: a directory is refused, a pipe that nobody writes to is given up,
// what has no end is cut off, and a signal ends the waiting. It refuses to know what
// the bytes mean, and leaves naming the file to the caller.
package input
