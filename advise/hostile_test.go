package advise_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/inspect"
)

// TestHostileCases gives the engine cases that no reader would make: it must not
// panic, and must say what it did not check.
func TestHostileCases(t *testing.T) {
	neg, huge, zero := inspect.Ms(-time.Hour), inspect.Ms(math.MaxInt64), inspect.Ms(0)
	member := func(s, r *inspect.Millis) inspect.Member {
		return inspect.Member{Session: s, Rebalance: r, Heartbeat: s, Client: inspect.ClientGuess{Family: inspect.Java}, Topics: []string{""}, Assignment: []inspect.TopicPartitions{{}}}
	}
	setting := func(k, v string, m *inspect.Millis) inspect.Setting {
		return inspect.Setting{Key: k, Value: v, Millis: m}
	}
	cases := map[string]*inspect.Case{
		"nil":   nil,
		"empty": {},
		"empty parts": {Groups: []inspect.Group{{}}, Brokers: []inspect.Broker{{}}, Timelines: []inspect.Timeline{{}}, Configs: []inspect.ClientConfig{{}},
			LogEvents: []inspect.LogEvent{{}}, OffsetsTopic: &inspect.OffsetsTopic{Partitions: []inspect.OffsetsPartition{{}}}, Topics: []inspect.Topic{{Partitions: -1}}},
		"wild durations": {Groups: []inspect.Group{{ID: "g", Type: inspect.Classic, State: "Stable", Members: []inspect.Member{member(neg, huge), member(huge, zero), member(zero, neg)},
			Limits: inspect.Limits{SessionMin: huge, SessionMax: neg}}}, Declared: inspect.Declared{BatchTime: huge, RecordTime: huge, GCPause: huge},
			Timelines: []inspect.Timeline{{Group: "g", Rebalances: []inspect.Rebalance{{Cause: inspect.PollIntervalExceeded, Stall: huge,
				Members: inspect.Change{Left: []inspect.Departure{{Cause: inspect.PollIntervalExceeded, Session: neg, Rebalance: huge}}}}}}}},
		"wild settings": {Configs: []inspect.ClientConfig{{Family: "nobody", Version: "x.y", Settings: []inspect.Setting{
			setting("session.timeout.ms", "", neg), setting("heartbeat.interval.ms", "NaN", huge), setting("max.poll.interval.ms", "1e9", zero),
			setting("max.poll.records", "-7", nil), setting("group.protocol", "\x00", nil), setting("partition.assignment.strategy", "[,,]", nil),
			setting("", "", nil), setting("group.instance.id", strings.Repeat("x", 1<<16), nil)},
			Problems: []inspect.ConfigProblem{{}, {Kind: "unknown_key"}, {Kind: "not_a_number"}}}}, Declared: inspect.Declared{RecordTime: neg, BatchTime: neg, GCPause: neg}},
		"two of a kind": {Groups: []inspect.Group{{ID: "g"}, {ID: "g"}}, Configs: []inspect.ClientConfig{{Group: "g"}, {Group: "g"}}},
		"wild brokers":  {Brokers: []inspect.Broker{{Config: map[string]string{"group.min.session.timeout.ms": "many", "group.max.session.timeout.ms": "-1", "offsets.retention.minutes": "99999999999999999999"}, Version: "between"}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := advise.Evaluate(c, advise.Options{})
			if r.Checked+len(r.Unchecked) == 0 {
				t.Error("neither checked nor unchecked")
			}
			for _, f := range r.Findings {
				if f.Message == "" || f.Evidence == nil || f.Severity.Rank() == 0 {
					t.Errorf("incomplete finding %+v", f)
				}
			}
		})
	}
	if r := advise.Evaluate(nil, advise.Options{}); r.Checked != 0 {
		t.Errorf("%d rules were checked on nothing", r.Checked)
	}
}

// TestSameCaseSameReport holds the order of findings to the case, not to chance.
func TestSameCaseSameReport(t *testing.T) {
	for _, f := range fixtures(t) {
		first := summary(advise.Evaluate(&f.Case, advise.Options{}), f.Rule)
		for range 3 {
			if again := summary(advise.Evaluate(&f.Case, advise.Options{}), f.Rule); again != first {
				t.Fatalf("%s: two reports of one case:\n%s\n%s", f.Path, first, again)
			}
		}
	}
}

// TestEvaluateLeavesTheCaseAlone: trying fixes out must not change what was read.
func TestEvaluateLeavesTheCaseAlone(t *testing.T) {
	for _, f := range fixtures(t) {
		before := describeCase(&f.Case)
		advise.Evaluate(&f.Case, advise.Options{})
		if after := describeCase(&f.Case); after != before {
			t.Errorf("%s: the case was changed", f.Path)
		}
	}
}

func TestDisableAndSeverities(t *testing.T) {
	for _, f := range fixtures(t) {
		if f.Kind != "fires" {
			continue
		}
		for _, got := range advise.Evaluate(&f.Case, advise.Options{Disable: []string{strings.ToLower(f.Rule)}}).Findings {
			if got.ID == f.Rule {
				t.Errorf("%s: %s was disabled", f.Path, f.Rule)
			}
		}
		for _, got := range advise.Evaluate(&f.Case, advise.Options{Severities: map[string]advise.Severity{f.Rule: advise.Info}}).Findings {
			if got.ID == f.Rule && got.Severity != advise.Info {
				t.Errorf("%s: severity %s, want info", f.Path, got.Severity)
			}
		}
	}
}
