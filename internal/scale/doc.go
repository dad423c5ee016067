// Package scale measures kgdiag on a real cluster with very many groups and commits, next to
// Apache's tool. It has tests only, which scripts/bench runs; it refuses to measure what a
// cluster of this machine does not show, as distance and slow disks.
package scale
