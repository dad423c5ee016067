// Package explain tells what the words of kgdiag's output mean, offline: its rules, the
// causes of a rebalance, and Kafka's own words. It refuses to look at a cluster.
package explain
