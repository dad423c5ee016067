// Package render turns a View into bytes: one file a format, each registering its
// name, so that -o, completion and the documentation read one list.
//
// A command describes its result once: Blocks for people (table, tsv, markdown) and
// Data for machines (json). Everything that came from a cluster or a file passes
// Clean on its way out, so that an id with newlines or terminal escapes shows as
// text. The package refuses to fetch, to decide and to choose an exit code; it is
// the only importer of tablewriter.
package render
