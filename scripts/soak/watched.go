package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// watched is one kgdiag watch.
type watched struct {
	name    string
	out     string // file of its stdout
	gauge   string
	metrics string // where it is scraped; "" not
	scrapes int    // that were answered
	cmd     *exec.Cmd
	done    chan struct{}
	samples []taken
}

// taken is what the process takes at one moment.
type taken struct {
	at         time.Duration
	rss, heap  int64 // bytes
	files      int
	goroutines int
	cpu        time.Duration // since the start
}

func (s taken) String() string {
	return fmt.Sprintf("%6.0f s  %5.1f MiB  heap %5.1f MiB  %3d files  %3d goroutines  %6.1f s of processor", s.at.Seconds(), float64(s.rss)/(1<<20), float64(s.heap)/(1<<20), s.files, s.goroutines, s.cpu.Seconds())
}

func (w *watched) start(base, program string, args []string) error {
	w.out, w.gauge, w.done = base+".out", base+".gauge", make(chan struct{})
	out, err := os.Create(w.out)
	if err != nil {
		return err
	}
	errs, err := os.Create(base + ".err")
	if err != nil {
		return err
	}
	w.cmd = exec.Command(program, args...)
	w.cmd.Stdout, w.cmd.Stderr = out, errs
	w.cmd.Env = append(os.Environ(), "KGDIAG_SOAK_GAUGE="+w.gauge, "HOME="+filepath.Dir(base))
	if err := w.cmd.Start(); err != nil {
		return err
	}
	go func() { _ = w.cmd.Wait(); out.Close(); errs.Close(); close(w.done) }()
	return nil
}

// end is Ctrl-C; the error is for another exit code than 0.
func (w *watched) end() error {
	_ = w.cmd.Process.Signal(syscall.SIGINT)
	select {
	case <-w.done:
	case <-time.After(10 * time.Second):
		_ = w.cmd.Process.Kill()
		<-w.done
	}
	if code := w.cmd.ProcessState.ExitCode(); code != 0 {
		text, _ := os.ReadFile(strings.TrimSuffix(w.out, ".out") + ".err")
		return fmt.Errorf("%s: exit %d\n%s", w.name, code, text)
	}
	return nil
}

// look is what the process takes now; zeros where it has ended.
func (w *watched) look(at time.Duration) taken {
	s := taken{at: at}
	proc := fmt.Sprintf("/proc/%d/", w.cmd.Process.Pid)
	if b, err := os.ReadFile(proc + "statm"); err == nil {
		if f := strings.Fields(string(b)); len(f) > 1 {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			s.rss = n * int64(os.Getpagesize())
		}
	}
	if list, err := os.ReadDir(proc + "fd"); err == nil {
		s.files = len(list)
	}
	if b, err := os.ReadFile(proc + "stat"); err == nil {
		// After the name in brackets; utime and stime in hundredths of a second.
		if f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:])); len(f) > 12 {
			user, _ := strconv.Atoi(f[11])
			system, _ := strconv.Atoi(f[12])
			s.cpu = time.Duration(user+system) * 10 * time.Millisecond
		}
	}
	if w.metrics != "" {
		w.scrape()
	}
	if b, err := os.ReadFile(w.gauge); err == nil {
		_, _ = fmt.Sscan(string(b), &s.goroutines, &s.heap)
	}
	return s
}

// scrape asks for the metrics, as Prometheus does.
func (w *watched) scrape() {
	client := http.Client{Timeout: 10 * time.Second}
	resp, err := client.Get("http://" + w.metrics + "/metrics")
	if err != nil {
		return
	}
	defer client.CloseIdleConnections()
	defer resp.Body.Close()
	if n, err := io.Copy(io.Discard, resp.Body); err == nil && n > 0 && resp.StatusCode == http.StatusOK {
		w.scrapes++
	}
}

// told holds the lines of the watch to the generations that were.
func (w *watched) told(want map[string][]int32) error {
	f, err := os.Open(w.out)
	if err != nil {
		return err
	}
	defer f.Close()
	got := map[string][]int32{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var e struct {
			Type, Group string
			Generation  int32
		}
		if json.Unmarshal(lines.Bytes(), &e) == nil && e.Type == "rebalance" {
			got[e.Group] = append(got[e.Group], e.Generation)
		}
	}
	total := 0
	for g := range want {
		total += len(got[g])
	}
	wrong := missing(want, got)
	fmt.Printf("%-16s told of %d generations, %d of them wrong\n", w.name, total, len(wrong))
	if len(wrong) > 0 {
		return fmt.Errorf("%s: %s", w.name, strings.Join(wrong[:min(len(wrong), 10)], ", "))
	}
	return lines.Err()
}

// part is the median of one number in the samples from one share of the time to another.
func (w *watched) part(from, to float64, of func(taken) int64) int64 {
	n := float64(len(w.samples))
	var list []int64
	for _, s := range w.samples[int(from*n):min(max(int(to*n), 1), len(w.samples))] {
		list = append(list, of(s))
	}
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[len(list)/2]
}

// flat is an error for each number that is higher in the last quarter than in the third.
// The first half is left out: what is judged by the last hour is collected in it, and
// forgetting begins.
func (w *watched) flat() error {
	var grew []error
	for _, n := range []struct {
		what  string
		slack float64
		room  int64 // that a sawtooth may take
		of    func(taken) int64
	}{
		{"heap", 1.1, 4 << 20, func(s taken) int64 { return s.heap }},
		{"memory", 1.05, 2 << 20, func(s taken) int64 { return s.rss }},
		{"open files", 1, 3, func(s taken) int64 { return int64(s.files) }},
		{"goroutines", 1, 3, func(s taken) int64 { return int64(s.goroutines) }},
	} {
		before, after := w.part(0.5, 0.75, n.of), w.part(0.75, 1, n.of)
		if float64(after) > n.slack*float64(before)+float64(n.room) {
			grew = append(grew, fmt.Errorf("%s: %s grew from %d in the third quarter to %d in the last", w.name, n.what, before, after))
		}
	}
	return errors.Join(grew...)
}

// sum prints the medians of each quarter.
func (w *watched) sum() {
	if w.metrics != "" {
		fmt.Printf("%-16s %d of %d scrapes answered\n", w.name, w.scrapes, len(w.samples))
	}
	for q := range 4 {
		from, to := float64(q)/4, float64(q+1)/4
		fmt.Printf("%-16s quarter %d: %d MiB, heap %d MiB, %d files, %d goroutines\n", w.name, q+1, w.part(from, to, func(s taken) int64 { return s.rss })>>20,
			w.part(from, to, func(s taken) int64 { return s.heap })>>20, w.part(from, to, func(s taken) int64 { return int64(s.files) }), w.part(from, to, func(s taken) int64 { return int64(s.goroutines) }))
	}
}
