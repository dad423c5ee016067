package explain

import (
	"strings"
	"testing"

	"github.com/kgdiag/kgdiag/inspect/errcode"
)

// Every code is explained by number, name and exception, and every tag leads to what
// exists.
func TestErrorsOfKafka(t *testing.T) {
	for _, c := range errcode.All() {
		if topic, err := About(c.Name); err != nil || topic.Term == nil || !strings.Contains(topic.Term.Text, "error") {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
	for word, part := range map[string]string{"25": "evicted", "UnknownMemberIdError": "evicted", "fenced_instance_id": "group.instance.id", "SESSTMOUT": "coordinator",
		"CommitFailedException": "no longer in the group", "maxpoll": "max.poll.interval.ms"} {
		if topic, err := About(word); err != nil || topic.Term == nil || !strings.Contains(topic.Term.Text, part) {
			t.Errorf("%s: %+v, %v; want %q", word, topic.Term, err, part)
		}
	}
	for _, g := range tags {
		for _, see := range g.See {
			if _, err := About(see); err != nil {
				t.Errorf("%s: see %s: %v", g.Word, see, err)
			}
		}
	}
	if _, err := About("900"); err == nil {
		t.Error("900 is explained")
	}
}

// The cross references of the glossary lead to what exists.
func TestGlossaryLinks(t *testing.T) {
	for _, g := range Terms() {
		for _, see := range g.See {
			if _, err := About(see); err != nil {
				t.Errorf("%s: see %s: %v", g.Word, see, err)
			}
		}
	}
}

// A word has one meaning among the terms, whatever its case: of two the second would
// never be shown.
func TestTermsAreOne(t *testing.T) {
	seen := map[string]string{}
	for _, g := range Terms() {
		own := map[string]bool{}
		for _, w := range append([]string{g.Word}, g.Also...) {
			if other, ok := seen[keyOf(w)]; ok && !own[keyOf(w)] {
				t.Errorf("%q is a word of %s and of %s", w, other, g.Word)
			}
			seen[keyOf(w)], own[keyOf(w)] = g.Word, true
		}
	}
}

// watch ends its lines in the word that is explained.
func TestIncidentIsWhatWatchPrints(t *testing.T) {
	if topic, err := About("incident"); err != nil || topic.Word != "incident" || strings.Contains(topic.Term.Text, "#") {
		t.Errorf("%+v, %v", topic.Term, err)
	}
}
