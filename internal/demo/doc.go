// Package demo shows kgdiag at work without a Kafka: it starts a simulated cluster,
// lets consumers misbehave on it, and has the real commands look at them.
//
// The caller hands it a function that runs a kgdiag command line, so that the demo
// shows exactly what a user would see and knows nothing about commands itself. It
// says in its first line that the cluster is simulated, and touches no other.
package demo
