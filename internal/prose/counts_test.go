package prose

import "testing"

func TestShellWord(t *testing.T) {
	for in, want := range map[string]string{"orders-1": "orders-1", "a b": "'a b'", "it's": `'it'\''s'`, "": "''", "$x": "'$x'"} {
		if got := ShellWord(in); got != want {
			t.Errorf("%q: %s", in, got)
		}
	}
}

func TestRanges(t *testing.T) {
	for _, tc := range []struct {
		names []string
		most  int
		want  string
	}{
		{[]string{"orders-9", "orders-8", "refunds-3", "orders-10", "orders-11"}, 4, "orders-8..11, refunds-3"},
		{[]string{"a-b-2", "a-b-4", "a-b-5"}, 4, "a-b-2, a-b-4..5"},
		{[]string{"t-1", "t-3", "t-5"}, 2, "t-1, t-3, and 1 more"},
		{[]string{"no number", "-4", "x-"}, 4, ""},
		{nil, 4, ""},
	} {
		if got := Ranges(tc.names, tc.most); got != tc.want {
			t.Errorf("%q: %q, want %q", tc.names, got, tc.want)
		}
	}
}

func TestCounts(t *testing.T) {
	for n, want := range map[int]string{1: "1 broker", 0: "0 brokers", 41320: "41,320 brokers"} {
		if got := Plural(n, "broker"); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
	if got := Count(-1234567); got != "-1,234,567" {
		t.Error(got)
	}
}
