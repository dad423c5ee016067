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
	Number    int    // -1 to some 130; see Errors.java
	Name      string // UNKNOWN_MEMBER_ID
	Retriable bool   // the client tries again by itself
	Exception string // of the Java client, without its package; "" unknown
	Message   string // the protocol's own, in English
	Meaning   string // for a consumer group, in a clause; "" where the code does not concern groups
	Do        string // a sentence; "" with Meaning
	// Wordings are texts by which clients name the error, this name and number aside.
	Wordings []string
}

//go:embed errors.tsv
var table string

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
	for _, c := range all() {
		if err == nil && c.Number == n || strings.EqualFold(c.Name, word) || strings.EqualFold(c.Exception, word) ||
			slices.ContainsFunc(c.Wordings, func(w string) bool { return strings.EqualFold(w, word) }) {
			return c, true
		}
	}
	return Code{}, false
}
