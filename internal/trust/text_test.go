package trust

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/fakecluster"
	"github.com/kgdiag/kgdiag/internal/outsider"
	"github.com/kgdiag/kgdiag/internal/wire"
)

// forms are the outputs of kgdiag, as outsider.Harm knows them, and how to ask for each.
var forms = []struct {
	name string
	args []string
}{
	{"table", nil},
	{"colours", []string{"--color", "always"}},
	{"json", []string{"-o", "json"}},
	{"tsv", []string{"-o", "tsv"}},
	{"markdown", []string{"-o", "markdown"}},
	{"html", []string{"-o", "html"}},
	{"sarif", []string{"-o", "sarif"}},
}

// looks counts the outputs that were looked at.
type looks struct{ outputs int }

// harmless runs a command in every form that it has, and holds what it writes. other is
// the same command with calm names, to compare pages with; nil for none.
func (l *looks) harmless(t *testing.T, s setup, words, other []string, codes ...int) {
	t.Helper()
	ran := 0
	for _, form := range forms {
		at := slices.Index(words, "--")
		if at < 0 {
			at = len(words)
		}
		r := kgdiag(t, s, slices.Insert(slices.Clone(words), at, form.args...)...)
		if r.code == 2 && strings.Contains(r.err, `--output "`+form.name+`": not known`) {
			continue // a form that the command has not
		}
		ran++
		if err := r.sane(time.Minute, brokerMemory); err != nil {
			t.Error(err)
		}
		if !slices.Contains(codes, r.code) {
			t.Errorf("exit %d, want one of %v: %s", r.code, codes, r)
		}
		if h := outsider.Harm(form.name, r.out); h != "" {
			t.Errorf("%s: %.500s: %s", form.name, h, r)
		}
		errs := "table"
		if form.name == "colours" {
			errs = form.name
		}
		if h := outsider.Harm(errs, r.err); h != "" {
			t.Errorf("stderr: %s: %s", h, r)
		}
		if form.name == "html" && other != nil {
			want := outsider.Elements(kgdiag(t, s, append(slices.Clone(other), form.args...)...).out)
			if got := outsider.Elements(r.out); !slices.Equal(got, want) {
				t.Errorf("the page has other elements than with calm names, %d, not %d: %s", len(got), len(want), r)
			}
		}
	}
	if l.outputs += ran; ran == 0 {
		t.Errorf("%q has no form of output", words)
	}
}

// seeds are those of a run: few, or many where there is time.
func seeds(few, many uint64) uint64 {
	if os.Getenv("KGDIAG_TEST_FULL") != "" {
		return many
	}
	return few
}

// poisoned writes a recorded case with other names.
func poisoned(t *testing.T, path string, name func(string) string) {
	t.Helper()
	in, err := os.Open("../../advise/diagnose/testdata/slow-orders.kgcase")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	c, err := inspect.ReadCase(in)
	if err != nil {
		t.Fatal(err)
	}
	if c, err = outsider.Poison(c, name); err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := inspect.WriteCase(out, c); err != nil {
		t.Fatal(err)
	}
}

// TestTextOfCases: ids, hosts, topics and what else a case file quotes.
func TestTextOfCases(t *testing.T) {
	dir := t.TempDir()
	calm, hostile := filepath.Join(dir, "calm.kgcase"), filepath.Join(dir, "hostile.kgcase")
	poisoned(t, calm, func(s string) string { return "x" + s })
	var l looks
	for seed := range seeds(1, 30) {
		poisoned(t, hostile, outsider.Names(seed))
		for _, words := range [][]string{{"why"}, {"why", "-v", "--all-groups"}, {"history", "--all-groups", "-v"}, {"describe", "--all-groups"}, {"advise", "--fail-on", "never"}} {
			l.harmless(t, setup{}, append(slices.Clone(words), "--from", hostile), append(slices.Clone(words), "--from", calm), 0)
		}
	}
	t.Logf("%d outputs", l.outputs)
}

