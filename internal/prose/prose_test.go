package prose

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestDurations(t *testing.T) {
	const s, m, h = time.Second, time.Minute, time.Hour
	for _, tc := range []struct {
		d           time.Duration
		span, exact string
	}{
		{0, "0ms", "0s"},
		{350 * time.Millisecond, "350ms", "350ms"},
		{8240 * time.Millisecond, "8.2s", "8.24s"},
		{2 * s, "2s", "2s"},
		{2010 * time.Millisecond, "2.0s", "2.01s"},
		{19960 * time.Millisecond, "19s", "19.96s"},
		{45 * s, "45s", "45s"},
		{5 * m, "5m", "5m"},
		{7*m + 29*s + 600*time.Millisecond, "7m29s", "7m29s600ms"},
		{h, "1h", "1h"},
		{h + 30*m + 5*s, "1h30m", "1h30m05s"},
		{218 * h, "9d02h", "9d02h"},
		{48*h + 3*m, "2d", "2d03m"},
		{-90 * s, "-1m30s", "-1m30s"},
	} {
		got := []string{Span(tc.d), Exact(tc.d)}
		if want := []string{tc.span, tc.exact}; !slices.Equal(got, want) {
			t.Errorf("%v: %q, want %q", tc.d, got, want)
		}
	}
}

func TestWholeSeconds(t *testing.T) {
	for d, want := range map[time.Duration]time.Duration{0: 0, 1: time.Second, time.Second: time.Second, 1001 * time.Millisecond: 2 * time.Second} {
		if got := WholeSeconds(d); got != want {
			t.Errorf("%v: %v, want %v", d, got, want)
		}
	}
}

func TestWrapCountsColumns(t *testing.T) {
	for _, tc := range []struct {
		text  string
		width int
		want  []string
	}{
		{"", 10, nil},
		{"one two  three", 7, []string{"one two", "three"}},
		{"averylongword ok", 5, []string{"averylongword", "ok"}},
		{"消費者 消費者", 12, []string{"消費者", "消費者"}}, // two columns each
		{"消費者 消費者", 13, []string{"消費者 消費者"}},
		{"zo\u0308e says", 8, []string{"zo\u0308e says"}}, // a combining mark takes none
	} {
		if got := Wrap(tc.text, tc.width); !slices.Equal(got, tc.want) {
			t.Errorf("%q at %d: %q, want %q", tc.text, tc.width, got, tc.want)
		}
	}
}

func TestAFewOfMany(t *testing.T) {
	words := []string{"a", "b", "c", "d"}
	if got := Few(words, 4); got != "a, b, c, d" {
		t.Error(got)
	}
	if got := Few(words, 2); got != "a, b and 2 more" {
		t.Error(got)
	}
	if got := strings.Join(First(words, 3), " "); got != "a b c and 1 more" {
		t.Error(got)
	}
	if got := First(words, 4); !slices.Equal(got, words) {
		t.Error(got)
	}
	if words[3] != "d" {
		t.Errorf("the words given were changed: %q", words)
	}
}

func TestNearest(t *testing.T) {
	words := []string{"session.timeout.ms", "sasl.mechanism", "group.id", "Group.Id"}
	for _, tc := range []struct {
		word string
		most int
		want string
	}{
		{"sesion.timeout.ms", 3, "session.timeout.ms"},
		{"GRUOP.ID", 1, "group.id"}, // a swap is one edit; the first of two as near
		{"group.id", 0, "group.id"},
		{"gruop.ix", 1, ""},
		{"", 2, ""},
	} {
		if got := Nearest(tc.word, words, tc.most); got != tc.want {
			t.Errorf("%q within %d: %q, want %q", tc.word, tc.most, got, tc.want)
		}
	}
}

func TestNearestFew(t *testing.T) {
	ids := []string{"orders", "orders-eu", "payments", "Billing", "o", "order", "inventory-service", "x1", "x2", "x3", "x4"}
	for name, want := range map[string][]string{
		"ordres":            {"orders", "order"},
		"Orders":            {"orders", "order"},
		"billing":           {"Billing"},
		"paymnets":          {"payments"},
		"inventory":         {"inventory-service"},
		"inventory-servcie": {"inventory-service"},
		"zzz":               nil,
		"x":                 {"o", "x1", "x2"},
		"orders":            {"order"},
	} {
		if got := NearestFew(name, ids); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"ab", "ba", 1}, {"orders", "ordres", 1}, {"kitten", "sitting", 3}, {"消費者", "消費", 1}, {"abcdef", "uvwxyz", 5}} {
		if got := distance(tc.a, tc.b, 4); got != tc.want {
			t.Errorf("%q to %q: %d, want %d", tc.a, tc.b, got, tc.want)
		}
		if x, y := distance(tc.a, tc.b, 9), distance(tc.b, tc.a, 9); x != y {
			t.Errorf("%q to %q: %d one way, %d the other", tc.a, tc.b, x, y)
		}
	}
}

func TestRounded(t *testing.T) {
	for given, want := range map[time.Duration]time.Duration{
		297940 * time.Millisecond: 298 * time.Second, 9960 * time.Millisecond: 10 * time.Second, 1840 * time.Millisecond: 1800 * time.Millisecond, 0: 0,
	} {
		if got := Rounded(given); got != want {
			t.Errorf("%s: got %s, want %s", given, got, want)
		}
	}
}
