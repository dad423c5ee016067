package prose

import "testing"

func TestClipAndMiddleCountColumns(t *testing.T) {
	for _, c := range []struct {
		s            string
		width        int
		clip, middle string
	}{
		{"orders", 6, "orders", "orders"},
		{"orders-service-7f9c", 10, "orders-se…", "order…7f9c"},
		{"注文サービス", 7, "注文サ…", "注…ス"},
		{"orders", 2, "o…", "o…"},
		{"orders", 1, "…", "…"},
		{"orders", 0, "", ""},
	} {
		if got := Clip(c.s, c.width); got != c.clip {
			t.Errorf("Clip(%q, %d) = %q, want %q", c.s, c.width, got, c.clip)
		}
		if got := Middle(c.s, c.width); got != c.middle || Width(got) > c.width {
			t.Errorf("Middle(%q, %d) = %q of %d columns, want %q", c.s, c.width, got, Width(got), c.middle)
		}
	}
	if got := Pad("注", 4); got != "注  " {
		t.Errorf("Pad: %q", got)
	}
}
