package clientlog

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/errcode"
)

// samples fill the places of a sentence.
var samples = map[string]string{
	"group": "orders", "member": "orders-0-1f0c", "instance": "pod-0", "client": "orders-0", "gen": "45", "ms": "30123", "limit": "300000", "seconds": "12",
	"node": "3", "partition": "7", "reason": "the consumer is being closed", "error": "some failure", "state": "Stable", "api": "Fetch", "version": "3.7.1", "topics": "orders", "key": "session.timeout.ms", "": "x",
}

// frames are how a line of each library stands in a log.
var frames = map[string]string{
	"broker":       "[2026-11-29 14:43:13,123] INFO [GroupCoordinator 1]: %s (kafka.coordinator.group.GroupCoordinator)",
	"java":         "[2026-11-29 14:43:13,123] INFO [Consumer clientId=c, groupId=g] %s (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
	"streams":      "2026-11-29 14:43:13,123 INFO [app-StreamThread-1] o.a.k.s.p.internals.StreamThread - stream-thread [app-StreamThread-1] %s",
	"connect":      "[2026-11-29 14:43:13,123] INFO [Worker clientId=c, groupId=g] %s (org.apache.kafka.connect.runtime.distributed.DistributedHerder:12)",
	"librdkafka":   "%%7|1796049793.123|CGRP|rdkafka#consumer-1| [thrd:main]: %s",
	"franz-go":     `{"level":"info","ts":"2026-11-29T14:43:13Z","caller":"github.com/twmb/franz-go@v1.18.1/pkg/kgo/consumer_group.go:1","msg":"%s"}`,
	"sarama":       "[sarama] 2026/11/29 14:43:13 %s",
	"kafka-go":     "2026/11/29 14:43:13 %s",
	"kafka-python": "2026-11-29 14:43:13,123 kafka.coordinator WARNING %s",
	"aiokafka":     "2026-11-29 14:43:13,123 aiokafka.consumer.group_coordinator WARNING %s",
	"kafkajs":      `{"level":"INFO","timestamp":"2026-11-29T14:43:13.123Z","logger":"kafkajs","message":"%s"}`,
	"ruby-kafka":   "I, [2026-11-29T14:43:13.123456 #12]  INFO -- : [[g] {t: 0}:] %s",
	"spring":       "2026-11-29T14:43:13.123Z  INFO 1 --- [ntainer#0-0-C-1] o.s.k.l.KafkaMessageListenerContainer : %s",
	"kafka_ex":     "14:43:13.123 [info] %s",
	"brod":         "14:43:13.123 [info] %s",
	"karafka":      "[2026-11-29T14:43:13Z] %s",
	"alpakka":      "2026-11-29 14:43:13,123 INFO akka.kafka.internal.KafkaConsumerActor - %s",
}

// filled is a sentence with its places filled, and what each place holds.
func filled(s *sentence) (string, map[string]string) {
	var b strings.Builder
	want := map[string]string{}
	for _, p := range s.parts {
		if p.text != "" {
			b.WriteString(p.text)
			continue
		}
		b.WriteString(samples[p.name])
		if p.name != "" {
			want[p.name] = samples[p.name]
		}
	}
	return b.String(), want
}

