// Package project reads .kgdiag.yaml, in which a team keeps what it agreed on for its
// groups: rules that are not run or weigh otherwise, and how long its batches take. It
// refuses keys that it does not know, and opens no file.
package project
