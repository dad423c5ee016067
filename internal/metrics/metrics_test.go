package metrics

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/watch"
)

// seen is a watch of two groups, with a clock of its own.
type seen struct {
	*Metrics
	t   *testing.T
	now time.Time
}

func begin(t *testing.T) *seen {
	s := &seen{t: t, now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	gen, epoch := int32(7), int32(31)
	s.Metrics = New(&watch.Info{Log: true, Case: &inspect.Case{Groups: []inspect.Group{
		{ID: "orders", State: "Stable", Generation: &gen, Members: make([]inspect.Member, 3)},
		{ID: "pay\n\"{}\xff", State: "Stable", Epoch: &epoch, Members: make([]inspect.Member, 1)},
		{ID: "hidden"},
	}}}, "v1", func() time.Time { return s.now })
	return s
}

// scrape asks as Prometheus does, and returns the samples without comments.
func (s *seen) scrape() string {
	s.t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	r.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	if ct := w.Header().Get("Content-Type"); w.Code != 200 || !strings.HasPrefix(ct, "application/openmetrics-text") || !strings.HasSuffix(w.Body.String(), "# EOF\n") {
		s.t.Fatalf("%d %s:\n%s", w.Code, ct, w.Body)
	}
	var lines []string
	for l := range strings.Lines(w.Body.String()) {
		if !strings.HasPrefix(l, "#") {
			lines = append(lines, l)
		}
	}
	return strings.Join(lines, "")
}

// hold holds the samples of the group orders.
func (s *seen) hold(want string) {
	s.t.Helper()
	got := ""
	for l := range strings.Lines(s.scrape()) {
		if strings.Contains(l, `group="orders"`) {
			got += strings.ReplaceAll(strings.ReplaceAll(l, `group="orders"`, ""), "kgdiag_", "")
		}
	}
	if got != want {
		s.t.Errorf("orders:\n%s\nwant:\n%s", got, want)
	}
}

func (s *seen) event(e watch.Event) {
	e.Group, e.Time = "orders", inspect.At(s.now)
	s.Event(&e)
}

const calm = `evictions_total{} 0.0
group_generation{} 7.0
group_members{} 3.0
group_readable{} 1.0
group_state{,state="Stable"} 1.0
members_at_risk{} 0.0
partitions_not_consumed{} 0.0
`

// TestStory follows a member that falls silent, leaves, and whose cause is found.
func TestStory(t *testing.T) {
	s := begin(t)
	s.hold(calm)
	who := &watch.Who{MemberID: "m1"}
	s.event(watch.Event{Type: watch.MemberSilent, Who: who, Partitions: 4})
	s.event(watch.Event{Type: watch.MemberAtRisk, Who: who})
	s.hold(strings.NewReplacer("members_at_risk{} 0.0", "members_at_risk{} 1.0", "not_consumed{} 0.0", "not_consumed{} 4.0").Replace(calm))
	gen, two := int32(8), 2
	s.event(watch.Event{Type: watch.RebalanceStarted, State: "PreparingRebalance"})
	s.event(watch.Event{Type: watch.RebalanceDone, Record: "3:9", Generation: &gen, Members: &two})
	s.event(watch.Event{Type: watch.StateChanged, State: "Stable"})
	after := strings.NewReplacer("generation{} 7.0", "generation{} 8.0", "group_members{} 3.0", "group_members{} 2.0").Replace(calm)
	s.event(watch.Event{Type: watch.CauseFound, Record: "3:9", Cause: inspect.SessionExpired, Confidence: inspect.Medium})
	s.hold(after)
	s.now = s.now.Add(20 * time.Second)
	s.event(watch.Event{Type: watch.CauseFound, Record: "3:9", Cause: inspect.PollIntervalExceeded, Confidence: inspect.High})
	counted := strings.Replace(after, "evictions_total{} 0.0", "evictions_total{} 1.0", 1) + `rebalances_total{cause="poll_interval_exceeded",} 1.0` + "\n"
	s.hold(counted)
	s.event(watch.Event{Type: watch.CauseFound, Record: "3:9", Cause: inspect.RejoinTimedOut, Confidence: inspect.High})
	s.hold(counted) // counted once

	s.event(watch.Event{Type: watch.SourceLost, Source: watch.FromPoll})
	s.hold("evictions_total{} 1.0\ngroup_readable{} 0.0\n" + `rebalances_total{cause="poll_interval_exceeded",} 1.0` + "\n")
	s.event(watch.Event{Type: watch.SourceBack})
	s.hold(counted)
	s.event(watch.Event{Type: watch.GroupDeleted})
	s.hold("evictions_total{} 1.0\n" + `rebalances_total{cause="poll_interval_exceeded",} 1.0` + "\n")
}

func TestWhatIsNotKnownHasNoSample(t *testing.T) {
	got := begin(t).scrape()
	if strings.Contains(got, `_members{group="hidden"`) || strings.Contains(got, `readable{group="hidden"`) {
		t.Errorf("a group that was not read has gauges:\n%s", got)
	}
	if !strings.Contains(got, `kgdiag_group_generation{group="pay\\n\"{}\\xff"} 31.0`) {
		t.Errorf("a hostile id is not escaped:\n%s", got)
	}
}

// TestSeriesAreBounded watches more groups than have time series.
func TestSeriesAreBounded(t *testing.T) {
	s := begin(t)
	for i := range MostGroups + 50 {
		for range 2 {
			n := 1
			s.Event(&watch.Event{Type: watch.StateChanged, Group: fmt.Sprintf("g%d", i), State: "Stable", Members: &n})
		}
	}
	got := s.scrape()
	if n := strings.Count(got, "kgdiag_group_members{"); n != MostGroups-1 { // hidden has none
		t.Errorf("%d groups", n)
	}
	if !strings.Contains(got, "kgdiag_groups_without_metrics 53.0\n") {
		t.Error("does not say how many groups have no series")
	}
}

func TestAddress(t *testing.T) {
	for in, want := range map[string]string{"9188": "127.0.0.1:9188", ":9188": "127.0.0.1:9188", "0.0.0.0:80": "0.0.0.0:80", "[::1]:0": "[::1]:0",
		"kafka.example:9188": "kafka.example:9188", "": "", "x": "", "a:b:c": "", "70000": "", "host:": ""} {
		got, err := Address(in)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", in, got, err, want)
		}
	}
}

