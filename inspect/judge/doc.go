// Package judge says why members went and why a group rebalanced: out of its members'
// steps (package membership), decoded records of __consumer_offsets, describe polls and
// log events it makes an inspect.Timeline, in which each departure and each rebalance
// has one verdict.
//
// Data goes one way. Read and Timeline are the pipeline: who came back (returns.go), the evidence
// of each departure, one value a kind (evidence.go), what the departures of a group show
// together (company.go), one verdict on each (verdict.go), which records come back and
// which steps are a deploy (again.go, deploy.go), the cause of each step (conclude.go).
// What a departure shows by itself is read off one ordered table, explanations
// (explain.go): for each way to explain it when it fits, the sentence, the rivals, and
// the doubts that cap its confidence. Nothing changes a verdict once it is made.
//
// The package is pure: data in, data out. It refuses to read a cluster, a file or
// the clock, and it refuses to claim what cannot be observed: a departure is an
// interval, causes that no log can separate are named as rivals, and "high" is
// given only where exactly one explanation fits, the departure is bounded and
// the return agrees. The decision procedure and its measured score are described
// in docs/accuracy.md.
package judge
