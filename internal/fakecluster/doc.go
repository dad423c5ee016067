// Package fakecluster runs a Kafka cluster inside the process whose
// __consumer_offsets is true to what its groups do.
//
// franz-go's kfake serves the protocol and the group state machines; it has no
// offsets topic. This package adds one: it sits between every client and kfake,
// sees each group request with its answer, and writes the record that a Kafka 4.1
// broker writes for it, before the client gets the answer. Classic groups give
// GroupMetadata and OffsetCommit records, KIP-848 groups the records of types 3, 5,
// 6, 7, 8 and 16, deleted groups tombstones. Members that misbehave on purpose
// (killed, frozen, too slow for their poll interval) and brokers that are silent,
// down or deny a request complete the picture, for tests and for the demo.
//
// What it cannot prove: kfake picks a group's coordinator by a hash of its own, so
// the leader of an offsets partition is moved to the coordinator of the first group
// that is seen on it. A second group on the same partition may have its coordinator
// elsewhere; Join refuses that, so that no test rests on it by accident. Real brokers
// alone prove package locate.
//
// It never connects to a cluster other than its own, and only tests and
// internal/demo import it.
package fakecluster
