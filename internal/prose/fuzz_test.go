package prose

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	spanPart  = regexp.MustCompile(`([0-9.]+)([^0-9.]+)`)
	spanUnits = map[string]float64{"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800} // seconds
)

// FuzzParseSpan holds durations of flags to the sum of their parts, so that no number is
// so large that it comes round again.
func FuzzParseSpan(f *testing.F) {
	for _, s := range []string{"90s", "1h30m", "2d", "1w", "1.5h", "10000w", "9999w9999w9999w9999w", "0s", "1ms1us", "-5s", "1e3s", "٣s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := ParseSpan(s)
		if err != nil {
			if d != 0 || !strings.Contains(err.Error(), "want a duration") {
				t.Errorf("%q: %v beside %v", s, d, err)
			}
			return
		}
		if d <= 0 {
			t.Errorf("%q: %v", s, d)
		}
		sum := 0.0
		for _, part := range spanPart.FindAllStringSubmatch(s, -1) {
			n, err := strconv.ParseFloat(part[1], 64)
			if err != nil {
				t.Fatalf("%q: %v", s, err)
			}
			sum += n * spanUnits[part[2]]
		}
		if off := math.Abs(sum - d.Seconds()); off > sum/1e6+1e-6 {
			t.Errorf("%q is %v, want %v s", s, d, sum)
		}
	})
}

// FuzzParseSize: a size is at least one byte, and what Size writes of it is read back
// within its two figures.
func FuzzParseSize(f *testing.F) {
	for _, s := range []string{"200MB", "1.5 GB", "64MiB", "1B", "1e9MB", "0.9B", ".kB", "999999GB", "NaNMB"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := ParseSize(s)
		if err != nil {
			return
		}
		if n < 1 || n > 1e15 {
			t.Fatalf("%q: %d bytes", s, n)
		}
		again, err := ParseSize(Size(n))
		if err != nil || float64(again) < 0.94*float64(n) || float64(again) > 1.06*float64(n) {
			t.Errorf("%q: %d bytes, written %s, read %d, %v", s, n, Size(n), again, err)
		}
	})
}
