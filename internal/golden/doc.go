// Package golden compares what a test has made with a committed file. It is for tests
// alone, and refuses to decide when a file is rewritten: the caller's -update does.
package golden
