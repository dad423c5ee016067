package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/kgdiag/kgdiag/advise/diagnose"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/past"
)

// slowOrders is the case of the design: one member is too slow for its poll interval.
func slowOrders(t *testing.T) *inspect.Case {
	t.Helper()
	f, err := os.Open("../../advise/diagnose/testdata/slow-orders.kgcase")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c, err := inspect.ReadCase(f)
	if err != nil {
		t.Fatal(err)
	}
	past.Rebuild(c)
	return c
}

var options = Options{Program: "kgdiag v1", Given: diagnose.Given{Connect: " -b kafka-1:9092", Live: " -b kafka-1:9092"}, Zone: time.UTC, Now: time.Date(2026, 11, 21, 14, 0, 0, 0, time.UTC)}

// write makes the page of groups of a case.
func write(t *testing.T, c *inspect.Case, ids ...string) string {
	t.Helper()
	var b bytes.Buffer
	triage := diagnose.Triage{Groups: diagnose.Groups(c, ids, diagnose.Options{})}
	if len(ids) != 1 {
		triage = diagnose.TriageOf(c, ids, diagnose.Options{})
	}
	if err := HTML(&b, c, triage, options); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// nodes are the elements of a page, in order.
func nodes(t *testing.T, page string) []*html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var out []*html.Node
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			out = append(out, n)
		}
	}
	return out
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func text(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return strings.TrimSpace(b.String())
}

// TestPageTellsTheStory holds what a reader must find, in the order of its weight.
func TestPageTellsTheStory(t *testing.T) {
	page := write(t, slowOrders(t), "orders")
	at := 0
	for _, want := range []string{"UNSTABLE", "6 rebalances, 3 evictions", "client orders-2 (10.42.7.22) needs longer between polls than max.poll.interval.ms (5m)", "very likely, inferred from commit gaps",
		"7m49s  longest", "ruled out: a clean close", "orders-2: silent before it left: no commit, 12:08:01 to 12:13:04 (5m03s)", "orders-8..11 not consumed for 15m08s", "max.poll.interval.ms=600000", "7m49s x 1.25 = 9m47s", "max.poll.records=250", "would have avoided 3 of 3 evictions",
		"a consumer that hangs is noticed after 10m instead of 5m", "exceeded poll interval", "orders:8,9,10,11",
		"kgdiag watch orders -b kafka-1:9092 --for 50m --fail-on eviction", "kgdiag why orders -b kafka-1:9092 --since 2026-11-21T12:00:00Z --until 2026-11-21T13:00:00Z -o html &gt; incident.html",
		"kgdiag record orders -b kafka-1:9092 --since 2026-11-21T12:00:00Z --until 2026-11-21T13:00:00Z --to orders.kgcase"} {
		i := strings.Index(page[at:], want)
		if i < 0 {
			t.Fatalf("not there, or not behind what comes before it: %s", want)
		}
		at += i
	}
}

// TestPageIsSoundAndReadableByAll holds the structure: landmarks, headings, references,
// names of pictures, and nothing from outside.
func TestPageIsSoundAndReadableByAll(t *testing.T) {
	c := slowOrders(t)
	for name, ids := range map[string][]string{"one": {"orders"}, "several": {"orders", "refunds"}, "none": {}} {
		t.Run(name, func(t *testing.T) {
			page := write(t, c, ids...)
			if strings.Contains(page, "client settings are not sent to the broker") != (len(ids) > 0) {
				t.Error("why rules were not checked is left out, or there without a group")
			}
			all := nodes(t, page)
			ids, count := idsOf(t, all), map[string]int{}
			for _, n := range all {
				count[n.Data]++
			}
			for _, one := range []string{"h1", "main", "header", "footer", "script", "style"} {
				if count[one] != 1 {
					t.Errorf("%d <%s>", count[one], one)
				}
			}
			for _, n := range all {
				soundNode(t, n, ids)
			}
		})
	}
}

// idsOf are the ids of a page, each of which must be there once.
func idsOf(t *testing.T, all []*html.Node) map[string]bool {
	t.Helper()
	ids := map[string]bool{}
	for _, n := range all {
		if id := attr(n, "id"); id != "" {
			if ids[id] {
				t.Errorf("id %s is there twice", id)
			}
			ids[id] = true
		}
	}
	return ids
}

