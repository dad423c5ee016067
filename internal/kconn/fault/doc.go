// Package fault holds the errors of connecting: a kind with a stable name, the address,
// one line of text and a hint. It is the ground floor of internal/kconn, and decides
// nothing: who meets an error says what it means.
package fault
