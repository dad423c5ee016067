// Package timeline rebuilds the rebalances of consumer groups, with their causes,
// from decoded records of __consumer_offsets, describe polls and log events.
//
// The package is pure: data in, data out. It refuses to read a cluster, a file or
// the clock, and it refuses to claim what cannot be observed: a departure is an
// interval, causes that no log can separate are named as rivals, and "high" is
// given only where exactly one explanation fits, the departure is bounded and
// the return agrees. The decision procedure and its measured score are described
// in docs/accuracy.md.
package timeline
