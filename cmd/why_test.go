package cmd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/term"
)

var updateWhy = flag.Bool("update-why", false, "rewrite testdata/why")

// story writes the records of hand-made groups, for the pages that are drawn from
// them. Times are seconds after noon of 21 November 2026.
type story struct {
	c     *inspect.Case
	parts map[string]int32
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func moment(at float64) inspect.Time {
	return inspect.At(noon.Add(time.Duration(at * float64(time.Second))).Round(time.Millisecond))
}

func tell() *story {
	return &story{parts: map[string]int32{}, c: &inspect.Case{Schema: inspect.CaseSchema, Kgdiag: "v0.1.0", GeneratedAt: moment(3600),
		Cluster: inspect.Cluster{ID: "Zk3xQ9abc", Context: "prod-eu", Bootstrap: "kafka-1:9092", Brokers: 3, Answered: 3, OffsetsPartitions: 50},
		Window:  inspect.Window{From: moment(0), To: moment(3600)}, Gaps: []inspect.Gap{}}}
}

// player is a member with partitions of the group's topic.
type player struct {
	id, client, instance, host string
	parts                      []int32
}

func (s *story) add(group string, at float64, r inspect.Record) {
	if _, ok := s.parts[group]; !ok {
		s.parts[group] = int32(31 + len(s.parts))
	}
	r.Group, r.Partition, r.Time = group, s.parts[group], moment(at)
	s.c.Records = append(s.c.Records, r)
}

func (s *story) generation(group string, at float64, gen int32, members ...player) {
	proto := "range"
	g := &inspect.GroupMetadata{ProtocolType: "consumer", Generation: gen, Protocol: &proto, StateTime: moment(at - 0.01)}
	for _, p := range members {
		m := inspect.GroupMember{MemberID: p.id, ClientID: p.client, Host: cmp.Or(p.host, "10.42.7.20"), Session: inspect.Millis(45 * time.Second),
			Rebalance: inspect.Millis(5 * time.Minute), Topics: []string{group}, Assigned: []inspect.TopicPartitions{{Topic: group, Partitions: p.parts}}}
		if p.instance != "" {
			m.InstanceID = &p.instance
		}
		g.Members = append(g.Members, m)
	}
	s.add(group, at, inspect.Record{Type: inspect.RecGroupMetadata, Metadata: g})
}

// commits writes the commits of a consumer that polls about once a second.
func (s *story) commits(group string, part int32, from, to float64, offset int64) int64 {
	jitter := []float64{1, 0.7, 1.2, 0.9, 1.4, 0.8}
	for i, at := 0, from; at < to; i++ {
		offset += 5
		s.commit(group, part, at, offset)
		at += jitter[i%len(jitter)]
	}
	return offset
}

func (s *story) commit(group string, part int32, at float64, offset int64) {
	s.add(group, at, inspect.Record{Type: inspect.RecOffsetCommit, Topic: group, TopicPartition: part, Commit: &inspect.OffsetCommit{Offset: offset}})
}

// now adds the group as describe saw it.
func (s *story) now(group, state string, gen int32, coordinator int32, lag int64, members ...player) {
	g := inspect.Group{ID: group, Type: inspect.Classic, ProtocolType: "consumer", State: state, Assignor: "range", At: moment(3600), Partition: s.parts[group],
		Coordinator: &inspect.BrokerRef{ID: coordinator, Host: fmt.Sprintf("kafka-%d", coordinator), Port: 9092}, Generation: &gen, GenerationBasis: "record", Lag: &lag, StateSince: moment(0)}
	for _, p := range members {
		m := inspect.Member{MemberID: p.id, ClientID: p.client, Host: cmp.Or(p.host, "10.42.7.20"), Session: inspect.Ms(45 * time.Second), Rebalance: inspect.Ms(5 * time.Minute),
			Client: inspect.ClientGuess{Family: inspect.Java, Confidence: inspect.Medium}, Protocol: inspect.Classic,
			Assignment: []inspect.TopicPartitions{{Topic: group, Partitions: p.parts}}, Topics: []string{group}}
		if p.instance != "" {
			m.InstanceID = &p.instance
		}
		g.Members = append(g.Members, m)
	}
	s.c.Groups = append(s.c.Groups, g)
}

// file writes the case and returns its name.
func (s *story) file(t *testing.T) string {
	t.Helper()
	slices.SortStableFunc(s.c.Records, func(a, b inspect.Record) int {
		return cmp.Or(cmp.Compare(a.Partition, b.Partition), a.Time.Compare(b.Time.Time))
	})
	for i := range s.c.Records {
		s.c.Records[i].Offset = int64(81000 + i)
	}
	name := filepath.Join(t.TempDir(), "a.kgcase")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := inspect.WriteCase(f, s.c); err != nil {
		t.Fatal(err)
	}
	return name
}

// screenOf runs a command line in this process and returns its output and code.
func screenOf(args ...string) (string, string, int) {
	var out, errs bytes.Buffer
	a := &app{streams: &term.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}, now: func() time.Time { return noon.Add(2 * time.Hour) },
		getenv: func(string) string { return "" }}
	code := a.run(context.Background(), append(args, "--utc", "--color", "never"))
	return out.String(), errs.String(), code
}