// soundNode holds one element to what a page may have.
func soundNode(t *testing.T, n *html.Node, ids map[string]bool) {
	t.Helper()
	for _, a := range n.Attr {
		refs := []string{}
		switch {
		case a.Key == "style", strings.HasPrefix(a.Key, "on"), a.Key == "src", a.Key == "srcset", a.Key == "action":
			t.Errorf("<%s %s=%q>: the policy refuses it", n.Data, a.Key, a.Val)
		case a.Key == "href" && strings.HasPrefix(a.Val, "#"):
			refs = []string{a.Val[1:]}
		case a.Key == "href" && !strings.HasPrefix(a.Val, "https://github.com/kgdiag/"):
			t.Errorf("a link to %s", a.Val)
		case a.Key == "aria-labelledby", a.Key == "aria-describedby", a.Key == "data-copy", a.Key == "data-row":
			refs = strings.Fields(a.Val)
		}
		for _, id := range refs {
			if !ids[id] {
				t.Errorf("<%s %s>: no element has the id %s", n.Data, a.Key, id)
			}
		}
	}
	switch n.Data {
	case "svg":
		if first := n.FirstChild.NextSibling; attr(n, "aria-hidden") != "true" && (first == nil || first.Data != "title" || text(first) == "") {
			t.Errorf("a picture has no title")
		}
	case "g":
		if attr(n, "role") == "img" && (n.FirstChild.Data != "title" || text(n.FirstChild) == "") {
			t.Errorf("a part of a picture has no title")
		}
	case "th":
		if attr(n, "scope") == "" {
			t.Errorf("a heading %q of a table has no scope", text(n))
		}
	case "html":
		if attr(n, "lang") != "en" {
			t.Error("no language")
		}
	case "button", "h1", "h2", "h3", "summary", "a":
		if text(n) == "" {
			t.Errorf("<%s> has no text", n.Data)
		}
	case "img", "link", "iframe", "object", "base", "form", "input":
		t.Errorf("<%s> is there", n.Data)
	}
}

// TestPolicyAllowsNothingButThePage holds the hashes to what a browser will hash.
func TestPolicyAllowsNothingButThePage(t *testing.T) {
	policy := ""
	for _, n := range nodes(t, write(t, slowOrders(t), "orders")) {
		switch n.Data {
		case "meta":
			if attr(n, "http-equiv") == "Content-Security-Policy" {
				policy = attr(n, "content")
			}
		case "style", "script":
			sum := sha256.Sum256([]byte(n.FirstChild.Data))
			if want := fmt.Sprintf("%s-src 'sha256-%s'", n.Data, base64.StdEncoding.EncodeToString(sum[:])); !strings.Contains(policy, want) {
				t.Errorf("the policy %q lacks %s", policy, want)
			}
		}
	}
	if !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "unsafe") {
		t.Errorf("policy %q", policy)
	}
}

// hostile is an id as no cluster refuses it.
const hostile = "x</script></style></title><img src=//evil.example onerror=alert(1)>\"'`&{{.}}\n\u202egpj"

// rename gives everything from outside in a case a hostile name.
func rename(c *inspect.Case) {
	c.Cluster.Context, c.Cluster.ID, c.Cluster.Bootstrap = hostile, hostile, hostile
	for i := range c.Groups {
		g := &c.Groups[i]
		g.ID, g.Assignor, g.State = hostile, hostile, hostile
		for k := range g.Members {
			m := &g.Members[k]
			m.ClientID, m.Host, m.MemberID, m.Topics = hostile, hostile, hostile+m.MemberID, []string{hostile}
		}
	}
	for i := range c.Timelines {
		tl := &c.Timelines[i]
		tl.Group = hostile
		for k := range tl.Spans {
			tl.Spans[k].Lane += hostile
		}
		for k := range tl.Rebalances {
			r := &tl.Rebalances[k]
			r.Evidence, r.Notes, r.ID = []string{hostile}, []string{hostile}, hostile
			r.Rivals = []inspect.Rival{{Cause: inspect.MemberLeft, WhyNot: hostile}}
			for j := range r.Members.Left {
				l := &r.Members.Left[j]
				l.ClientID, l.Host, l.MemberID, l.IdlePartitions = hostile, hostile, hostile, []string{hostile}
			}
		}
	}
	c.Gaps = []inspect.Gap{{Fact: inspect.FactLag, What: hostile, Why: hostile, Needs: hostile}}
	c.Brokers = []inspect.Broker{{Config: map[string]string{"group." + hostile: hostile}}}
	c.Configs = []inspect.ClientConfig{{Where: inspect.Position{File: hostile}, Settings: []inspect.Setting{{Key: hostile, Spelled: hostile, Value: hostile, Origin: inspect.OriginSet}}}}
}

