package judge

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/departures"
	"github.com/kgdiag/kgdiag/internal/golden"
)

// labelled is one group of testdata/departures-*.jsonl.gz.
type labelled = departures.Group

// tuned is the file of labelled departures that tuned the procedure; holdouts, below,
// were recorded afterwards by scripts/record-departures.
const tuned = "departures-4.1.1"

// readLabelled reads the groups that tuned the procedure, once.
func readLabelled(t testing.TB) []labelled {
	t.Helper()
	return readFile(t, tuned)
}

// readFile reads the groups of a file, once.
func readFile(t testing.TB, name string) []labelled {
	t.Helper()
	if got, ok := cached[name]; ok {
		return got
	}
	out, err := departures.ReadFile("testdata/" + name + ".jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	cached[name] = out
	return out
}

var cached = map[string][]labelled{}

// victimVerdict is what the timeline says of the step in which the victim went.
func victimVerdict(tl inspect.Timeline, faultAt int64, victim string) (*inspect.Rebalance, *inspect.Departure) {
	for i := range tl.Rebalances {
		r := &tl.Rebalances[i]
		if r.Time.UnixMilli() < faultAt {
			continue
		}
		for j := range r.Members.Left {
			if r.Members.Left[j].ClientID == victim {
				return r, &r.Members.Left[j]
			}
		}
		for _, sw := range r.Members.Replaced {
			if sw.ClientID == victim {
				return r, nil
			}
		}
	}
	return nil, nil
}

// outcome grades a verdict against the truth.
func outcome(r *inspect.Rebalance, truth inspect.Cause) string {
	if r == nil {
		return "unknown"
	}
	if departures.Right(r.Cause, truth) {
		return "right"
	}
	if r.Cause == inspect.UnknownCause {
		return "unknown"
	}
	for _, v := range r.Rivals {
		if v.Cause == truth && v.WhyNot == "" {
			return "hedged"
		}
	}
	return "wrong"
}

var update = flag.Bool("update", false, "write the golden files and docs/accuracy.md")

// score counts verdicts by outcome and confidence.
type score map[[2]string]int

func (s score) add(r *inspect.Rebalance, truth inspect.Cause) string {
	o, conf := outcome(r, truth), "low"
	if r != nil {
		conf = string(r.Confidence)
	}
	s[[2]string{o, conf}]++
	return o
}

var outcomes = []string{"right", "hedged", "unknown", "wrong"}

func (s score) row() string {
	var b strings.Builder
	for _, o := range outcomes {
		for _, c := range []string{"high", "medium", "low"} {
			if o == "unknown" && c != "low" {
				continue
			}
			fmt.Fprintf(&b, " %d |", s[[2]string{o, c}])
		}
	}
	return b.String()
}

// scoreAll runs the timeline over labelled groups and returns the score, the score of
// each part, and a line for each group.
func scoreAll(list []labelled, read func(labelled) *inspect.Case, part func(labelled) string) (score, map[string]score, []string) {
	total, parts := score{}, map[string]score{}
	var lines []string
	for _, l := range list {
		tls := Build(read(l), Options{})
		r, _ := victimVerdict(tls[0], l.FaultAt, l.Victim)
		if parts[part(l)] == nil {
			parts[part(l)] = score{}
		}
		parts[part(l)].add(r, l.Truth)
		o := total.add(r, l.Truth)
		lines = append(lines, fmt.Sprintf("%-14s %-8s truth %-24s said %s", l.Group, o, l.Truth, verdictText(r)))
	}
	slices.Sort(lines)
	return total, parts, lines
}

func byClient(l labelled) string { return l.Client + ", " + l.Protocol }

// byReach separates the groups of which no record tells the truth.
func byReach(l labelled) string {
	if l.Unreachable != "" {
		return "unreachable: " + l.Unreachable
	}
	return decided
}

// decided are the groups whose records tell the truth.
const decided = "decided by records"

func byFault(l labelled) string { return "fault " + l.Fault }

func verdictText(r *inspect.Rebalance) string {
	if r == nil {
		return "nothing: no record shows the member before its departure"
	}
	var open []string
	for _, v := range r.Rivals {
		if v.WhyNot == "" {
			open = append(open, string(v.Cause))
		}
	}
	s := string(r.Cause) + ", " + string(r.Confidence)
	if len(open) > 0 {
		s += ", or " + strings.Join(open, ", ")
	}
	return s
}

// TestDepartures scores the timeline on the labelled departures, on changed copies
// of them and on simulated groups, and compares the score with the committed one: a
// change that makes verdicts better or worse shows. No verdict may be wrong with
// high confidence anywhere.
func TestDepartures(t *testing.T) {
	total, parts, lines := scoreAll(readLabelled(t), labelled.Alone, byClient)
	sound(t, tuned, total, 0)
	compare(t, "testdata/departures.golden", strings.Join(lines, "\n")+"\n")
	compare(t, "../../docs/accuracy.md", accuracy(t, total, parts))
}

// TestHoldouts holds the timeline to groups that did not tune it, as their records
// alone show them and as kgdiag reads them, with the client libraries that it finds.
func TestHoldouts(t *testing.T) {
	for _, h := range holdouts {
		for _, v := range h.views() {
			total, _, lines := scoreAll(readFile(t, h.file), v.read, byClient)
			sound(t, h.file+v.suffix, total, h.wrong)
			compare(t, "testdata/"+h.file+v.suffix+".golden", strings.Join(lines, "\n")+"\n")
		}
	}
}

// view is a way to look at a hold-out.
type view struct {
	name, suffix string
	read         func(labelled) *inspect.Case
}

// views are the ways to look at every hold-out.
var views = []view{
	{"records alone", "", labelled.Alone},
	{"with the client library", "-read", labelled.Read},
}

// views are the ways to look at this one.
func (h heldOut) views() []view {
	if !h.seen {
		return views
	}
	return append(slices.Clone(views), view{"and where partitions ended", "-asked", asked(labelled.Read)}, view{"and what polls saw", "-watched", asked(labelled.Watched)})
}

// asked adds what the leaders answer to the judge's own questions.
func asked(read func(labelled) *inspect.Case) func(labelled) *inspect.Case {
	return func(l labelled) *inspect.Case {
		c := read(l)
		c.OffsetsAt = nil // what was asked when it was recorded
		c.OffsetsAt = l.Answer(Questions(c, Options{}))
		return c
	}
}

// holdoutTables are the scores of the hold-outs, by what records can tell, and by client.
func holdoutTables(t *testing.T, head string) string {
	var b strings.Builder
	for _, h := range holdouts {
		list := readFile(t, h.file)
		b.WriteString(h.text)
		fmt.Fprintf(&b, head, "groups")
		b.WriteString(h.before)
		for _, v := range h.views() {
			total, _, _ := scoreAll(list, v.read, byClient)
			fmt.Fprintf(&b, "| now, %s: all %d |%s\n", v.name, len(list), total.row())
		}
		for _, part := range []func(labelled) string{byReach, byClient, byFault} {
			_, parts, _ := scoreAll(list, labelled.Read, part)
			for _, k := range slices.Sorted(maps.Keys(parts)) {
				fmt.Fprintf(&b, "| %s |%s\n", k, parts[k].row())
			}
		}
		if h.seen {
			_, parts, _ := scoreAll(list, asked(labelled.Watched), byReach)
			fmt.Fprintf(&b, "| %s, and what polls saw |%s\n", decided, parts[decided].row())
		}
	}
	return b.String()
}

// sound fails the test where a verdict is wrong and sure of itself, but for so many with
// medium confidence as are known.
func sound(t *testing.T, what string, s score, known int) {
	t.Helper()
	for conf, most := range map[string]int{"high": 0, "medium": known} {
		if n := s[[2]string{"wrong", conf}]; n > most {
			t.Errorf("%s: %d verdicts are wrong with %s confidence", what, n, conf)
		}
	}
}

func compare(t *testing.T, file, got string) {
	t.Helper()
	golden.Compare(t, *update, file, got, "run go test ./inspect/judge -update and look at the difference")
}

// adviceSection is the part of docs/accuracy.md that internal/fieldscore writes.
func adviceSection(t *testing.T) string {
	t.Helper()
	const begin, end = "<!-- internal/fieldscore -->\n", "<!-- end -->\n"
	data, err := os.ReadFile("../../docs/accuracy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(data), begin)
	section, _, ends := strings.Cut(rest, end)
	if !found || !ends {
		t.Fatalf("docs/accuracy.md: no part between %q and %q", begin, end)
	}
	return begin + section + end
}

// stabilityRow is the row that the test of watch writes.
func stabilityRow(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../watch/testdata/stability.golden")
	if err != nil {
		t.Fatal(err)
	}
	row, _, _ := strings.Cut(string(data), "\n")
	return row + "\n"
}

// accuracy is docs/accuracy.md.
func accuracy(t *testing.T, total score, parts map[string]score) string {
	var b strings.Builder
	b.WriteString(accuracyHead)
	b.WriteString(adviceSection(t))
	b.WriteString(accuracyHoldout)
	head := "| %s | right, high | medium | low | hedged, high | medium | low | unknown | wrong, high | medium | low |\n|---|---|---|---|---|---|---|---|---|---|---|\n"
	b.WriteString(holdoutTables(t, head))
	b.WriteString(accuracyStability)
	b.WriteString(stabilityRow(t))
	b.WriteString(accuracyHidden)
	fmt.Fprintf(&b, head, "groups")
	for _, h := range holdouts {
		for _, v := range hiddenViews {
			if list := readFile(t, h.file); h.seen {
				total, _, _ := scoreAll(list, v.read, byClient)
				fmt.Fprintf(&b, "| %s, %s: all %d |%s\n", h.file, v.name, len(list), total.row())
			}
		}
	}
	b.WriteString(accuracyLoop)
	b.WriteString(accuracyLabelled)
	fmt.Fprintf(&b, head, "groups")
	fmt.Fprintf(&b, "| all |%s\n", total.row())
	for _, k := range slices.Sorted(maps.Keys(parts)) {
		fmt.Fprintf(&b, "| %s |%s\n", k, parts[k].row())
	}
	b.WriteString(accuracyLabelledAfter)
	b.WriteString(accuracyPerturbed)
	fmt.Fprintf(&b, head, "change")
	for _, p := range perturbations[1:] {
		fmt.Fprintf(&b, "| %s |%s\n", p.name, perturbed(t, p, readLabelled(t), labelled.Alone).row())
	}
	b.WriteString(accuracySimulated)
	fmt.Fprintf(&b, head, "kind of group")
	for _, row := range simulatedRows(t) {
		b.WriteString(row)
	}
	b.WriteString(accuracyTail)
	return b.String()
}
