package advise

import "testing"

func TestAWholeNumberIsNothingElse(t *testing.T) {
	for value, want := range map[string]int64{"500": 500, " 500 ": 500, "-1": -1, "0": 0, "2147483647": 1<<31 - 1} {
		if n, ok := whole(value); !ok || n != want {
			t.Errorf("%q: %d %v", value, n, ok)
		}
	}
	for _, value := range []string{"", "500x", "5 00", "1e3", "0x10", "1.5", "30s", "99999999999999999999"} {
		if n, ok := whole(value); ok {
			t.Errorf("%q is taken for %d", value, n)
		}
	}
}