// TestServing holds that one path is answered, and that the end of the watch is the end.
func TestServing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	s := begin(t)
	go func() { done <- s.Serve(ctx, l) }()
	for path, code := range map[string]int{"/metrics": 200, "/": 404, "/debug/pprof/": 404} {
		r, err := http.Get("http://" + l.Addr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, r.Body)
		if r.Body.Close(); r.StatusCode != code {
			t.Errorf("%s: %d", path, r.StatusCode)
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
		t.Error("the address is still open")
	}
}

var metricName = regexp.MustCompile(`\bkgdiag_[a-z_]+`)

// TestDocumentsNameTheMetrics holds the documented table and the example alerts to what
// there is.
func TestDocumentsNameTheMetrics(t *testing.T) {
	s := begin(t)
	s.event(watch.Event{Type: watch.CauseFound, Record: "1", Cause: inspect.MemberLeft, Basis: inspect.Stated})
	have := metricName.FindAllString(s.scrape(), -1)
	slices.Sort(have)
	have = slices.Compact(have)
	for _, file := range []string{"../../docs/alerting.md", "../../docs/alerts.yml"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		named := metricName.FindAllString(string(text), -1)
		for _, n := range named {
			if !slices.Contains(have, n) {
				t.Errorf("%s: %s does not exist", file, n)
			}
		}
		if strings.HasSuffix(file, ".md") {
			for _, n := range have {
				if !slices.Contains(named, n) {
					t.Errorf("%s does not name %s", file, n)
				}
			}
		}
	}
	var rules struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	text, _ := os.ReadFile("../../docs/alerts.yml")
	if err := yaml.Unmarshal(text, &rules); err != nil || len(rules.Groups) == 0 || len(rules.Groups[0].Rules) < 4 {
		t.Errorf("docs/alerts.yml: %v, %+v", err, rules)
	}
}
