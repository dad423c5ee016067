package fieldscore

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var (
	update  = flag.Bool("update", false, "write the goldens and the section of docs/accuracy.md")
	program = flag.String("kgdiag", "", "score this `program` instead, and print its figures")
)

// TestReports scores every report and holds the scores to the goldens: none becomes
// worse. -run 'TestReports/batch1/name' -v shows what an answer lacks.
func TestReports(t *testing.T) {
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "KGDIAG_") {
			t.Setenv(name, "")
			os.Unsetenv(name)
		}
	}
	for _, batch := range batches(t) {
		t.Run(batch, func(t *testing.T) { scoreBatch(t, batch) })
	}
}

func scoreBatch(t *testing.T, batch string) {
	e, before := readBatch(t, batch), readGolden(t, batch)
	now := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(e.Cases)) {
		t.Run(name, func(t *testing.T) {
			now[name] = scoreReport(t, e.Cases[name], filepath.Join("testdata", batch, name))
			old := before[name]
			switch {
			case *update || *program != "":
			case old == "":
				t.Errorf("it is not in the golden; run with -update")
			case worse(now[name], old) != old:
				t.Errorf("it was %s and is %s", old, now[name])
			}
		})
	}
	if *program != "" {
		fmt.Printf("%s: %s\n", batch, tally(now, e.Cases))
	} else if *update && len(now) == len(e.Cases) {
		writeGolden(t, batch, now)
	}
}

// scoreReport is the worst verdict of a report's runs.
func scoreReport(t *testing.T, r report, folder string) string {
	t.Helper()
	runs, err := r.runs()
	if err != nil {
		t.Fatal(err)
	}
	verdict := right
	for _, one := range runs {
		v, reasons := one.judge(advise(t, folder, one.Args))
		if v != right {
			t.Logf("%s: kgdiag advise %s\n  %s\n  right: %s", v, strings.Join(one.Args, " "), strings.Join(reasons, "\n  "), one.Accepted)
		}
		verdict = worse(verdict, v)
	}
	return verdict
}

// tally are the cells of a batch: the reports whose evidence is in the files, and the
// others, by verdict.
func tally(score map[string]string, cases map[string]report) string {
	var n [2]map[string]int
	n[0], n[1] = map[string]int{}, map[string]int{}
	for name, v := range score {
		other := 0
		if cases[name].Kind != "" {
			other = 1
		}
		n[other][v]++
		n[other][""]++
	}
	var cells []string
	for _, m := range n {
		for _, v := range append([]string{""}, verdicts...) {
			cells = append(cells, fmt.Sprint(m[v]))
		}
	}
	return strings.Join(cells, " | ")
}

// readGolden has a line a report: name, verdict.
func readGolden(t *testing.T, batch string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", batch+".golden"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	out := map[string]string{}
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) == 2 {
			out[f[0]] = f[1]
		}
	}
	return out
}

func writeGolden(t *testing.T, batch string, score map[string]string) {
	t.Helper()
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(score)) {
		fmt.Fprintf(&b, "%s %s\n", name, score[name])
	}
	if err := os.WriteFile(filepath.Join("testdata", batch+".golden"), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
