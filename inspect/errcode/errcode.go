package errcode

import (
	_ "embed" // the table
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Code is one error of Kafka's protocol.
type Code struct {
	Number    int    // -1 to some 130; see Errors.java; 0 is a client's own error
	Name      string // UNKNOWN_MEMBER_ID; some words for a client's own
	Retriable bool   // the client tries again by itself
	Harmless  bool   // of a client's own: nothing is wrong with the group
	Exception string // of the Java client, without its package; "" unknown
	Message   string // the protocol's own, in English
	Meaning   string // for a consumer group, in a clause; "" where the code does not concern groups
	Do        string // a sentence; "" with Meaning
	// Wordings are texts by which clients name the error, this name and number aside.
	Wordings []string
}

//go:embed errors.tsv
var table string

// clientTable holds the errors that clients and frameworks raise by themselves, of which
// no broker knows.
//
//go:embed clients.tsv
var clientTable string

var clients = sync.OnceValue(func() []Code {
	var out []Code
	for line := range strings.Lines(clientTable) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") || len(f) != 5 {
			continue // the tests hold the rows to their columns
		}
		out = append(out, Code{Name: f[0], Retriable: f[1] == "retriable", Harmless: f[1] == "harmless", Message: f[2], Meaning: f[2], Do: f[3], Wordings: strings.Split(f[4], "|")})
	}
	return out
})

// both are Kafka's errors and the clients' own.
var both = sync.OnceValue(func() []Code { return slices.Concat(all(), clients()) })

// Clients are the errors of clients and frameworks themselves, by their own words; the
// caller must not change it.
func Clients() []Code { return clients() }

// all is the table, read when it is first needed.
var all = sync.OnceValue(func() []Code {
	var out []Code
	for line := range strings.Lines(table) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		n, err := strconv.Atoi(f[0])
		if err != nil || len(f) != 8 {
			continue // the heading; the tests count the rows
		}
		out = append(out, Code{Number: n, Name: f[1], Retriable: f[2] == "retriable", Exception: f[3], Message: f[4],
			Meaning: f[5], Do: f[6], Wordings: strings.Split(f[7], "|")})
	}
	return out
})

// All is every code but 0 (no error), by number. The caller must not change it.
func All() []Code { return all() }

// Lookup finds a code by its name, its number, the name of an exception in any
// client, or one of its wordings; upper and lower case are the same. False where the
// word is none of these.
func Lookup(word string) (Code, bool) {
	if word = strings.TrimSpace(word); word == "" {
		return Code{}, false
	}
	n, err := strconv.Atoi(word)
	for _, c := range both() {
		if err == nil && c.Number == n && n != 0 || strings.EqualFold(c.Name, word) || c.Exception != "" && strings.EqualFold(c.Exception, word) ||
			slices.ContainsFunc(c.Wordings, func(w string) bool { return strings.EqualFold(w, word) }) {
			return c, true
		}
	}
	return Code{}, false
}
