package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

type options struct {
	bootstrap, csv, svg string
	length, every       time.Duration
	rate, groups        int
	commits             int
}

func main() {
	var o options
	flag.StringVar(&o.bootstrap, "bootstrap", os.Getenv("KGDIAG_TEST_BOOTSTRAP"), "the cluster; its groups are made by soak")
	flag.DurationVar(&o.length, "for", time.Hour, "how long")
	flag.DurationVar(&o.every, "every", 30*time.Second, "between two samples")
	flag.IntVar(&o.rate, "rate", 200, "rebalances a minute, of all groups together")
	flag.IntVar(&o.groups, "groups", 20, "groups")
	flag.IntVar(&o.commits, "commits", 0, "offset commits a second, of 500 other groups together")
	flag.StringVar(&o.csv, "csv", "", "file of the samples")
	flag.StringVar(&o.svg, "svg", "", "file of the curve")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	if o.bootstrap == "" || o.rate <= 0 || o.groups <= 0 || o.commits < 0 {
		return errors.New("want -bootstrap (or KGDIAG_TEST_BOOTSTRAP), -rate -groups and -commits of no less than 0")
	}
	dir, err := os.MkdirTemp("", "kgdiag-soak-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program, err := build(dir)
	if err != nil {
		return err
	}
	ch, err := newChurn(ctx, o)
	if err != nil {
		return err
	}
	defer ch.close()
	load, err := newCommits(ctx, o)
	defer load.close()
	if err != nil {
		return err
	}
	watches := []*watched{{name: "watch"}, {name: "watch --metrics"}}
	for i, w := range watches {
		args := []string{"watch", "--all-groups", "-b", o.bootstrap, "-o", "json"}
		if i == 1 {
			if w.metrics, err = freeAddress(); err != nil {
				return err
			}
			args = append(args, "--metrics", w.metrics)
		}
		if err := w.start(filepath.Join(dir, fmt.Sprint(i)), program, args); err != nil {
			return err
		}
		defer w.end()
	}
	time.Sleep(5 * time.Second) // both have taken their first look
	before := ch.generations()
	var wg sync.WaitGroup
	churning, stop := context.WithTimeout(ctx, o.length)
	defer stop()
	wg.Go(func() { ch.run(churning) })
	if o.commits > 0 {
		wg.Go(func() { load.run(churning) })
	}
	sample(churning, o.every, watches)
	wg.Wait()
	time.Sleep(10 * time.Second) // what was under way is told
	after := ch.generations()
	want := map[string][]int32{}
	total := 0
	for g := range after {
		for n := before[g] + 1; n <= after[g]; n++ {
			want[g] = append(want[g], n)
		}
		total += len(want[g])
	}
	fmt.Printf("%d rebalances of %d groups in %v: %.0f a minute; %.0f commits a second\n", total, o.groups, o.length, float64(total)/o.length.Minutes(), float64(load.done.Load())/o.length.Seconds())
	var failed []error
	for _, w := range watches {
		failed = append(failed, w.end(), w.told(want), w.flat())
		w.sum()
	}
	return errors.Join(append(failed, write(o, watches))...)
}

// build builds kgdiag with the gauge beside its main.
func build(dir string) (string, error) {
	gauge, err := filepath.Abs("scripts/soak/gauge.go.txt")
	if err != nil {
		return "", err
	}
	main, err := filepath.Abs("soak_gauge.go")
	if err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{main: gauge}})
	if err != nil {
		return "", err
	}
	file, program := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "kgdiag")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		return "", err
	}
	if out, err := exec.Command("go", "build", "-overlay", file, "-o", program, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return program, nil
}

// freeAddress is one that nobody listens on.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// sample notes what the processes take, until ctx ends.
func sample(ctx context.Context, every time.Duration, watches []*watched) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	began := time.Now()
	for {
		for _, w := range watches {
			s := w.look(time.Since(began))
			w.samples = append(w.samples, s)
			fmt.Printf("%-16s %s\n", w.name, s)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// write keeps the samples.
func write(o options, watches []*watched) error {
	var errs []error
	if o.csv != "" {
		var b strings.Builder
		b.WriteString("watch,seconds,rss_bytes,heap_bytes,files,goroutines,cpu_seconds\n")
		for _, w := range watches {
			for _, s := range w.samples {
				fmt.Fprintf(&b, "%s,%.0f,%d,%d,%d,%d,%.1f\n", w.name, s.at.Seconds(), s.rss, s.heap, s.files, s.goroutines, s.cpu.Seconds())
			}
		}
		errs = append(errs, os.WriteFile(o.csv, []byte(b.String()), 0o600))
	}
	if o.svg != "" {
		errs = append(errs, os.WriteFile(o.svg, []byte(draw(watches)), 0o644)) //nolint:gosec // a picture for everybody
	}
	return errors.Join(errs...)
}

// missing are the generations of want that were not told once, in words.
func missing(want map[string][]int32, got map[string][]int32) []string {
	var out []string
	for _, g := range slices.Sorted(maps.Keys(want)) {
		count := map[int32]int{}
		for _, n := range got[g] {
			count[n]++
		}
		for _, n := range want[g] {
			if count[n] != 1 {
				out = append(out, fmt.Sprintf("%s generation %d told %d times", g, n, count[n]))
			}
		}
	}
	return out
}