// slowOrders is the story of the design: orders-2 needs seven minutes and more for a
// batch, and its poll interval is five.
func slowOrders() *story {
	s := tell()
	p0, p1 := player{id: "o0", client: "orders-0", parts: []int32{0, 1, 2, 3}}, player{id: "o1", client: "orders-1", host: "10.42.7.21", parts: []int32{4, 5, 6, 7}}
	p2 := player{id: "o2", client: "orders-2", host: "10.42.7.22", parts: []int32{8, 9, 10, 11}}
	wide0, wide1 := p0, p1
	wide0.parts, wide1.parts = []int32{0, 1, 2, 3, 8, 9}, []int32{4, 5, 6, 7, 10, 11}
	s.generation("orders", -600, 41, p0, p1, p2)
	s.commits("orders", 0, -590, 3600, 1000)
	s.commits("orders", 4, -590, 3600, 1000)
	gen, off := int32(42), int64(81_000_000)
	from := -590.0
	for i, silent := range []float64{482, 1480, 2891} {
		last := off
		off = s.commits("orders", 8, from, silent, off)
		s.commit("orders", 9, silent-0.5, last)
		s.generation("orders", silent+302.4, gen, wide0, wide1)
		s.commits("orders", 8, silent+303, silent+330, off+1500)
		off += 2000
		p2.id = fmt.Sprintf("o2-%d", i)
		back := silent + []float64{449, 468, 443}[i]
		s.generation("orders", back, gen+1, p0, p1, p2)
		from, gen = back+1, gen+2
	}
	s.commits("orders", 8, from, 3590, off)
	s.now("orders", "Stable", gen-1, 2, 41320, p0, p1, p2)
	return s
}

