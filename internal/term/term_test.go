package term

import "testing"

func TestUseColorFollowsFlagThenEnvironmentThenStream(t *testing.T) {
	env := func(kv ...string) func(string) string {
		return func(k string) string {
			for i := 0; i+1 < len(kv); i += 2 {
				if kv[i] == k {
					return kv[i+1]
				}
			}
			return ""
		}
	}
	for _, tc := range []struct {
		name string
		mode ColorMode
		tty  bool
		env  func(string) string
		want bool
	}{
		{"terminal", ColorAuto, true, env(), true},
		{"pipe", ColorAuto, false, env(), false},
		{"NO_COLOR", ColorAuto, true, env("NO_COLOR", "0"), false},
		{"empty NO_COLOR is unset", ColorAuto, true, env("NO_COLOR", ""), true},
		{"dumb terminal", ColorAuto, true, env("TERM", "dumb"), false},
		{"flag beats NO_COLOR", ColorAlways, false, env("NO_COLOR", "1"), true},
		{"never", ColorNever, true, env(), false},
	} {
		if got := UseColor(tc.mode, tc.tty, tc.env); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

func TestPainterWithoutColourChangesNothing(t *testing.T) {
	if got := NewPainter(false).Paint(Bad, "error"); got != "error" {
		t.Errorf("got %q", got)
	}
	if got := NewPainter(true).Paint(Bad, "error"); got == "error" || len(got) < 10 {
		t.Errorf("colour is on but text is %q", got)
	}
}
