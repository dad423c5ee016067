package inspect_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kgdiag/kgdiag/inspect"
)

// TestCausesAreComplete holds each row of the table of causes to what is asked of one.
func TestCausesAreComplete(t *testing.T) {
	name := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	weights := map[int]inspect.Cause{}
	lightest := inspect.Causes()[0]
	for _, c := range inspect.Causes() {
		info := c.Info()
		if info.Cause != c || !name.MatchString(string(c)) {
			t.Errorf("%q: its row is that of %q", c, info.Cause)
		}
		for field, text := range map[string]string{"Seen": info.Seen, "Means": info.Means, "Do": info.Do} {
			if !strings.HasSuffix(text, ".") || text != strings.TrimSpace(text) {
				t.Errorf("%s: %s %q: want a sentence with a full stop", c, field, text)
			}
		}
		if twin, taken := weights[info.Weight]; info.Weight < 1 || taken {
			t.Errorf("%s weighs %d, as %q does: each cause has a weight of its own, from 1", c, info.Weight, twin)
		}
		weights[info.Weight] = c
		if info.Evicts && !(info.Acts && info.Departs && info.Prevented != "") {
			t.Errorf("%s puts members out, so somebody has to act, it is a departure, and some setting prevents it", c)
		}
		if info.Departs && info.Words.Member == "" {
			t.Errorf("%s can be the cause of one member's departure, and has no sentence about one", c)
		}
		if info.Acts && (!lightest.Info().Acts || info.Weight < lightest.Info().Weight) {
			lightest = c
		}
	}
	for _, c := range inspect.Causes() {
		if info := c.Info(); !info.Acts && info.Weight > lightest.Info().Weight {
			t.Errorf("%s outweighs %s, on which somebody has to act", c, lightest)
		}
	}
}

// TestCauseWords holds the sentences to the values that are filled in.
func TestCauseWords(t *testing.T) {
	known := []string{"who", "times", "poll", "session", "rebalance", "back", "first", "joined"}
	brace := regexp.MustCompile(`\{([^}]*)\}`)
	for _, c := range inspect.Causes() {
		w := c.Info().Words
		for _, text := range []string{w.Member, w.Again, w.InBatch, w.Group} {
			for _, m := range brace.FindAllStringSubmatch(text, -1) {
				if !slices.Contains(known, m[1]) {
					t.Errorf("%s: %q: {%s} is filled in nowhere", c, text, m[1])
				}
			}
			if strings.HasSuffix(text, ".") {
				t.Errorf("%s: %q: want no full stop", c, text)
			}
		}
		for _, text := range []string{w.Member, w.Again, w.InBatch} {
			if text != "" && !strings.HasPrefix(text, "{who} ") {
				t.Errorf("%s: %q does not say who", c, text)
			}
		}
	}
}

func TestSentence(t *testing.T) {
	for _, tt := range []struct {
		cause   inspect.Cause
		member  bool
		times   int
		inBatch bool
		want    string
	}{
		{inspect.MemberLeft, true, 1, false, "a left by itself: a clean shutdown, or an unsubscribe"},
		{inspect.MemberLeft, true, 3, false, "a keeps leaving by itself, 3 times: clean shutdowns, or unsubscribes"},
		{inspect.PollIntervalExceeded, true, 3, true, "a needs longer for a batch than 5 s, although it commits every record; it left the group 3 times, and its rejoin triggered another rebalance"},
		{inspect.MemberJoined, false, 1, false, "members joined: +b"},
		{inspect.TopicMetadataChanged, false, 1, false, "The topics behind the subscriptions changed."},
		{inspect.UnknownCause, true, 3, false, "a left 3 times; the cause is not in what was read"},
		{inspect.RollingRestart, true, 1, false, "a rolling restart: 3 of 3"},
	} {
		times := ""
		if tt.times > 1 {
			times = " 3 times"
		}
		got := inspect.FillIn(tt.cause.Info().Sentence(tt.member, tt.times, tt.inBatch), "who", "a", "times", times, "poll", "5 s", "joined", "+b", "first", "3 of 3")
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.cause, got, tt.want)
		}
	}
	if got := inspect.FillIn("{who} went{times}", "who", "{times}", "times", ""); got != "{times} went" {
		t.Errorf("%q: a client's name is no place to fill in", got)
	}
}

// TestNoCause: a word that is no cause has no row, and puts nobody out.
func TestNoCause(t *testing.T) {
	if c := inspect.Cause("bogus"); c.Info() != (inspect.CauseInfo{}) || c.Eviction() {
		t.Errorf("%q is in the table", c)
	}
}

// Each cause has one name on screens, which is read back as the cause, and so is its word
// in documents.
func TestACauseHasOneNameInWords(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range inspect.Causes() {
		label := c.Label()
		if label == "" || seen[label] || strings.Contains(label, "_") {
			t.Errorf("%s: the name %q", c, label)
		}
		seen[label] = true
		for _, word := range []string{string(c), label, c.Info().Name, strings.ToUpper(label)} {
			if got, ok := inspect.ParseCause(word); !ok || got != c {
				t.Errorf("%q is read as %q, want %q", word, got, c)
			}
		}
	}
	if c, ok := inspect.ParseCause("no such cause"); ok {
		t.Errorf("read as %q", c)
	}
}
