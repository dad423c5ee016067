// Package outsider makes text as whoever may join a group, name a file or write into a
// log can make it, puts it into recorded cases, and holds what is shown to what no output
// may do: move the cursor, change colours, turn the direction of text, or break a table, a
// document or a record. It is for tests. It refuses to judge what else an output says.
package outsider
