// Package docgen writes the documentation that follows from the program itself:
// docs/rules.md from the rule catalogue and its fixtures, docs/cli.md from the
// command tree. A test generates both in memory and compares them byte for byte, so
// that they cannot drift; with -update it writes them.
//
// It is no part of the program, and nothing imports it.
//
//go:generate go test . -update
package docgen
