// Package rulefixture reads the fixtures of the rules: one txtar archive each, with
// the case that a rule is run on and what it is expected to say. Tests and the
// generated documentation share it.
//
// It holds no expectations of its own and judges nothing.
//
// The comment of an archive is prose, but for lines "key: value" with one of the
// keys client, set, batch-time, record-time, back-off, gc-pause and blank. Its files are
// configurations, read as the program reads them, case.json, a case as record
// writes it (fields may be left out), and want.txt.
package rulefixture
