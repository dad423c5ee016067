// Package arch holds the shape of the code as a test: which package may import
// which, and what no package below cmd may do. It needs no linter installed.
package arch
