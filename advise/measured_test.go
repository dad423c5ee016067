package advise_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/inspect"
)

// evicted is a group whose member was evicted after a session of 10 s and came back after
// some silence, with the lines of its file.
func evicted(family inspect.Family, silence time.Duration, lines ...inspect.Setting) *inspect.Case {
	session, client := inspect.Ms(10*time.Second), inspect.ClientGuess{Family: family, Confidence: inspect.High}
	m := inspect.Member{MemberID: "m-1", ClientID: "c", Protocol: inspect.Classic, Session: session, Client: client}
	left := inspect.Departure{MemberID: "m-0", ClientID: "c", Cause: inspect.SessionExpired, Session: session, Client: client,
		Returned: inspect.ReturnedSameProcess, BackAfter: inspect.Ms(silence)}
	c := &inspect.Case{
		Groups: []inspect.Group{{ID: "g", Type: inspect.Classic, State: "Stable", Members: []inspect.Member{m}}},
		Timelines: []inspect.Timeline{{Group: "g", Rebalances: []inspect.Rebalance{{Time: inspect.At(time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)),
			Cause: inspect.SessionExpired, Confidence: inspect.High, Members: inspect.Change{Left: []inspect.Departure{left}}}}}},
	}
	if len(lines) > 0 {
		for i := range lines {
			lines[i].Spelled, lines[i].Origin, lines[i].Where = lines[i].Key, inspect.OriginSet, inspect.Position{File: "g.properties", Line: i + 1}
		}
		c.Configs = []inspect.ClientConfig{{Where: inspect.Position{File: "g.properties"}, Dialect: "java", Family: inspect.Java, Assumed: true, Group: "g", Settings: lines}}
	}
	return c
}

func timed(key string, d time.Duration) inspect.Setting {
	return inspect.Setting{Key: key, Value: fmt.Sprint(d.Milliseconds()), Millis: inspect.Ms(d)}
}

func of(fs []advise.Finding, id string) []advise.Finding {
	return slices.DeleteFunc(slices.Clone(fs), func(f advise.Finding) bool { return f.ID != id })
}

// TestARatioExplainsNoLongerSilence: two heartbeats in a session instead of three explain
// an eviction that one lost heartbeat ends, and no silence of 24 s, which outlasts what
// either of their settings says. The page then has the measured session once, for the file
// and its members, and the ratio follows it: a heartbeat for the old session is not offered.
func TestARatioExplainsNoLongerSilence(t *testing.T) {
	for silence, because := range map[time.Duration]string{14 * time.Second: "KGD101", 24 * time.Second: ""} {
		c := evicted(inspect.Java, silence, timed("session.timeout.ms", 10*time.Second), timed("heartbeat.interval.ms", 5*time.Second))
		fs := advise.Evaluate(c, advise.Options{}).Findings
		measured, ratio := of(fs, "KGD201"), of(fs, "KGD101")
		if len(measured) != 1 || len(ratio) != 1 || measured[0].BecauseOf != because || measured[0].Where == nil {
			t.Fatalf("%s: %+v, %+v", silence, measured, ratio)
		}
		if because != "" {
			continue
		}
		if got := measured[0].Fix.Set["session.timeout.ms"]; got != "30000" {
			t.Errorf("KGD201 sets %s", got)
		}
		if fix := ratio[0].Fix; len(fix.Set) != 1 || fix.Set["session.timeout.ms"] != "30000" || len(fix.Alternatives) > 0 || fix.Notes["session.timeout.ms"] != "as KGD201 says" {
			t.Errorf("KGD101 sets %v (%v), or %v", fix.Set, fix.Notes, fix.Alternatives)
		}
	}
}

