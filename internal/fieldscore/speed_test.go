package fieldscore

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The log that is measured: the healthy recordings, laid out hour after hour as in
// TestAHundredHealthyHours, each line among others of the application.
const (
	measuredBytes = 1_000_000_000
	besideEach    = 20
)

var applicationLines = []string{
	"%s INFO  [http-nio-8080-exec-%d] c.e.orders.api.OrderController : GET /orders/%d took 12ms\n",
	"%s DEBUG [pool-3-thread-%d] o.h.SQL : select o1_0.id,o1_0.customer_id,o1_0.total from orders o1_0 where o1_0.id=%d\n",
	"{\"timestamp\":\"%s\",\"level\":\"INFO\",\"logger\":\"com.example.shipping.Worker\",\"thread\":\"worker-%d\",\"message\":\"shipment %d packed\"}\n",
	"%s WARN  [scheduling-%d] c.e.orders.jobs.Reminder : customer %d has no address, reminder left out\n",
	"time=\"%s\" level=info msg=\"request served\" worker=%d path=/stock/%d status=200\n",
}

// TestSpeedOfLogs is a measurement, not a test: scripts/bench --only logs runs it, next to
// grep on the same file.
//
//	KGDIAG_BENCH_BINARY  kgdiag
//	KGDIAG_BENCH_DOC     Markdown to which the result is added; without it, it is only logged
func TestSpeedOfLogs(t *testing.T) {
	if os.Getenv("KGDIAG_BENCH") == "" {
		t.Skip("a measurement, not a test: scripts/bench runs it")
	}
	name := filepath.Join(t.TempDir(), "mixed.log")
	lines, size := mixedLog(t, name)
	least := [2]time.Duration{}
	var cpu time.Duration
	var peak int64
	for turn := range 3 {
		for i, args := range [][]string{{"grep", "-c", "rebalanc", name}, {os.Getenv("KGDIAG_BENCH_BINARY"), "advise", "--fail-on", "never", "--log", name}} {
			c := exec.CommandContext(t.Context(), args[0], args[1:]...)
			began := time.Now()
			if out, err := c.CombinedOutput(); err != nil {
				t.Fatalf("%v: %v\n%.500s", args, err, out)
			}
			d := time.Since(began)
			if turn == 0 || d < least[i] {
				least[i] = d
			}
			if i == 1 {
				if used := c.ProcessState.UserTime() + c.ProcessState.SystemTime(); turn == 0 || used < cpu {
					cpu = used
				}
				peak = max(peak, c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
			}
		}
	}
	text := fmt.Sprintf("\n## A log of a gigabyte\n\nThe healthy recordings of ten clients, hour after hour in one file, each line among %d of an application: %.2f GB, %d lines. In turns, the least of\n"+
		"three: `grep -c rebalanc` %.2f s, `advise --log` %.1f s (%.0f times as long; %.1f s of processor), at most %d MiB.\n",
		besideEach, float64(size)/1e9, lines, least[0].Seconds(), least[1].Seconds(), least[1].Seconds()/least[0].Seconds(), cpu.Seconds(), peak>>10)
	t.Log(text)
	if doc := os.Getenv("KGDIAG_BENCH_DOC"); doc != "" {
		old, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		before, _, _ := strings.Cut(string(old), "\n## A log of a gigabyte")
		if err := os.WriteFile(doc, []byte(strings.TrimRight(before, "\n")+"\n"+text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func mixedLog(t *testing.T, name string) (lines, size int) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	paths, err := filepath.Glob("testdata/healthy/*/app.log")
	if err != nil {
		t.Fatal(err)
	}
	put := func(s string) {
		n, _ := w.WriteString(s) // Flush tells
		lines, size = lines+1, size+n
	}
	for hour := 0; size < measuredBytes; hour++ {
		stamp := "2026-11-30T12:00:00"
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(later(string(text), time.Duration(hour)*time.Hour)) {
				if at := clock.FindString(line); at != "" {
					stamp = at
				}
				put(line)
				for i := range besideEach {
					put(fmt.Sprintf(applicationLines[i%len(applicationLines)], stamp, i, lines))
				}
			}
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return lines, size
}
