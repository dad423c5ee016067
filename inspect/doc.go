// Package inspect defines what kgdiag knows about consumer groups: the Case.
//
// A Case is plain data: snapshots of groups and brokers, decoded records of
// __consumer_offsets, live observations, rebalances with their causes, log
// events, client configurations, and the Gaps, which say what could not be read
// and why. The packages below this one fill it (collect, offsetlog, clientconf,
// clientlog) or derive from it (membership, judge); package advise only reads it.
//
// The package refuses to do I/O against a cluster, to judge, and to print. It
// also holds the codec of the case file, the format behind record and --from and
// behind the test fixtures. It imports nothing of ours but locate.
package inspect
