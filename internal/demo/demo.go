package demo

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
)

// Options are what the demo needs from its caller.
type Options struct {
	Out io.Writer
	// Run runs a kgdiag command line on the streams of the demo and returns its exit code.
	Run func(ctx context.Context, args []string) int
	// Has says whether this build has a command; steps with others are left out.
	Has func(command string) bool
	// Program is how the user calls kgdiag, for the lines to copy.
	Program string
	// Emphasis marks headings; nil leaves them plain.
	Emphasis func(string) string

	warmUp time.Duration // tests do not wait for the usual one
}

// step is one command of the tour.
type step struct {
	why  string   // what the reader asks at this point
	args []string // without -b
	ok   []int    // exit codes besides 0 that the story expects
	then string   // what to see in the output
	bad  bool     // wait until the consumers misbehave
}

// tour is the story from the alert to the setting.
func tour() []step {
	return []step{
		{
			why:  "An alert says that consumer groups keep rebalancing. Which broker coordinates them: do they share one?",
			args: []string{"locate", stalls, flaps, healthy},
			then: "each id hashes to one partition of __consumer_offsets, whose leader is the coordinator; the brokers were asked and agree",
		},
		{
			why:  "What does the group look like now?",
			args: []string{"describe", stalls},
			then: "MAX POLL is max.poll.interval.ms as Java clients send it: 5s here stands for the usual 5 minutes, to spare you the wait",
		},
		{
			why:  "The same while it runs: ten seconds, live.",
			args: []string{"watch", stalls, flaps, "--for", "10s"},
			bad:  true,
			then: "consumer-orders-3 works 8s on a batch and leaves the group after 5s; consumer-payments-2 pauses for 8s and its session of 6s expires; billing is not watched, it is calm",
		},
		{
			why:  "The same afterwards, read from the offsets log.",
			args: []string{"history", stalls, "--since", "1m"},
			then: "no agent had to run: the log that the coordinator writes anyway is the flight recorder",
		},
		{
			why:  "Is it the only group in trouble?",
			args: []string{"why"},
			then: "all groups, worst first, and whether they have something in common",
		},
		{
			why:  "Why?",
			args: []string{"why", stalls},
			then: "the verdict with its evidence, what it cost, and the setting",
		},
		{
			why:  "The team knows that a batch may take 8s and that machines pause for up to 8s. Which settings fit that?",
			args: []string{"advise", stalls, flaps, healthy, "--batch-time", "8s", "--gc-pause", "8s"},
			ok:   []int{1},
			then: "exit code 1: a finding of severity error, which is how a pipeline would notice",
		},
	}
}

// FirstLine is printed before anything else happens.
const FirstLine = "kgdiag demo: a simulated cluster inside this process; there is no Kafka here, and no real cluster is touched."

// Tour runs the demo: it starts the cluster, runs the commands on it with a line
// about each, and ends everything. A cancelled ctx ends it at any point with ctx's
// error. Failed commands are an error at the end.
func Tour(ctx context.Context, o Options) error {
	say := o.printer()
	say("%s\n", FirstLine)
	say("starting 3 brokers and 7 consumers: %s is healthy, %s has a consumer too slow for its poll interval,\n", healthy, stalls)
	say("%s has one that pauses for longer than its session. They are franz-go clients made to look like Java ones;\n", flaps)
	if err := say("the slow one imitates Java's watchdog: it leaves when it has not polled in time, and rejoins at its next poll.\n"); err != nil {
		return err
	}
	w, err := start(ctx, o.warmTime())
	if err != nil {
		return o.ended(ctx, err)
	}
	defer w.close()
	steps := o.available(tour())
	var failed []string
	for i, s := range steps {
		code, err := o.step(ctx, w, i+1, len(steps), s)
		if err != nil {
			return err
		}
		if code != 0 {
			failed = append(failed, fmt.Sprintf("%s ended with exit code %d", s.args[0], code))
		}
	}
	say("\n%s\n", o.heading("On your own cluster"))
	first := "watch -b HOST:PORT GROUP   rebalances as they happen"
	if o.Has == nil || o.Has("why") {
		first = "why -b HOST:PORT           all groups, worst first"
	}
	if err := say("%s %s\n%s demo --serve               this cluster, for a second terminal\n", o.Program, first, o.Program); err != nil {
		return err
	}
	if len(failed) > 0 {
		return fmt.Errorf("demo: %s", strings.Join(failed, ", "))
	}
	return nil
}

// step explains and runs one command; code is not 0 only where the story did not
// expect it.
func (o Options) step(ctx context.Context, w *workload, i, n int, s step) (code int, err error) {
	say := o.printer()
	args := append(append([]string{}, s.args...), "-b", w.c.Addrs()[0])
	if err := say("\n%s\n$ kgdiag %s\n", o.heading(fmt.Sprintf("%d/%d  %s", i, n, s.why)), strings.Join(args, " ")); err != nil {
		return 0, err
	}
	if s.bad {
		<-w.warm
	}
	code = o.Run(ctx, args)
	if ctx.Err() != nil {
		return 0, o.ended(ctx, ctx.Err())
	}
	for _, ok := range append([]int{0}, s.ok...) {
		if code == ok {
			if code != 0 || len(s.ok) == 0 {
				err = say("(%s)\n", s.then)
			}
			return 0, err
		}
	}
	return code, say("(exit code %d: this was not expected)\n", code)
}

// Serve starts the cluster and keeps it up until ctx ends, which is its regular end.
func Serve(ctx context.Context, o Options) error {
	say := o.printer()
	if err := say("%s\n", FirstLine); err != nil {
		return err
	}
	w, err := start(ctx, o.warmTime())
	if err != nil {
		return o.ended(ctx, err)
	}
	defer w.close()
	b := w.c.Addrs()[0]
	say("groups: %s (healthy), %s (a consumer too slow for its poll interval), %s (one that pauses longer than its session)\n", healthy, stalls, flaps)
	say("brokers: %s\n\nin a second terminal:\n", w.c.Bootstrap())
	for _, s := range o.available(tour()) {
		say("  %s %s -b %s\n", o.Program, strings.Join(s.args, " "), b)
	}
	if err := say("\nCtrl-C ends it\n"); err != nil {
		return err
	}
	<-ctx.Done()
	return say("simulated cluster stopped\n")
}

func (o Options) warmTime() time.Duration {
	if o.warmUp > 0 {
		return o.warmUp
	}
	return warmUp
}

// available are the steps whose command this build has.
func (o Options) available(steps []step) []step {
	var out []step
	for _, s := range steps {
		if o.Has == nil || o.Has(s.args[0]) {
			out = append(out, s)
		}
	}
	return out
}

// ended prefers the reason why ctx ended to whatever failed because of it.
func (o Options) ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("demo: %w", err)
}

// printer writes to Out until the first error, which it returns from then on.
func (o Options) printer() func(format string, args ...any) error {
	var failed error
	return func(format string, args ...any) error {
		if failed == nil {
			_, failed = fmt.Fprintf(o.Out, format, args...)
		}
		return failed
	}
}

func (o Options) heading(s string) string {
	if o.Emphasis == nil {
		return s
	}
	return o.Emphasis(s)
}
