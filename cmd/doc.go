// Package cmd is the command line of kgdiag: the only layer that knows flags,
// streams, the environment, the clock and exit codes.
//
// A command is one file and its *_view.go. The run of a command reads as: connect,
// ask a domain package, build a render.View, show it. Commands register themselves
// with command(order, constructor), so that adding one edits no list. The package
// refuses to compute facts or judgements: those belong to locate, inspect and
// advise.
package cmd
