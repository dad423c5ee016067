package cmd

import (
	"strings"
	"testing"
	"time"
)

// FuzzTimes reads the flags that take times: a moment that is written as a span or as a
// time of day lies in the past, and a timeout is within its bounds.
func FuzzTimes(f *testing.F) {
	for _, s := range []string{"1h", "2d", "14:43", "23:59:59", "2026-11-29T14:43:13Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "10000w", "30", "30s", "5000", "86400001", "-1h", "24:00"} {
		f.Add(s)
	}
	a, _, _ := testApp()
	now := a.now()
	f.Fuzz(func(t *testing.T, s string) {
		at, err := a.parseMoment("--since", s, now)
		if err == nil && !strings.Contains(s, "T") && (at.After(now) || now.Sub(at) < 0) {
			t.Errorf("--since %q is %v", s, at)
		}
		if d, err := parseTimeout("--timeout", s); err == nil && (d <= 0 || d > 24*time.Hour) {
			t.Errorf("--timeout %q is %v", s, d)
		}
		if d, err := parseSpan("--for", s); err == nil && d <= 0 {
			t.Errorf("--for %q is %v", s, d)
		}
		if list, err := parseWhatIf([]string{s}); err == nil && list == nil {
			t.Errorf("--what-if %q is nothing", s)
		}
	})
}