// TestNothingFromOutsideIsMarkup puts markup into every name.
func TestNothingFromOutsideIsMarkup(t *testing.T) {
	c := slowOrders(t)
	rename(c)
	page := write(t, c, hostile)
	scripts := 0
	all := nodes(t, page)
	ids := idsOf(t, all)
	for _, n := range all {
		if n.Data == "script" {
			scripts++
			if n.FirstChild.Data != script {
				t.Errorf("the script is %q", n.FirstChild.Data)
			}
		}
	}
	for _, n := range all {
		soundNode(t, n, ids)
	}
	if scripts != 1 {
		t.Errorf("%d scripts", scripts)
	}
	if strings.ContainsAny(page, "\u202e\x00") || strings.Contains(page, "<img") {
		t.Error("a name is markup, or turns the direction of text")
	}
	if n := strings.Count(page, `&lt;img src=//evil.example onerror=alert(1)&gt;`); n < 40 {
		t.Errorf("the names are shown %d times only: not all of them were put in", n)
	}
	if !strings.Contains(page, `\n\u202egpj`) {
		t.Error("what a reader cannot see is not shown as an escape")
	}
}

// TestPageStaysSmall makes the largest of everything: what is left out is said.
func TestPageStaysSmall(t *testing.T) {
	c := slowOrders(t)
	tl := *c.Timeline("orders")
	live := c.Groups[0]
	long := strings.Repeat("very-", 1500)
	c.Groups, c.Timelines, c.Records = nil, nil, nil
	var ids []string
	for i := range 27 {
		id := fmt.Sprintf("%s%d", long, i)
		g, timeline := live, inspect.Timeline{Group: id, Type: tl.Type}
		g.ID = id
		for k := range 200 {
			r := tl.Rebalances[k%len(tl.Rebalances)]
			r.Time = inspect.At(c.Window.From.Add(time.Duration(k) * time.Second))
			r.Evidence = []string{long, long}
			timeline.Rebalances = append(timeline.Rebalances, r)
			timeline.Spans = append(timeline.Spans, inspect.Span{Lane: fmt.Sprintf("%s%d", long, k%200), From: r.Time, To: inspect.At(r.Time.Add(time.Second)), Kind: "out"})
		}
		c.Groups, c.Timelines, ids = append(c.Groups, g), append(c.Timelines, timeline), append(ids, id)
	}
	page := write(t, c, ids...)
	if len(page) > MostBytes || len(page) < MostBytes/8 {
		t.Errorf("%d bytes", len(page))
	}
	for _, want := range []string{"Left out, to keep this page below 2 MB", "older rebalances", "lanes of members", "the details of"} {
		if !strings.Contains(page, want) {
			t.Errorf("does not say %q", want)
		}
	}
}

var (
	block  = regexp.MustCompile(`(?s):root \{([^}]*--page[^}]*)\}`)
	colour = regexp.MustCompile(`--([a-z]+): #([0-9a-f]{6})`)
)

// TestContrast holds the palettes to WCAG 2.2 AA: 4.5 for text, 3 for what a picture
// is read by.
func TestContrast(t *testing.T) {
	palettes := block.FindAllStringSubmatch(style, -1)
	if len(palettes) != 2 {
		t.Fatalf("%d palettes, want light and dark", len(palettes))
	}
	for i, p := range palettes {
		c := map[string]float64{}
		for _, m := range colour.FindAllStringSubmatch(p[1], -1) {
			c[m[1]] = luminance(m[2])
		}
		need := func(least float64, on string, names ...string) {
			for _, n := range names {
				a, b := c[n], c[on]
				if _, known := c[n]; !known {
					t.Errorf("palette %d has no %s", i, n)
				}
				if ratio := (math.Max(a, b) + 0.05) / (math.Min(a, b) + 0.05); ratio < least {
					t.Errorf("palette %d: %s on %s has %.2f, want %g", i, n, on, ratio, least)
				}
			}
		}
		need(4.5, "page", "text", "dim", "link", "bad", "warn", "good")
		need(4.5, "card", "text", "dim", "link", "bad", "warn", "good")
		need(4.5, "code", "text", "link", "bad", "warn")
		need(3, "page", "member", "silent", "out", "mark", "focus", "line")
	}
}