// pages are the stories and the command lines that show them.
func pages() map[string]struct {
	s    *story
	args []string
} {
	type page = struct {
		s    *story
		args []string
	}
	crash := tell()
	x, y := player{id: "x1", client: "web-0", parts: []int32{0, 1}}, player{id: "y1", client: "web-1", host: "10.42.7.9", parts: []int32{2, 3}}
	crash.generation("web", -60, 8, x, y)
	off := crash.commits("web", 2, -50, 1000, 500)
	crash.commits("web", 0, -50, 3600, 500)
	all := x
	all.parts = []int32{0, 1, 2, 3}
	crash.generation("web", 1046, 9, all)
	crash.commits("web", 2, 1046.2, 3600, off+300)
	crash.now("web", "Stable", 9, 1, 4, all)

	deploy := tell()
	var crew []player
	for i := range 4 {
		crew = append(crew, player{id: fmt.Sprintf("b%d", i), client: fmt.Sprintf("billing-%d", i), host: fmt.Sprintf("10.42.8.%d", i), parts: []int32{int32(i)}})
	}
	deploy.generation("billing", -60, 7, crew...)
	gen := int32(8)
	for i := range crew {
		at := 600 + 30*float64(i)
		for k := -50.0; k < at-3; k += 5 {
			deploy.commit("billing", int32(i), k, int64(1000+k*4))
		}
		deploy.commit("billing", int32(i), at-0.8, 9000)
		deploy.generation("billing", at-0.7, gen, slices.Delete(slices.Clone(crew), i, i+1)...)
		crew[i].id += "x"
		deploy.generation("billing", at+9, gen+1, crew...)
		gen += 2
	}
	deploy.now("billing", "Stable", gen-1, 1, 0, crew...)

	healthy := tell()
	healthy.generation("calm", -4000, 3, x, y)
	healthy.commits("calm", 0, 10, 3500, 5)
	healthy.now("calm", "Stable", 3, 3, 0, x, y)

	denied := tell()
	denied.parts["secret"] = 9
	denied.now("secret", "Stable", 12, 3, 7, x)
	denied.c.Groups[0].GenerationBasis = "lower_bound"
	denied.c.Gaps = []inspect.Gap{{Group: "secret", Fact: inspect.FactHistory, What: "history", Why: "READ on __consumer_offsets denied", Needs: "READ on Topic __consumer_offsets"}}

	stuck := tell()
	stuck.generation("jam", -60, 5, x, y)
	stuck.commits("jam", 0, -50, 3400, 5)
	stuck.commits("jam", 2, -50, 3595, 5)
	stuck.now("jam", "PreparingRebalance", 5, 3, 900, x, y)

	sick := tell()
	for i := range 5 {
		g := fmt.Sprintf("svc-%d", i)
		p, q := player{id: g + "p", client: "p", host: fmt.Sprintf("10.1.0.%d", i), parts: []int32{0}}, player{id: g + "q", client: "q", host: fmt.Sprintf("10.2.0.%d", i), parts: []int32{1}}
		both := p
		both.parts = []int32{0, 1}
		sick.generation(g, -60, 2, p, q)
		end := sick.commits(g, 1, -50, 900+float64(i)/2, 100)
		sick.commits(g, 0, -50, 3600, 100)
		sick.generation(g, 946+float64(i)/2, 3, both)
		sick.commits(g, 1, 947+float64(i)/2, 3600, end+300)
		sick.now(g, "Stable", 3, 2, 1, both)
	}
	// One record kills whoever reads it: only that its partition stands still tells.
	poison := tell()
	px, py := player{client: "p-x", host: "10.42.7.8", parts: []int32{0, 1}}, player{id: "p-y-1", client: "p-y", parts: []int32{2, 3}}
	pAll := player{id: "p-y-1", client: "p-y", parts: []int32{0, 1, 2, 3}}
	for i := range 4 {
		at := 600 + 300*float64(i)
		px.id = fmt.Sprintf("p-x-%d", i)
		poison.generation("pay", at, int32(2*i+1), px, py)
		poison.commits("pay", 0, at+1, at+60, int64(5000*i))
		if i == 0 {
			poison.commits("pay", 1, at+1, at+60, 0)
		}
		poison.commits("pay", 2, at+1, at+280, int64(5000*i))
		poison.generation("pay", at+105.2, int32(2*i+2), pAll)
		poison.commits("pay", 0, at+106, at+280, int64(5000*i+400))
	}
	poison.generation("pay", 1800, 9, player{id: "p-x-9", client: "p-x", host: "10.42.7.8", parts: []int32{0, 1}}, py)
	poison.now("pay", "Stable", 9, 1, 812, player{id: "p-x-9", client: "p-x", host: "10.42.7.8", parts: []int32{0, 1}}, py)

	quiet := healthy.c
	sick.c.Groups = append(sick.c.Groups, quiet.Groups...)

	return map[string]page{
		"overrun":  {slowOrders(), []string{"why", "orders"}},
		"crash":    {crash, []string{"why", "web"}},
		"deploy":   {deploy, []string{"why", "billing"}},
		"healthy":  {healthy, []string{"why", "calm"}},
		"no-read":  {denied, []string{"why", "secret"}},
		"stuck":    {stuck, []string{"why", "jam"}},
		"poison":   {poison, []string{"why", "pay"}},
		"triage":   {sick, []string{"why"}},
		"history":  {slowOrders(), []string{"history", "orders"}},
		"evidence": {slowOrders(), []string{"history", "orders", "-v", "--cause", "poll_interval_exceeded"}},
		"what-if":  {slowOrders(), []string{"history", "orders", "--what-if", "max.poll.interval.ms=600000"}},
		"markdown": {slowOrders(), []string{"why", "orders", "-o", "markdown"}},
		"tsv":      {slowOrders(), []string{"history", "orders", "-o", "tsv"}},
	}
}

