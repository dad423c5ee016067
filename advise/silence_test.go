package advise_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/clientlog"
)

// silent are the events that say nothing to be told by themselves: of a library's version,
// of a coordinator that was found, of partitions taken without a group.
func silent(e inspect.LogEvent) bool {
	switch {
	case e.Kind == inspect.LogVersion, e.Kind == inspect.LogNote, e.Sign == inspect.SignDiscovered, e.Sign == inspect.SignAssignedByHand:
		return true
	}
	return false
}

var places = regexp.MustCompile(`\{(\w*)\}`)

// TestNoEventIsMetWithSilence reads each log statement that the table of sentences calls an
// event, alone, as people paste one line: something must be said of it.
func TestNoEventIsMetWithSilence(t *testing.T) {
	table, err := os.ReadFile("../inspect/clientlog/sentences.tsv")
	if err != nil {
		t.Fatal(err)
	}
	samples := map[string]string{"group": "orders", "member": "orders-0-1f0c", "instance": "pod-0", "client": "orders-0", "gen": "45", "ms": "30123", "limit": "300000", "seconds": "12", "node": "3",
		"partition": "7", "version": "3.7.1", "api": "Fetch", "state": "Stable"}
	n := 0
	for line := range strings.Lines(string(table)) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") || len(f) != 9 || f[4] == "-" || f[4] == "frame" {
			continue
		}
		text := places.ReplaceAllStringFunc(f[8], func(m string) string {
			if v, ok := samples[m[1:len(m)-1]]; ok {
				return v
			}
			return "x"
		})
		c := inspect.Case{}
		told := false
		_, err := clientlog.Read(strings.NewReader("2026-11-29 14:43:13,123 INFO "+text), "app.log", clientlog.Options{}, clientlog.Handler{Event: func(e inspect.LogEvent) error {
			told = told || !silent(e)
			c.LogEvents = append(c.LogEvents, e)
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		if n++; told && len(advise.Evaluate(&c, advise.Options{Untried: true}).Findings) == 0 {
			t.Errorf("nothing is said of %s: %s (%v)", f[0], text, c.LogEvents)
		}
	}
	if n < 600 {
		t.Errorf("only %d events in the table", n)
	}
}
