// Package watch turns what happens to consumer groups while one looks into events:
// members that come, go or are replaced, generations and epochs, states, changed
// settings, moved coordinators.
//
// Two sources are joined. The tail of the groups' __consumer_offsets partitions
// tells generations, timeouts, subscriptions and assignments, but late: a classic
// record is written when the survivors' join ends. Describe polls tell a departure
// within their interval, and how long the group stands still, but no generation.
// The Differ joins them; it is pure, so that a story told by records and polls is a
// test. The Watcher feeds it from a cluster and survives the death of a coordinator
// without a missed or doubled generation: records count by their offset and
// generation, not by when they were read.
//
// The package refuses to print, to guess a cause (judge does, and its verdicts
// come as later events that refer to the rebalance), and to join any group.
package watch
