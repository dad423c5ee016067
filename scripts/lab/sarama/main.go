// Command sarama is a consumer of IBM's client that works at a given pace and stalls when it is told to. The options, the
// commands on standard input and the events on standard output are those of scripts/lab/README.md. Sarama has no poll
// and no interval for it: a handler that stands still keeps its heartbeats.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/IBM/sarama"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		say("error", map[string]any{"message": err.Error()})
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

var out sync.Mutex

func say(name string, fields map[string]any) {
	line := map[string]any{"event": name, "ts": time.Now().UnixMilli()}
	for k, v := range fields {
		line[k] = v
	}
	text, _ := json.Marshal(line)
	out.Lock()
	defer out.Unlock()
	fmt.Println(string(text))
}

// pairs are the settings given with -X.
type pairs map[string]string

func (p pairs) String() string { return "" }

func (p pairs) Set(s string) error {
	key, value, ok := strings.Cut(s, "=")
	if !ok {
		return fmt.Errorf("%q: expected key=value", s)
	}
	p[key] = value
	return nil
}

func run(args []string) error {
	set := flag.NewFlagSet("sarama", flag.ContinueOnError)
	text := make(map[string]*string)
	for _, name := range []string{"bootstrap", "group", "topics", "client-id", "instance-id", "assignor", "protocol", "rack", "commit", "log"} {
		text[name] = set.String(name, "", "")
	}
	number := make(map[string]*int)
	for _, name := range []string{"session", "heartbeat", "max-poll", "per-poll", "per-record"} {
		number[name] = set.Int(name, 0, "")
	}
	extra := pairs{}
	set.Var(extra, "X", "")
	if err := set.Parse(args); err != nil {
		return err
	}
	millis := func(name string) time.Duration { return time.Duration(*number[name]) * time.Millisecond }
	conf, err := configuration(text, millis, extra)
	if err != nil {
		return err
	}
	group, err := sarama.NewConsumerGroup(strings.Split(*text["bootstrap"], ","), *text["group"], conf)
	if err != nil {
		return fmt.Errorf("group: %w", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	h := &handler{closing: ctx.Done(), commit: *text["commit"], perPoll: millis("per-poll"), perRecord: millis("per-record")}
	go h.commands(cancel)
	for ctx.Err() == nil {
		if err := group.Consume(ctx, strings.Split(*text["topics"], ","), h); err != nil && !errors.Is(err, sarama.ErrClosedConsumerGroup) {
			say("error", map[string]any{"message": err.Error()})
			h.work(time.Second)
		}
	}
	if err := group.Close(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	say("closed", nil)
	return nil
}

func configuration(text map[string]*string, millis func(string) time.Duration, extra pairs) (*sarama.Config, error) {
	conf := sarama.NewConfig()
	conf.Version = sarama.V2_8_0_0
	conf.Consumer.Offsets.Initial = sarama.OffsetOldest
	conf.ClientID = *text["client-id"]
	conf.RackID = *text["rack"]
	conf.Consumer.Group.InstanceId = *text["instance-id"]
	if p := *text["protocol"]; p != "" && p != "classic" {
		return nil, fmt.Errorf("protocol %q: sarama joins classic groups", p)
	}
	if *text["log"] != "" {
		sarama.Logger = log.New(os.Stderr, "[sarama] ", log.LstdFlags)
	}
	for name, into := range map[string]*time.Duration{"session": &conf.Consumer.Group.Session.Timeout,
		"heartbeat": &conf.Consumer.Group.Heartbeat.Interval, "max-poll": &conf.Consumer.Group.Rebalance.Timeout} {
		if d := millis(name); d > 0 {
			*into = d
		}
	}
	conf.Consumer.Offsets.AutoCommit.Enable = *text["commit"] == "" || *text["commit"] == "auto"
	for key, value := range extra {
		ms, err := strconv.Atoi(value)
		if key != "auto.commit.interval.ms" || err != nil {
			return nil, fmt.Errorf("-X %s=%s: auto.commit.interval.ms with a number is all that is known", key, value)
		}
		conf.Consumer.Offsets.AutoCommit.Interval = time.Duration(ms) * time.Millisecond
	}
	switch *text["assignor"] {
	case "", "range":
	case "roundrobin":
		conf.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{sarama.NewBalanceStrategyRoundRobin()}
	case "sticky":
		conf.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{sarama.NewBalanceStrategySticky()}
	default:
		return nil, fmt.Errorf("assignor %q: unknown", *text["assignor"])
	}
	return conf, nil
}

// handler is the application; commands change its pace while the claims run.
type handler struct {
	closing <-chan struct{}

	mu        sync.Mutex
	commit    string
	perPoll   time.Duration
	perRecord time.Duration
	stalled   time.Time // until when nothing is done
}

// Setup tells the assignment.
func (h *handler) Setup(s sarama.ConsumerGroupSession) error {
	list := []string{}
	for topic, ps := range s.Claims() {
		for _, p := range ps {
			list = append(list, fmt.Sprintf("%s-%d", topic, p))
		}
	}
	slices.Sort(list)
	say("assigned", map[string]any{"partitions": list, "member": s.MemberID(), "generation": s.GenerationID()})
	return nil
}

// Cleanup tells that the assignment ends.
func (h *handler) Cleanup(sarama.ConsumerGroupSession) error {
	say("revoked", map[string]any{"partitions": []string{}})
	return nil
}

// ConsumeClaim works off one partition; Sarama calls it once for each.
func (h *handler) ConsumeClaim(s sarama.ConsumerGroupSession, c sarama.ConsumerGroupClaim) error {
	for {
		select {
		case <-s.Context().Done():
			return nil
		case m, ok := <-c.Messages():
			if !ok {
				return nil
			}
			h.record(s, m, len(c.Messages()) == 0)
		}
	}
}

// record works one record, the last of a burst or not, and commits as it was told to.
func (h *handler) record(s sarama.ConsumerGroupSession, m *sarama.ConsumerMessage, last bool) {
	h.mu.Lock()
	commit, perPoll, perRecord, stalled := h.commit, h.perPoll, h.perRecord, h.stalled
	h.mu.Unlock()
	h.work(time.Until(stalled))
	h.work(perRecord)
	select {
	case <-h.closing:
		return
	default:
	}
	if commit != "none" {
		s.MarkMessage(m, "")
	}
	if commit == "record" {
		s.Commit()
	}
	if last {
		h.work(perPoll)
		if commit == "sync" {
			s.Commit()
		}
	}
}

// work keeps the application busy for d, or until it is to close.
func (h *handler) work(d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-h.closing:
	}
}

func (h *handler) commands(end func()) {
	defer end()
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() && in.Text() != "close" {
		command, argument, _ := strings.Cut(in.Text(), " ")
		say("obeys", map[string]any{"command": command, "argument": argument})
		if err := h.obey(command, argument); err != nil {
			say("error", map[string]any{"message": err.Error()})
		}
	}
}

func (h *handler) obey(command, argument string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if command == "commit" {
		h.commit = argument
		return nil
	}
	ms, err := strconv.Atoi(argument)
	if err != nil {
		return fmt.Errorf("command %q: %w", command, err)
	}
	d := time.Duration(ms) * time.Millisecond
	switch command {
	case "stall":
		h.stalled = time.Now().Add(d)
		time.AfterFunc(d, func() { say("stalled", nil) })
	case "per-poll":
		h.perPoll = d
	case "per-record":
		h.perRecord = d
	default:
		return fmt.Errorf("command %q: unknown", command)
	}
	return nil
}
