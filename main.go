// Command kgdiag tells which broker coordinates a Kafka consumer group, what its
// membership has been doing, why it rebalanced, and which setting to change.
package main

import (
	"os"

	"github.com/kgdiag/kgdiag/cmd"
)

func main() {
	os.Exit(cmd.Main(os.Args[1:], cmd.SystemStreams()))
}