// withoutChecks blanks the paragraph that counts the rules, which every new rule
// changes.
func withoutChecks(page string) string {
	var out []string
	inside := false
	for _, l := range strings.SplitAfter(page, "\n") {
		switch {
		case strings.HasPrefix(l, "**Not checked**: "):
			out = append(out, "**Not checked**: (rules)\n")
		case strings.HasPrefix(l, "NOT CHECKED "):
			inside = true
			out = append(out, "NOT CHECKED  (rules)\n")
		case inside && strings.HasPrefix(l, "      ") && !strings.Contains(l, "not read:"):
		default:
			inside = false
			out = append(out, l)
		}
	}
	return strings.Join(out, "")
}

// TestPages holds what why and history print of hand-made stories.
func TestPages(t *testing.T) {
	for name, p := range pages() {
		t.Run(name, func(t *testing.T) {
			from := p.s.file(t)
			out, errs, code := screenOf(append(p.args, "--from", from)...)
			if code != 0 || errs != "" {
				t.Fatalf("exit code %d: %s", code, errs)
			}
			out = withoutChecks(strings.ReplaceAll(out, from, "a.kgcase"))
			file := filepath.Join("testdata", "why", name+".txt")
			if *updateWhy {
				if err := os.WriteFile(file, []byte(out), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if string(want) != out {
				t.Errorf("%s is out of date (go test ./cmd -run TestPages -update-why); now:\n%s", file, out)
			}
			if lines := strings.Count(out, "\n"); p.args[0] == "why" && name != "markdown" && lines > 26 {
				t.Errorf("%d lines: a page of why has 25 at most", lines)
			}
		})
	}
}

// TestWhyJSONHasWhatRunbooksLeanOn holds the names of the design.
func TestWhyJSONHasWhatRunbooksLeanOn(t *testing.T) {
	out, _, code := screenOf("history", "orders", "-o", "json", "--from", slowOrders().file(t))
	if code != 0 {
		t.Fatal(out)
	}
	var doc struct {
		Schema string
		Window struct {
			From string `json:"from"`
		}
		Groups []struct {
			Rebalances []map[string]any
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Schema != "kgdiag.history/v1" || len(doc.Groups) != 1 || doc.Window.From != "2026-11-21T12:00:00.000Z" {
		t.Fatalf("%+v", doc)
	}
	for _, key := range []string{"id", "time", "generation", "previous_generation", "stopped_ms", "stopped_basis", "cause", "confidence", "basis", "rivals", "evidence", "members"} {
		if _, ok := doc.Groups[0].Rebalances[0][key]; !ok {
			t.Errorf("no %s", key)
		}
	}
	left := doc.Groups[0].Rebalances[0]["members"].(map[string]any)["left"].([]any)[0].(map[string]any)
	for _, key := range []string{"client_id", "host", "member_id", "left_between", "silent_ms", "returned", "back_after_ms", "idle_partitions"} {
		if _, ok := left[key]; !ok {
			t.Errorf("no left.%s", key)
		}
	}
}

// TestWhyWritesAPage holds that the page is written whole, names its case, and is not
// poured into a terminal.
func TestWhyWritesAPage(t *testing.T) {
	file := slowOrders().file(t)
	out, errs, code := screenOf("why", "orders", "-o", "html", "--from", file)
	if code != 0 || errs != "" || !strings.HasPrefix(out, "<!doctype html>") || !strings.HasSuffix(out, "</html>\n") {
		t.Fatalf("exit code %d: %s%.200s", code, errs, out)
	}
	if want := "kgdiag why orders --from " + file + " --since 2026-11-21T12:00:00Z --until 2026-11-21T13:00:00Z -o html"; !strings.Contains(out, want) {
		t.Errorf("does not say %s", want)
	}
	if strings.Contains(out, "kgdiag record") {
		t.Error("asks to record what lies in a file already")
	}
	var page, complaint bytes.Buffer
	a := &app{streams: &term.Streams{In: strings.NewReader(""), Out: &page, Err: &complaint, OutTTY: true}, now: time.Now, getenv: func(string) string { return "" }}
	if code := a.run(context.Background(), []string{"why", "-o", "html", "--from", file}); code != 2 || page.Len() > 0 || !strings.Contains(complaint.String(), "-o html > incident.html") {
		t.Errorf("on a terminal: exit code %d, %d bytes, %s", code, page.Len(), complaint.String())
	}
	if _, errs, code := screenOf("history", "orders", "-o", "html", "--from", file); code != 2 || !strings.Contains(errs, "not known") {
		t.Errorf("history: exit code %d: %s", code, errs)
	}
}

// TestPastFlags holds the refusals and the exit codes.
func TestPastFlags(t *testing.T) {
	file := slowOrders().file(t)
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"history", "orders", "--from", file, "--fail-on", "eviction"}, 1, ""},
		{[]string{"history", "orders", "--from", file, "--fail-on", "session_expired"}, 0, ""},
		{[]string{"history", "orders", "--from", file, "--fail-on", "often"}, 2, "--fail-on"},
		{[]string{"history", "orders", "--from", file, "--cause", "bad_luck"}, 2, "no such cause"},
		{[]string{"history", "ordres", "--from", file}, 4, "nearest: orders"},
		{[]string{"why", "bestellungen", "--from", file}, 4, "it holds orders"},
		{[]string{"history", "--from", "nowhere.kgcase"}, 2, "no such file"},
		{[]string{"history", "--from", "why_test.go"}, 2, "not a case file"},
		{[]string{"history"}, 2, "no group is named"},
		{[]string{"history", "orders", "--what-if", "retries=5"}, 2, "cannot be replayed"},
		{[]string{"history", "orders", "--what-if", "session.timeout.ms=soon"}, 2, "want milliseconds"},
		{[]string{"history", "orders", "--since", "1h", "--until", "2h"}, 2, "not before"},
		{[]string{"why", "orders", "--from", file, "--since", "yesterday"}, 2, "--since"},
		{[]string{"record", "orders"}, 2, "--to is missing"},
		{[]string{"record", "--from", file, "--to", file}, 2, "exists already"},
	} {
		out, errs, code := screenOf(c.args...)
		if code == exitNotFound && out != "" {
			t.Errorf("%v: a page about nothing:\n%s", c.args, out)
		}
		if code != c.code || !strings.Contains(errs, c.want) {
			t.Errorf("%v: exit code %d, want %d: %s%s", c.args, code, c.code, out, errs)
		}
	}
}

// TestRecordFromRedacts: a case can be handed on without names, and tells the same.
func TestRecordFromRedacts(t *testing.T) {
	file, to := slowOrders().file(t), filepath.Join(t.TempDir(), "b.kgcase")
	if out, errs, code := screenOf("record", "--from", file, "--to", to, "--redact"); code != 0 {
		t.Fatal(out, errs)
	}
	out, errs, code := screenOf("history", "--from", to)
	if code != 0 || !strings.Contains(out, "exceeded poll interval") {
		t.Fatal(out, errs, code)
	}
	for _, name := range []string{"orders-2", "10.42.7", "prod-eu"} {
		if strings.Contains(out, name) {
			t.Errorf("%q is still there:\n%s", name, out)
		}
	}
}
