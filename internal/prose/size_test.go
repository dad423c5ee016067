package prose

import (
	"testing"
	"time"
)

func TestSizes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", -5: "0 B", 7: "7 B", 999: "999 B", 1300: "1.3 kB", 25_000: "25 kB", 200_000_000: "200 MB", 1_340_000_000: "1.3 GB"} {
		if got := Size(n); got != want {
			t.Errorf("Size(%d) = %q, want %q", n, got, want)
		}
	}
	for text, want := range map[string]int64{"200MB": 200_000_000, "1.5 GB": 1_500_000_000, "10kb": 10_000, "64MiB": 64 << 20, "512B": 512} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "200", "MB", "-5MB", "0MB", "5 parsecs", "1.2.3MB"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("ParseSize(%q) = %d, want an error", text, got)
		}
	}
}

func TestProgress(t *testing.T) {
	for _, tt := range []struct {
		done, total, bytes int64
		took               time.Duration
		want               string
	}{
		{50, 200, 31_000_000, time.Second, "25%  31 MB"},
		{50, 200, 31_000_000, 4 * time.Second, "25%  31 MB  12s left"},
		{200, 200, 31_000_000, 4 * time.Second, "100%  31 MB"},
		{0, 200, 1000, 4 * time.Second, "0%  1.0 kB"},
		{50, 200, 0, 4 * time.Second, "25%"},
	} {
		if got := Progress(tt.done, tt.total, tt.bytes, tt.took); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
