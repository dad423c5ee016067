package trust

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/internal/fakecluster"
)

// namespace is what the simulated Azure Event Hubs is called.
const namespace = "ns.servicebus.windows.net"

// dialects are the brokers that are not Apache Kafka's, simulated.
var dialects = []struct {
	name    string // of the file with what the commands say there
	brokers int
	opts    []fakecluster.Option
	connect func(s *stage) []string
	says    map[string][]string // by command, what it must say
	never   []string            // what no command may say there
}{
	{name: "redpanda", brokers: 3, opts: []fakecluster.Option{fakecluster.Redpanda()},
		connect: func(s *stage) []string { return []string{"-b", s.b} },
		says: map[string][]string{
			"locate":   {"__consumer_offsets-14", "agrees"},
			"describe": {"generation 3 "},
			"history":  {"3 rebalances"},
			"why":      {"3 rebalances"},
			"triage":   {"orders           3"},
			"record":   {"3 rebalances"},
			"watch":    {"generation and timeouts from __consumer_offsets", "+comes", "gen 4"},
			"advise":   {"names no setting that concerns groups"},
			"check":    {"Redpanda", "the brokers do not say whether that is all", "the broker does not name the bounds", "history   fully", "why       partly  brokers' bounds"},
		},
		never: []string{"before 2.8", "only with -b"}},
	{name: "eventhubs", brokers: 1,
		opts:    []fakecluster.Option{fakecluster.EventHubs(namespace), fakecluster.Advertise(func(int32) (string, int32) { return namespace, 9093 })},
		connect: func(s *stage) []string { return []string{"-b", s.b, "--broker-map", "0=" + s.b} },
		says: map[string][]string{
			"locate":   {"__consumer_offsets does not exist"},
			"describe": {"generation 3 or later", "0.0.0.0", "the service keeps them elsewhere", "assumed:"},
			"history":  {"the service keeps them elsewhere", "kgdiag why orders --for 5m"},
			"why":      {"UNKNOWN", "the service keeps them elsewhere"},
			"triage":   {"whether they rebalanced is not known", "the service keeps them elsewhere"},
			"record":   {"the service keeps them elsewhere"},
			"watch":    {"a lower bound", "the service keeps them elsewhere", "+comes", "gen >=4"},
			"advise":   {"the service keeps them elsewhere"},
			"check":    {"Azure Event Hubs", "the service keeps them elsewhere", "locate    no ", "history   no ", "why       partly  history", "watch     partly  generations"},
		},
		never: []string{"kafka-acls", "needs READ", "only with -b"}},
}

// dialectCommands are the commands that are tried, by the name of their column.
var dialectCommands = []struct{ name, args string }{
	{"check", "check"}, {"locate", "locate orders"}, {"describe", "describe orders"}, {"history", "history orders"}, {"why", "why orders"},
	{"triage", "why"}, {"advise", "advise orders --fail-on never"}, {"record", "record orders --to x.kgcase"},
}

// TestDialects runs every command against brokers that are not Kafka's own: what is there is
// shown, what is not is said to be missing, and no hint sends anybody after a permission that
// would not help. What is said to be missing stands in docs/compatibility.md (-update).
func TestDialects(t *testing.T) {
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			s := newStage(t, d.brokers, d.opts...)
			connect := d.connect(s)
			s.evict(t, "orders")
			missing := map[string][]string{}
			told := func(name string, r ran) {
				for _, want := range d.says[name] {
					if !strings.Contains(squeezed(r.out+r.err), squeezed(want)) {
						t.Errorf("%s does not say %q: %s", name, want, r)
					}
				}
				for _, wrong := range d.never {
					if strings.Contains(squeezed(r.out+r.err), wrong) {
						t.Errorf("%s says %q: %s", name, wrong, r)
					}
				}
				if err := r.sane(20*time.Second, brokerMemory); err != nil {
					t.Error(err)
				}
			}
			for _, c := range dialectCommands {
				args := append(strings.Fields(c.args), connect...)
				told(c.name, kgdiag(t, setup{}, args...))
				if c.name != "check" {
					missing[c.name] = gapsOf(t, kgdiag(t, setup{}, append(args, "-o", "json")...))
				}
			}
			w := start(t, setup{}, append([]string{"watch", "orders", "--for", "5s"}, connect...)...)
			w.until(&w.out, "states every")
			s.join(t, "orders", "comes", 2)
			r := w.wait()
			told("watch", r)
			missing["watch"] = linesOf(r.out, "not read")
			if !strings.Contains(r.out, "orders 1 rebalance") {
				t.Errorf("watch does not count one rebalance: %s", r)
			}
			if err := s.Err(); err != nil {
				t.Error(err)
			}
			inFile(t, d.name, missing)
		})
	}
}

// squeezed is a text without the breaks of its lines.
func squeezed(s string) string { return strings.Join(strings.Fields(s), " ") }

// gapsOf is what a run says that it could not read: its gaps, or its error.
func gapsOf(t *testing.T, r ran) []string {
	t.Helper()
	if r.out == "" {
		line, _, _ := strings.Cut(strings.TrimPrefix(r.err, "kgdiag: "), "\n")
		return []string{"does not work: " + strings.TrimPrefix(line, `history of "orders": `)}
	}
	var doc struct {
		Gaps []struct{ What, Why string } `json:"gaps"`
	}
	if err := json.Unmarshal([]byte(r.out), &doc); err != nil {
		t.Fatalf("%v: %s", err, r)
	}
	out := []string{}
	for _, g := range doc.Gaps {
		out = append(out, fmt.Sprintf("%s: %s", anyBroker.ReplaceAllString(g.What, "the brokers"), g.Why))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// anyBroker is a broker that is named.
var anyBroker = regexp.MustCompile(`\bbroker \d+`)

// linesOf are what follows a word at the beginning of a line.
func linesOf(text, word string) []string {
	out := []string{}
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, word); ok {
			out = append(out, strings.TrimSpace(rest))
		}
	}
	return out
}

// inFile holds what is missing to the file that docs/compatibility.md is made of.
func inFile(t *testing.T, name string, missing map[string][]string) {
	t.Helper()
	file := filepath.Join("..", "docgen", "testdata", "dialects", name+".json")
	got, err := json.MarshalIndent(missing, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s is not what the commands say (go test ./internal/trust -run TestDialects -update):\n%s", file, got)
	}
}

// TestWatchBeforeTheFirstGroupElsewhere: where nothing tells yet that the service has no
// offsets topic, a watch waits for it, and goes by polls once there are groups without one.
func TestWatchBeforeTheFirstGroupElsewhere(t *testing.T) {
	d := dialects[1]
	s := newStage(t, d.brokers, d.opts...)
	w := start(t, setup{}, append([]string{"watch", "late", "--for", "12s"}, d.connect(s)...)...)
	w.until(&w.out, "states every")
	s.join(t, "late", "first", 1)
	w.until(&w.out, "the service keeps them elsewhere")
	w.until(&w.out, "appeared")
	s.join(t, "late", "second", 2)
	if r := w.wait(); r.code != 0 || !strings.Contains(r.out, "gen >=2") || !strings.Contains(r.out, "+second") {
		t.Errorf("the rebalance after it is not told: %s", r)
	}
}
