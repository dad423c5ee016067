// Package membership reads what happened to the members of one consumer group out
// of its records of __consumer_offsets, or out of describe polls where no record was
// read: who is a member, who came, went or took whose place, in which generation or
// epoch, and who owned what.
//
// It is the one reading of membership: history and watch take theirs from it. It is
// pure: it refuses to read a cluster, a file or the clock, and it refuses to say why
// somebody went. A Step holds what was read; the causes are somebody else's.
package membership
