// Package hedge asks several places the same question without asking them all: the
// next one is asked when the one before has failed or thought for too long.
//
// It is the ground floor: it imports nothing of ours and does no I/O; what a question
// is, and how long one may last, is the caller's.
package hedge
