// Package realtest holds kgdiag to real Kafka brokers and real clients: it starts
// consumers of several libraries as processes, breaks them in a known way, runs the
// kgdiag binary as a person would, and compares what it says with what the broker's
// own tools, records and log say.
//
// All of it, but for the list of ways in, are tests with the build tag realkafka; scripts/test brings the brokers
// up and sets KGDIAG_TEST_BOOTSTRAP. The package refuses to break the brokers that it
// was given: a test that kills one starts a cluster of its own.
package realtest
