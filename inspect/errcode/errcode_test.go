package errcode

import (
	"strings"
	"testing"
)

func TestEveryCodeIsThere(t *testing.T) {
	seen := map[int]bool{}
	for _, c := range All() {
		if seen[c.Number] {
			t.Errorf("%d stands twice", c.Number)
		}
		seen[c.Number] = true
		if c.Name == "" || c.Message == "" || len(c.Wordings) == 0 {
			t.Errorf("%d lacks a name, a message or its wordings: %+v", c.Number, c)
		}
		if (c.Meaning == "") != (c.Do == "") {
			t.Errorf("%s: a meaning without what to do, or the reverse", c.Name)
		}
	}
	for n := -1; n <= 129; n++ {
		if n != 0 && !seen[n] {
			t.Errorf("no row for %d", n)
		}
	}
}

func TestLookup(t *testing.T) {
	for word, want := range map[string]string{
		"25": "UNKNOWN_MEMBER_ID", "unknown_member_id": "UNKNOWN_MEMBER_ID", "UnknownMemberIdException": "UNKNOWN_MEMBER_ID",
		"UnknownMemberIdError": "UNKNOWN_MEMBER_ID", "Kafka::UnknownMemberId": "UNKNOWN_MEMBER_ID", "Broker: Unknown member": "UNKNOWN_MEMBER_ID",
		"[25] Unknown Member ID": "UNKNOWN_MEMBER_ID", "113": "STALE_MEMBER_EPOCH", "GROUP_LOAD_IN_PROGRESS": "COORDINATOR_LOAD_IN_PROGRESS",
		"NOT_COORDINATOR_FOR_GROUP": "NOT_COORDINATOR", "-1": "UNKNOWN_SERVER_ERROR", "35": "UNSUPPORTED_VERSION",
	} {
		if c, ok := Lookup(word); !ok || c.Name != want {
			t.Errorf("%s: %q, want %s", word, c.Name, want)
		}
	}
	for _, word := range []string{"", "0", "NONE", "900", "unknown"} {
		if c, ok := Lookup(word); ok {
			t.Errorf("%q is taken for %s", word, c.Name)
		}
	}
}

// Each code that concerns groups says what it means and what to do.
func TestCodesOfGroupsAreExplained(t *testing.T) {
	for _, n := range []int{14, 15, 16, 22, 23, 24, 25, 26, 27, 30, 35, 68, 69, 79, 81, 82, 110, 111, 112, 113} {
		for _, c := range All() {
			if c.Number == n && c.Meaning == "" {
				t.Errorf("%s (%d) is not explained", c.Name, n)
			}
		}
	}
}

// TestClientsErrors holds the errors of clients themselves to their columns, and their
// wordings to a length by which a log's first look finds them.
func TestClientsErrors(t *testing.T) {
	rows := strings.Count(clientTable, "\n") - 1
	if len(Clients()) != rows || rows < 20 {
		t.Errorf("%d of %d rows have their columns", len(Clients()), rows)
	}
	for _, c := range Clients() {
		if c.Name == "" || c.Meaning == "" || c.Do == "" || !strings.HasSuffix(c.Do, ".") || strings.HasSuffix(c.Meaning, ".") {
			t.Errorf("%q: want a name, a clause and a sentence", c.Name)
		}
		for _, w := range c.Wordings {
			if got, ok := Lookup(w); len(w) < 11 || !ok || got.Name != c.Name {
				t.Errorf("%s: wording %q is too short, or is taken for %q", c.Name, w, got.Name)
			}
		}
	}
}