// TestAMeasuredValueOutranksADefault is a member near the broker's minimum: what it was
// measured to need stands for both findings, and without a measurement the default does,
// and says that it is one.
func TestAMeasuredValueOutranksADefault(t *testing.T) {
	for silence, want := range map[time.Duration]struct{ value, note string }{
		10 * time.Second: {"15000", "as KGD201 says"},
		time.Second:      {"45000", "the client's default"},
	} {
		c := evicted(inspect.Java, silence, timed("session.timeout.ms", 6*time.Second), timed("heartbeat.interval.ms", 2*time.Second))
		c.Groups[0].Limits = inspect.Limits{SessionMin: inspect.Ms(6 * time.Second), SessionMax: inspect.Ms(30 * time.Minute), From: "broker 1"}
		near := slices.DeleteFunc(of(advise.Evaluate(c, advise.Options{}).Findings, "KGD109"), func(f advise.Finding) bool { return f.Where == nil })
		if len(near) != 1 || near[0].Fix.Set["session.timeout.ms"] != want.value || near[0].Fix.Notes["session.timeout.ms"] != want.note {
			t.Errorf("silent for %s: %+v", silence, near)
		}
	}
}

// TestAFileIsReadAsOfItsMembers: a plain file of a group whose members are known to be of
// one library is that library's; where they are not, it stays Java's.
func TestAFileIsReadAsOfItsMembers(t *testing.T) {
	for _, tc := range []struct {
		family inspect.Family
		sure   inspect.Confidence
		want   int
	}{{inspect.Librdkafka, inspect.High, 1}, {inspect.Librdkafka, inspect.Low, 0}, {inspect.Java, inspect.High, 0}, {inspect.Unknown, inspect.High, 0}} {
		c := evicted(tc.family, time.Second, inspect.Setting{Key: "max.poll.records", Value: "500"})
		c.Groups[0].Members[0].Client.Confidence = tc.sure
		if got := of(advise.Evaluate(c, advise.Options{}).Findings, "KGD506"); len(got) != tc.want {
			t.Errorf("%s, %s: %d findings on a key that librdkafka does not have: %v", tc.family, tc.sure, len(got), got)
		}
	}
}

// TestASymptomTripsAsItsCause: the exit code says what the page says.
func TestASymptomTripsAsItsCause(t *testing.T) {
	f := func(id string, s advise.Severity, because string) advise.Finding {
		return advise.Finding{ID: id, Severity: s, Confidence: inspect.High, Group: "g", BecauseOf: because}
	}
	storm := []advise.Finding{f("KGD201", advise.Warning, ""), f("KGD203", advise.Error, "KGD201")}
	unsure := []advise.Finding{{ID: "KGD201", Severity: advise.Error, Confidence: inspect.Low}}
	for _, tc := range []struct {
		fs        []advise.Finding
		floor, at advise.Severity
		want      bool
	}{
		{storm, advise.Warning, advise.Error, false},
		{storm, advise.Warning, advise.Warning, true},
		{storm, advise.Error, advise.Error, true}, // its cause is not shown: it stands alone
		{storm, advise.Warning, "", false},
		{[]advise.Finding{f("KGD304", advise.Info, "")}, advise.Warning, advise.Info, true},
		{unsure, advise.Warning, advise.Warning, false},
	} {
		if got := advise.Trip(tc.fs, tc.floor, tc.at); got != tc.want {
			t.Errorf("%v from %s on, at %q: %t", tc.fs, tc.floor, tc.at, got)
		}
	}
}

// TestEveryPageCountsTheSameRules: what was read decides how many are checked, and not how
// many there are.
func TestEveryPageCountsTheSameRules(t *testing.T) {
	for _, c := range []*inspect.Case{{}, evicted(inspect.Java, time.Second), evicted(inspect.Java, time.Second, timed("session.timeout.ms", 10*time.Second))} {
		r := advise.Evaluate(c, advise.Options{})
		if r.Rules != len(advise.Rules()) {
			t.Errorf("%d rules, of %d", r.Rules, len(advise.Rules()))
		}
		ids := map[string]bool{}
		for _, u := range r.Unchecked {
			ids[u.ID] = true
		}
		if r.Checked+len(ids) != r.Rules {
			t.Errorf("%d checked and %d not, of %d rules", r.Checked, len(ids), r.Rules)
		}
		if text := advise.NotChecked(r.Unchecked); len(c.Configs) == 0 && !strings.Contains(text, "client settings (add -f FILE)") {
			t.Errorf("says %q", text)
		}
	}
}
