// Package collect reads a cluster into an inspect.Case: brokers, the offsets
// topic, groups of every type with their members, timeouts, lag and bounds. It
// also holds the cheap polls that watch a few groups many times a second.
//
// Every request goes to a broker that this package chose, with a limit of its
// own, so that one sick broker or group never hides the rest; what could not be
// read becomes an inspect.Gap with the reason and the ACL or version that would
// allow it, and every fact that was read has an inspect.Source.
//
// The package refuses to write, to create topics, to join groups, to judge and to
// print. FindCoordinator makes a broker create a missing __consumer_offsets, and
// so does whatever a client routes by coordinator; therefore nothing of the kind
// is sent before a Metadata answer (AllowAutoTopicCreation false) has shown the
// topic. Where Metadata is denied, coordinators are found by asking every broker
// for its own groups (ListGroups), which creates nothing.
package collect
