// Package pause waits, where a goroutine must not outlive its context. It refuses to wait
// for anything but time: what can be awaited as a condition is awaited as one.
package pause
