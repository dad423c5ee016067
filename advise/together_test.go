package advise_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/inspect"
)

// storm is a group whose member orders-1 is evicted every two minutes, 24 times, each
// time with the causes of the fixture.
func storm(t *testing.T, cause inspect.Cause) *inspect.Case {
	t.Helper()
	for _, f := range fixtures(t) {
		if f.Path != "testdata/KGD201/fires-unknown-process.txtar" {
			continue
		}
		line := &f.Case.Timelines[0]
		one := line.Rebalances[0]
		line.Rebalances = nil
		for i := range 24 {
			r := one
			r.Time = inspect.Time{Time: one.Time.Add(time.Duration(i) * 2 * time.Minute)}
			r.Cause = cause
			r.Members.Left = []inspect.Departure{one.Members.Left[0]}
			line.Rebalances = append(line.Rebalances, r)
		}
		return &f.Case
	}
	t.Fatal("the fixture is gone")
	return nil
}

// TestAStormIsToldUnderWhatCausesMostOfIt: the number of rebalances is a symptom of the
// evictions, though it is the more severe of the two; of evictions that explain few of
// the rebalances it is not.
func TestAStormIsToldUnderWhatCausesMostOfIt(t *testing.T) {
	told := func(c *inspect.Case) (lead, below string) {
		for _, s := range advise.Together(advise.Evaluate(c, advise.Options{}).Findings, true) {
			if s.ID == "KGD203" {
				lead = s.Message
			}
			for _, f := range s.Symptoms {
				if s.ID == "KGD201" && f.ID == "KGD203" {
					below = f.Message
				}
			}
		}
		return lead, below
	}
	if lead, below := told(storm(t, inspect.SessionExpired)); lead != "" || !strings.Contains(below, "24 rebalances within an hour") || !strings.Contains(below, "causes: expired session x24") {
		t.Errorf("the storm stands alone as %q, below the evictions as %q", lead, below)
	}
	if lead, below := told(storm(t, inspect.UnknownCause)); below != "" || !strings.Contains(lead, "causes: unknown x24") {
		t.Errorf("the storm of another cause stands alone as %q, below the evictions as %q", lead, below)
	}
}

// TestASymptomStaysBehindItsOwnCause: a symptom of a symptom is shown with the finding
// that explains both, and one whose cause is not shown stands alone.
func TestASymptomStaysBehindItsOwnCause(t *testing.T) {
	f := func(id, because string) advise.Finding {
		return advise.Finding{ID: id, Severity: advise.Warning, Group: "a", BecauseOf: because}
	}
	got := advise.Together([]advise.Finding{f("KGD103", ""), f("KGD201", "KGD103"), f("KGD203", "KGD201"), f("KGD301", "")}, false)
	if len(got) != 2 || len(got[0].Symptoms) != 2 || len(got[1].Symptoms) != 0 {
		t.Errorf("%+v", got)
	}
	if got := advise.Together([]advise.Finding{f("KGD301", ""), f("KGD203", "KGD201")}, false); len(got) != 2 || got[1].ID != "KGD203" {
		t.Errorf("its cause was left out, and it was told as %+v", got)
	}
}
