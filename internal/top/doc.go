// Package top is the live screen: the groups of a cluster, worst first, and one of them
// opened, with the lives of its members, what happens to it and why, and what to change.
//
// It joins what a watch delivers (inspect/watch) with the past of the last hour
// (inspect/past) and diagnoses the groups (advise/diagnose); membership is read nowhere
// else. The model is pure: messages and a clock in, frames out, so that every screen is a
// test. Nothing is told by colour alone, no colour is set that the terminal's own scheme
// does not, and the mouse is left to the terminal.
//
// The package refuses to connect, to judge, and to run without a terminal: whoever calls
// it has asked. It is the only importer of bubbletea.
package top
