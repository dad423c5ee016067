package top

import (
	"slices"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/advise/diagnose"
	"github.com/kgdiag/kgdiag/inspect"
)

// A member that came after the groups were described is known as well as the others: its
// record tells the timeouts and the library, without which the advice would be another.
func TestAMemberThatCameBackIsKnownByItsRecord(t *testing.T) {
	c, _ := recorded()
	b := newBook(time.Hour)
	b.takePast(c)
	var orders inspect.Group
	for _, g := range c.Groups {
		if g.ID == "orders" {
			orders = g
		}
	}
	full := b.sights(&inspect.Case{Window: c.Window}, []string{"orders"}, "")[0]
	words, settings := fix(&full.Diagnosis)
	if settings != "# if its host and what it calls are fast\nmax.poll.interval.ms=300000" {
		t.Fatalf("fix %q", words)
	}
	// The same, but the member that misbehaves was out when the group was described.
	seen := inspect.Observation{Group: "orders", From: c.Window.To, To: c.Window.To, State: "Stable", Coordinator: orders.Coordinator.ID}
	seen.From.Time, seen.To.Time = seen.From.Add(time.Second), seen.To.Add(time.Second)
	var without []inspect.Member
	for _, m := range orders.Members {
		id := m.MemberID
		if m.ClientID == full.Member {
			id = "another-process" // whose record is not there yet
		} else {
			without = append(without, m)
		}
		seen.Members = append(seen.Members, inspect.ObservedMember{MemberID: id, ClientID: m.ClientID, Host: m.Host, Assignment: m.Assignment})
	}
	if len(without) == len(orders.Members) {
		t.Fatal("the recorded case has no member that misbehaves")
	}
	past := *c
	past.Groups = slices.Clone(c.Groups)
	for i := range past.Groups {
		if past.Groups[i].ID == "orders" {
			past.Groups[i].Members = without
		}
	}
	b.past = &past
	later := c.Window
	later.To = seen.To
	got := b.sights(&inspect.Case{Window: later, Observations: []inspect.Observation{seen}}, []string{"orders"}, "")[0]
	if again, _ := fix(&got.Diagnosis); again != words {
		t.Errorf("fix %q, want %q", again, words)
	}
	if *got.Members != len(orders.Members) {
		t.Errorf("%d members", *got.Members)
	}
}

// A setting that helps in one case alone says which, on the screen, in what is copied and
// in the line that shows what was copied, where the setting comes first.
func TestAConditionGoesWithTheSetting(t *testing.T) {
	d := diagnose.Diagnosis{Findings: []advise.Finding{{ID: "KGD201", Fix: &advise.Fix{Set: map[string]string{"session.timeout.ms": "30000"},
		If: "if the process only paused", Else: "if it crashed: nothing to set"}}}}
	words, settings := fix(&d)
	if words != "if the process only paused: session.timeout.ms=30000 (KGD201); if it crashed: nothing to set" {
		t.Errorf("on the screen: %q", words)
	}
	const comment = "# if the process only paused; if it crashed: nothing to set"
	if settings != comment+"\nsession.timeout.ms=30000" {
		t.Errorf("copied: %q", settings)
	}
	if got := shownCopy(settings); got != "session.timeout.ms=30000  "+comment {
		t.Errorf("shown: %q", got)
	}
	if got := shownCopy("a=1\nb=2"); got != "a=1  b=2" {
		t.Errorf("two settings: %q", got)
	}
}
