// Command man writes the man pages of kgdiag's commands into a directory, for the
// packages that scripts/release makes. It refuses to guess a date: SOURCE_DATE_EPOCH is
// that of the pages, so that two runs make the same bytes.
package main