// TestTextOfClusters: the same from a cluster, and what a watch, its metrics and its
// recording make of it.
func TestTextOfClusters(t *testing.T) {
	var l looks
	for seed := range seeds(1, 10) {
		topic := "orders"
		s := newStage(t, 2)
		var groups []string
		for i := range uint64(3) {
			id := outsider.Text(1000*seed + i)
			groups = append(groups, id)
			m, err := s.Join(fakecluster.MemberConfig{Group: id, Topics: []string{topic}, ClientID: outsider.Text(1000*seed + 100 + i), InstanceID: outsider.Text(1000*seed + 200 + i),
				Session: time.Second, Rebalance: 5 * time.Second, Heartbeat: 100 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(m.Kill)
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			if err := s.WaitStable(ctx, id, 1); err != nil {
				t.Fatal(err)
			}
			cancel()
		}
		for _, words := range [][]string{{"locate", "--broker", "0"}, {"locate", "--broker", "1"}, {"describe", "--all-groups"}, {"why"}, {"history", "--all-groups"}, {"advise", "--all-groups", "--fail-on", "never"}, {"check"},
			{"record", "--all-groups", "--to", "x.kgcase"}, {"locate", "orders", "--", groups[0]}} {
			if slices.Contains(words, "--") && strings.ContainsRune(groups[0], 0) {
				continue // no argument of a program can hold it
			}
			l.harmless(t, setup{env: []string{"KGDIAG_BOOTSTRAP_SERVER=" + s.b}}, words, nil, 0, 2, 4)
		}
		l.watched(t, s)
	}
	t.Logf("%d outputs", l.outputs)
}

// watched follows the groups while one goes away, in text, in colours and as JSON, with metrics.
func (l *looks) watched(t *testing.T, s *stage) {
	t.Helper()
	for _, form := range []struct{ name, flag string }{{"table", "--color=never"}, {"colours", "--color=always"}, {"lines", "-ojson"}} {
		r := kgdiag(t, setup{}, "watch", "--all-groups", "--since", "10m", "--for", "2s", "-b", s.b, form.flag)
		if h := outsider.Harm(form.name, r.out); h != "" || r.code != 0 {
			t.Errorf("%s: %s", h, r)
		}
		l.outputs++
	}
	p := start(t, setup{}, "watch", "--all-groups", "-b", s.b, "--metrics", "127.0.0.1:0")
	url, _, _ := strings.Cut(p.until(&p.err, "metrics at "), "\n")
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if h := outsider.Harm("metrics", string(text)); h != "" || err != nil || !strings.Contains(string(text), "kgdiag_group_members") {
		t.Errorf("metrics: %s: %v: %.2000s", h, err, text)
	}
	p.signal(os.Interrupt)
	if r := p.wait(); r.code != 0 {
		t.Errorf("exit %d: %s", r.code, r)
	}
	l.outputs++
}

// TestTextOfFiles: names, keys, values and lines of files that others wrote.
func TestTextOfFiles(t *testing.T) {
	var l looks
	for seed := range seeds(3, 100) {
		dir := t.TempDir()
		text := func(n uint64) string { return outsider.Text(1000*seed + n) }
		name := strings.NewReplacer("/", "", "\x00", "").Replace(text(1))
		name = name[:min(len(name), 100)]
		conf := write(t, dir, name+".properties", "group.id="+text(2)+"\nmax.poll.interval.ms="+text(3)+"\n"+text(4)+"="+text(5)+"\nsession.timeout.ms=10\nheartbeat.interval.ms=9\n")
		log := write(t, dir, name+".log", "[2026-11-21 12:00:00,000] WARN [Consumer clientId="+text(6)+", groupId="+text(7)+"] consumer poll timeout has expired. This means the time between subsequent calls to poll() was longer than the configured max.poll.interval.ms\n"+
			"2026-11-21 12:00:01,000 INFO [GroupCoordinator 1]: Preparing to rebalance group "+text(8)+" in state PreparingRebalance with old generation 5 (__consumer_offsets-1) (reason: "+text(9)+")\n"+text(10)+"\n")
		yaml := write(t, dir, name+".yaml", "spring:\n  kafka:\n    consumer:\n      group-id: "+fmt.Sprintf("%q", text(11))+"\n      properties:\n        "+fmt.Sprintf("%q: %q", text(12), text(13))+"\n")
		junk := write(t, dir, name+".json", text(14)+text(15))
		for _, words := range [][]string{{"advise", "-f", conf}, {"advise", "--log", log}, {"advise", "-f", conf, "--log", log}, {"advise", "-f", yaml}, {"advise", "-f", junk}, {"why", "--from", junk}, {"advise", "-f", filepath.Join(dir, name)}} {
			l.harmless(t, setup{}, words, nil, 0, 1, 2)
		}
	}
	t.Logf("%d outputs", l.outputs)
}

// says puts a text into every message of an error that an answer can carry.
func says(text string) wire.Rule {
	return func(r wire.Request) wire.Action {
		return wire.Action{Answer: func(resp kmsg.Response) kmsg.Response {
			switch x := resp.(type) {
			case *kmsg.FindCoordinatorResponse:
				for i := range x.Coordinators {
					x.Coordinators[i].ErrorCode, x.Coordinators[i].ErrorMessage = 15, &text
				}
			case *kmsg.DescribeConfigsResponse:
				for i := range x.Resources {
					x.Resources[i].ErrorCode, x.Resources[i].ErrorMessage, x.Resources[i].Configs = 29, &text, nil
				}
			case *kmsg.DescribeGroupsResponse:
				for i := range x.Groups {
					x.Groups[i].ErrorCode, x.Groups[i].ErrorMessage, x.Groups[i].State = 30, &text, text
				}
			case *kmsg.ConsumerGroupDescribeResponse:
				for i := range x.Groups {
					x.Groups[i].ErrorCode, x.Groups[i].ErrorMessage = 30, &text
				}
			case *kmsg.MetadataResponse:
				x.ClusterID = &text
				for i := range x.Brokers {
					x.Brokers[i].Rack = &text
				}
			case *kmsg.ListGroupsResponse:
				for i := range x.Groups {
					x.Groups[i].ProtocolType, x.Groups[i].GroupState, x.Groups[i].GroupType = text, text, text
				}
			}
			return resp
		}}
	}
}

// TestTextOfBrokers: error messages, states, types, racks and the id of the cluster.
func TestTextOfBrokers(t *testing.T) {
	s := newStage(t, 1)
	s.evict(t, "orders")
	var l looks
	for seed := range seeds(1, 30) {
		s.proxy.Rule(says(outsider.Text(seed)))
		for _, words := range [][]string{{"locate", "orders"}, {"describe", "orders"}, {"describe", "--all-groups"}, {"why", "orders"}, {"why"}, {"history", "orders"}, {"check"}} {
			l.harmless(t, setup{}, append(slices.Clone(words), "-b", s.b, "--timeout", "5s"), nil, 0, 3, 4)
		}
	}
	t.Logf("%d outputs", l.outputs)
}
