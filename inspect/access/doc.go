// Package access finds out what the connected user may read, by asking for each
// thing that kgdiag reads, and which commands that leaves working.
//
// It asks only what kgdiag asks anyway, all of it read-only, and it asks nothing
// that is routed by coordinator before Metadata has shown the topic behind it. It
// judges permissions and platforms, not groups; it prints nothing.
package access
