package clientlog

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// sound holds what every event of any text must be.
func sound(t *testing.T, text string) {
	t.Helper()
	_, err := Read(strings.NewReader(text), "f", Options{Day: time.Unix(0, 0)}, Handler{Event: func(e inspect.LogEvent) error {
		if e.From.Line < 1 || len(e.Text) > 400 || strings.ContainsAny(e.Text, "\n\x1b") {
			t.Errorf("bad event %+v", e)
		}
		if e.Length != nil && e.Length.Duration() < 0 || e.Limit != nil && e.Limit.Duration() < 0 {
			t.Errorf("a negative time: %+v", e)
		}
		return nil
	}})
	if err != nil && !errors.Is(err, ErrNotText) && !strings.Contains(err.Error(), "gzip") {
		t.Errorf("%v", err)
	}
}

// FuzzPauses reads lines of a JVM's garbage collection log of any numbers.
func FuzzPauses(f *testing.F) {
	for _, s := range []string{
		"[2026-11-29T14:43:13.123+0000][info][gc] GC(12) Pause Full (G1 Compaction Pause) 1021M->870M(1024M) 12345.678ms",
		"[12.345s][info][gc] GC(1) Pause Young (Normal) 5M->2M(64M) 1,5ms",
		"2026-11-29T14:43:13.123+0100: 12.345: [Full GC (Allocation Failure)  1021M->870M(1024M), 8.5000000 secs]",
		"2026-11-29T14:43:13.123+0100: Total time for which application threads were stopped: 99999999999.5 seconds, Stopping threads took: 0.1 seconds",
		`[2026-11-29T14:43:13.123+0000][info][safepoint] Safepoint "ThreadDump", Time since last: 1000 ns, Reaching safepoint: 200 ns, Cleanup: 10 ns, At safepoint: 300 ns, Total: 9223372036854775807 ns`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		sound(t, text)
		for line := range strings.Lines(text) {
			if e, ok := pause(&logLine{text: strings.TrimSpace(line)}); ok && (e.Length == nil || e.Length.Duration() <= 0) {
				t.Errorf("%q: a pause of %v", line, e.Length)
			}
		}
	})
}

// FuzzEnvelopes puts a sentence of the table into the frame of any library, with any
// text around and within it.
func FuzzEnvelopes(f *testing.F) {
	libraries := slices.Sorted(maps.Keys(frames))
	book := library()
	for i := range libraries {
		f.Add(uint8(i), uint16(37*i), "", "")
	}
	f.Add(uint8(0), uint16(0), "Nov 29 14:43:13 host-1 app[12]: ", "\r")
	f.Add(uint8(1), uint16(3), "{\"log\":\"", "\\n\",\"stream\":\"stdout\"}")
	f.Add(uint8(2), uint16(7), "[pod/shop-0/app] 2026-11-29T14:43:13.123Z ", "\n\tat x.y.Z(Z.java:3)\nCaused by: ")
	f.Fuzz(func(t *testing.T, library uint8, row uint16, before, after string) {
		text, _ := filled(&book.sentences[int(row)%len(book.sentences)])
		frame := frames[libraries[int(library)%len(libraries)]]
		sound(t, before+strings.Replace(frame, "%s", text+after, 1))
	})
}
