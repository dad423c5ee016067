// Package cmd is the command line of kgdiag: the only layer that knows flags,
// streams, the environment, the clock and exit codes.
//
// A command is one file and its *_view.go: a struct that embeds the app and holds its
// flags, a constructor that registers itself with command(order, constructor), so that
// adding one edits no list, and a run. The run reads as: check the flags, read, ask a
// domain package, build a render.View, show it. The package refuses to compute facts or
// judgements: those belong to locate, inspect and advise, and internal/arch holds that
// no cause, return or rule decides anything here.
package cmd