// luminance is the relative luminance of a colour, "1c2430".
func luminance(hex string) float64 {
	l := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, _ := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
		v := float64(n) / 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		l += weight * v
	}
	return l
}

// TestMarkdownEscapesWhatIsNotItsOwn puts markup into every name.
func TestMarkdownEscapesWhatIsNotItsOwn(t *testing.T) {
	c := slowOrders(t)
	rename(c)
	var b bytes.Buffer
	if err := Markdown(&b, c, diagnose.TriageOf(c, []string{hostile}, diagnose.Options{}), options); err != nil {
		t.Fatal(err)
	}
	fenced := false
	for line := range strings.Lines(b.String()) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		} else if !fenced && strings.ContainsAny(line, "<\u202e") {
			t.Errorf("markup: %s", line)
		}
	}
	if fenced {
		t.Error("a fence is not closed")
	}
}

// TestChartShowsWhereSomethingIsKnown holds that a group that is a minute old fills the
// picture, and one of which all is known the whole window.
func TestChartShowsWhereSomethingIsKnown(t *testing.T) {
	at := func(minute float64) inspect.Time {
		return inspect.At(options.Now.Add(time.Duration(minute * float64(time.Minute))))
	}
	w := inspect.Window{From: at(0), To: at(60)}
	for name, c := range map[string]struct {
		spans      []inspect.Span
		rebalances []inspect.Rebalance
		from, to   inspect.Time
	}{
		"all":    {[]inspect.Span{{From: at(-5), To: at(70)}}, nil, at(0), at(60)},
		"young":  {[]inspect.Span{{From: at(50), To: at(60)}}, nil, at(49.8), at(60)},
		"middle": {[]inspect.Span{{From: at(20), To: at(25)}}, []inspect.Rebalance{{Time: at(30)}}, at(19.8), at(30.2)},
		"moment": {[]inspect.Span{{From: at(30), To: at(30)}}, nil, inspect.At(at(30).Add(-time.Second)), inspect.At(at(30).Add(time.Second))},
	} {
		if got := w.Known(c.spans, c.rebalances); !got.From.Equal(c.from.Time) || !got.To.Equal(c.to.Time) {
			t.Errorf("%s: %v to %v", name, got.From, got.To)
		}
	}
}

// TestServerSideGroupsHaveEpochs holds the headings of a KIP-848 group.
func TestServerSideGroupsHaveEpochs(t *testing.T) {
	f, err := os.Open("../../inspect/judge/testdata/cases/killed-kip848-45s.kgcase")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c, err := inspect.ReadCase(f)
	if err != nil {
		t.Fatal(err)
	}
	past.Rebuild(c)
	page := write(t, c, c.GroupIDs()...)
	for _, want := range []string{">Epoch</th>", ">Converged in</th>", "client dead (127.0.0.1) probably sent no heartbeat for session.timeout.ms (45s)", `<td class="t">4.0s</td>`} {
		if !strings.Contains(page, want) {
			t.Errorf("%s is not there", want)
		}
	}
}

// TestTimesOfAnyZone writes a case as it is read from a cluster, whose times are of the
// machine's zone.
func TestTimesOfAnyZone(t *testing.T) {
	c := slowOrders(t)
	zone := time.FixedZone("EST", -5*3600)
	c.Window.From, c.Window.To = inspect.At(c.Window.From.In(zone)), inspect.At(c.Window.To.In(zone))
	if page := write(t, c, "orders"); !strings.Contains(page, "21 Nov 2026 12:00:00 UTC to 21 Nov 2026 13:00:00 UTC") {
		t.Error("the window is not in the reader's zone")
	}
}