// TestEverySentenceIsRecognised reads every template of the table back, in the frame
// of its library, and holds the recognised event and its parts against the row.
func TestEverySentenceIsRecognised(t *testing.T) {
	b := library()
	counts := map[string][2]int{}
	var order []string
	bad := 0
	for i := range b.sentences {
		s := &b.sentences[i]
		if _, had := counts[s.library]; !had {
			order = append(order, s.library)
		}
		c := counts[s.library]
		if s.kind != "" {
			c[0]++
		} else {
			c[1]++
		}
		counts[s.library] = c
		text, want := filled(s)
		line := text
		if f := frames[s.library]; f != "" {
			quoted := text
			if strings.HasPrefix(f, "{") {
				quoted = strings.ReplaceAll(strings.ReplaceAll(text, `\`, `\\`), `"`, `\"`)
			}
			line = fmt.Sprintf(f, quoted)
		}
		if why := misread(b, s, line, want); why != "" {
			if bad++; bad < 40 {
				t.Errorf("%s %q: %s", s.library, s.template, why)
			}
		}
	}
	if bad > 0 {
		t.Errorf("%d of %d sentences are misread", bad, len(b.sentences))
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%-28s %7s %7s\n", "library", "events", "noise")
	for _, l := range order {
		fmt.Fprintf(&out, "%-28s %7d %7d\n", l, counts[l][0], counts[l][1])
	}
	compare(t, "testdata/sentences.golden", out.String())
}

// TestTheTableIsWellFormed holds each row to its columns and their words: a row that is
// none would be passed over without a sound.
func TestTheTableIsWellFormed(t *testing.T) {
	kinds := []inspect.LogKind{"", frameEvent, inspect.LogRejoinRequested, inspect.LogJoined, inspect.LogLeft, inspect.LogEvicted, inspect.LogPollTimeout,
		inspect.LogHeartbeatFailed, inspect.LogCommitFailed, inspect.LogCoordinatorLost, inspect.LogFenced, inspect.LogRebalance, inspect.LogError, inspect.LogVersion, inspect.LogNote}
	n := 0
	for line := range strings.Lines(sentenceTable) {
		n++
		if strings.HasPrefix(line, "#") {
			continue
		}
		at := fmt.Sprintf("sentences.tsv:%d", n)
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(f) != 9 {
			t.Errorf("%s: %d columns, want 9, separated by tabs", at, len(f))
			continue
		}
		s := newSentence(f)
		if f[4] == "" || !slices.Contains(kinds, s.kind) {
			t.Errorf("%s: event %q: want - or a LogKind", at, f[4])
		}
		if s.cause != "" && s.cause.Info().Cause == "" {
			t.Errorf("%s: cause %q: want one of inspect.Causes, or none", at, s.cause)
		}
		if _, ok := errcode.Lookup(s.err); s.err != "" && !ok {
			t.Errorf("%s: error %q: want the name of a Kafka error, or none", at, s.err)
		}
		for _, p := range s.parts {
			if _, ok := samples[p.name]; !ok {
				t.Errorf("%s: {%s}: want {} or a place that newEvent takes: %s", at, p.name, strings.Join(slices.Sorted(maps.Keys(samples)), " "))
			}
		}
	}
}

// misread says what is wrong with how a line is read; "" for nothing.
func misread(b *book, s *sentence, line string, want map[string]string) string {
	if !b.index.may([]byte(line)) {
		return "passed over by the first look"
	}
	lines := logicalLines([]byte(line), Options{Zone: time.UTC, Day: time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)})
	if len(lines) != 1 {
		return fmt.Sprintf("%d lines", len(lines))
	}
	if lines[0].context.family == "" { // as a line before tells
		lines[0].context.family = familyOf(s.library)
	}
	f, ok := b.find(&lines[0])
	if !ok {
		return fmt.Sprintf("not recognised in %q", lines[0].text)
	}
	if f.sentence.kind != s.kind || f.sentence.sign != s.sign {
		return fmt.Sprintf("read as %s %s of %s %q", f.sentence.kind, f.sentence.sign, f.sentence.library, f.sentence.template)
	}
	if s.kind == "" {
		return ""
	}
	for name, value := range want {
		// Another version's row may have the same place under another name.
		if got, has := f.parts[name]; got != value && (has || f.sentence.template == s.template) {
			return fmt.Sprintf("{%s} is %q, want %q (by %q)", name, got, value, f.sentence.template)
		}
	}
	return ""
}

// Each code is found in a line of each wording, so that no Kafka error goes unseen.
func TestEveryErrorIsRecognised(t *testing.T) {
	for _, c := range errcode.All() {
		for _, w := range append([]string{c.Name}, c.Wordings...) {
			if len(w) < least {
				continue
			}
			line := "2026-11-29 14:43:13,123 ERROR com.example.App - it failed: " + w
			got := ""
			if _, err := Read(strings.NewReader(line), "x", Options{}, Handler{Event: func(e inspect.LogEvent) error { got = e.Error; return nil }}); err != nil {
				t.Fatal(err)
			}
			if got != c.Name && c.Number != 79 {
				t.Errorf("%q: seen as %q, want %s", w, got, c.Name)
			}
		}
	}
}

// The first look must pass over nearly all lines of other programs.
func TestTheFirstLookIsNarrow(t *testing.T) {
	if n := library().index.load(); n > 60 {
		t.Errorf("the sieve is %d of 1000 full", n)
	}
}
