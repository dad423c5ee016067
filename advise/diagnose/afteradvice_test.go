package diagnose_test

import (
	"fmt"
	"testing"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/advise/diagnose"
	"github.com/kgdiag/kgdiag/inspect"
)

// TestAfterAdvice: a log without a cluster leads to the command that measures, findings on
// one file to the patch of all of them, and one finding, or a log whose advice has a value,
// to nothing more.
func TestAfterAdvice(t *testing.T) {
	in := func(id, file string, set map[string]string) advise.Finding {
		return advise.Finding{ID: id, Group: "my orders", Where: &inspect.Position{File: file, Line: 1}, Fix: &advise.Fix{Set: set}}
	}
	c := &inspect.Case{LogFiles: []inspect.LogFile{{Name: "app.log"}}}
	run := diagnose.Advised{Run: " -f c.properties", Logs: " --log app.log", Files: []string{"c.properties"}}
	value := map[string]string{"session.timeout.ms": "45000"}
	measure := "[{kgdiag why 'my orders' -b HOST:PORT --log app.log measures how long it took, for a value to set}]"
	for _, x := range []struct {
		of   *inspect.Case
		fs   []advise.Finding
		want string
	}{
		{c, []advise.Finding{in("KGD215", "app.log", nil), in("KGD214", "app.log", nil)}, measure},
		{c, []advise.Finding{in("KGD215", "app.log", value)}, "[]"},
		{&inspect.Case{LogFiles: c.LogFiles, Cluster: inspect.Cluster{Bootstrap: "k:9092"}}, []advise.Finding{in("KGD215", "app.log", nil)}, "[]"},
		{c, []advise.Finding{in("KGD126", "c.properties", value)}, "[]"},
		{c, []advise.Finding{in("KGD126", "c.properties", value), in("KGD107", "c.properties", value)}, "[{kgdiag advise -f c.properties --diff all of it as one patch}]"},
	} {
		if got := fmt.Sprint(diagnose.AfterAdvice(x.of, x.fs, run)); got != x.want {
			t.Errorf("%v: %s, want %s", x.fs, got, x.want)
		}
	}
}

// TestLagNamesItsMember: most of the lag in one member's partitions says where to look.
func TestLagNamesItsMember(t *testing.T) {
	lag := func(n int64) *int64 { return &n }
	for _, c := range []struct {
		first, second int64
		want          string
	}{{104, 12, "Stable, 2 members, lag 116 (104 of it in the partitions of orders-2)"}, {12, 0, "Stable, 2 members, lag 12 (all in the partitions of orders-2)"}, {58, 58, "Stable, 2 members, lag 116"}, {4, 1, "Stable, 2 members, lag 5"}} {
		g := inspect.Group{ID: "orders", State: "Stable", Lag: lag(c.first + c.second), Members: []inspect.Member{{ClientID: "orders-2", Lag: lag(c.first)}, {ClientID: "orders-1", Lag: lag(c.second)}}}
		d := diagnose.Group(&inspect.Case{Groups: []inspect.Group{g}}, "orders", diagnose.Options{})
		if got := d.Now(g.StateSince.Time); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
