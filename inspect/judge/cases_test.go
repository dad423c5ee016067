package judge

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// readCase reads a recorded case file.
func readCase(t *testing.T, path string) *inspect.Case {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c, err := inspect.ReadCase(f)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCaseFiles holds the whole timeline of recorded cases, every field of it.
func TestCaseFiles(t *testing.T) {
	paths, err := filepath.Glob("testdata/cases/*.kgcase")
	if err != nil || len(paths) < 3 {
		t.Fatalf("%d case files (%v)", len(paths), err)
	}
	for _, path := range paths {
		got, err := json.MarshalIndent(Build(readCase(t, path), Options{}), "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		compare(t, path+".golden", string(got)+"\n")
	}
}

// TestShareGroup: three members of a share group that were closed, killed and killed,
// recorded on Kafka 4.1.1. A departure is one rebalance, though the coordinator writes
// two epochs, and none has a cause that its records cannot tell.
func TestShareGroup(t *testing.T) {
	var got []string
	for _, r := range Build(readCase(t, "testdata/cases/share-group-4.1.1.kgcase"), Options{})[0].Rebalances {
		line := fmt.Sprint(r.Generation, " ", r.Cause)
		for _, m := range r.Members.Joined {
			line += " +" + m.ClientID
		}
		for _, m := range r.Members.Left {
			line += " -" + m.ClientID
		}
		got = append(got, line)
	}
	want := []string{"1 member_joined +s-1", "2 topic_metadata_changed", "3 member_joined +s-2", "4 member_joined +s-3",
		"6 unknown -s-1", "8 unknown -s-2", "9 member_joined +s-2", "11 unknown -s-3", "12 group_emptied -s-2",
		"13 member_joined +s-2", "14 member_joined +s-1"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestExplanations holds the table to its form.
func TestExplanations(t *testing.T) {
	names := map[string]bool{}
	for _, x := range explanations {
		if x.name == "" || names[x.name] {
			t.Errorf("explanation %q: want a name of its own", x.name)
		}
		names[x.name] = true
		if (x.cause == "") == (x.named == nil) || x.cause != "" && x.cause.Info().Cause == "" {
			t.Errorf("%s: want one cause of the vocabulary, or a function that names it", x.name)
		}
		if x.fits == nil || x.conf.Rank() == 0 && x.conf != inspect.Low {
			t.Errorf("%s: want when it fits, and a confidence", x.name)
		}
		for _, d := range slices.Concat(x.doubts...) {
			if d.when == nil || d.cap == "" && d.rival == "" && d.says == nil {
				t.Errorf("%s: a doubt that does nothing", x.name)
			}
		}
	}
	if last := explanations[len(explanations)-1]; !last.fits(&evidence{}) {
		t.Errorf("%s comes last and does not fit all that is left", last.name)
	}
}

// TestOneVerdict: a verdict follows from the evidence alone, and making it changes none.
func TestOneVerdict(t *testing.T) {
	seen := 0
	for _, l := range slices.Concat(readLabelled(t), readFile(t, holdouts[0].file), readFile(t, holdouts[1].file)) {
		for _, in := range split(l.Read()) {
			var all []*evidence
			for _, st := range Read(*in, Options{}).g.steps {
				for _, d := range st.left {
					all = append(all, d.ev)
				}
			}
			gatherCompany(all)
			for _, e := range all {
				seen++
				first, alone := judge(e), e.alone
				if again := judge(e); !sameVerdict(first, again) {
					t.Errorf("%s: judged twice, %s: %s and %s", l.Group, e.Member.Name(), first.cause, again.cause)
				}
				if fresh := explain(e); !sameVerdict(alone, fresh) {
					t.Errorf("%s: judging changed what %s shows by itself", l.Group, e.Member.Name())
				}
			}
		}
	}
	if seen < 200 {
		t.Errorf("%d departures, want more", seen)
	}
}

func sameVerdict(a, b verdict) bool {
	return a.cause == b.cause && a.conf == b.conf && a.basis == b.basis && a.returned == b.returned &&
		slices.Equal(a.rivals, b.rivals) && slices.Equal(a.why, b.why)
}

// TestLongSilences: at a session of 45 s or an interval of 75 s nobody works the backlog
// off in a second. That records waited is seen all the same, and the cause is told.
func TestLongSilences(t *testing.T) {
	for name, want := range map[string]struct {
		member string
		cause  inspect.Cause
	}{
		"killed-kip848-45s":             {"dead", inspect.SessionExpired},
		"overrun-75s-commit-per-record": {"slow", inspect.PollIntervalExceeded},
		"paused-45s-session":            {"gc", inspect.SessionExpired},
	} {
		r, d := victimVerdict(Build(readCase(t, "testdata/cases/"+name+".kgcase"), Options{})[0], 0, want.member)
		if d == nil || d.Cause != want.cause || d.Confidence == inspect.Low || !d.OthersCoped {
			t.Errorf("%s: %s, want %s at medium or high, with records waiting", name, verdictText(r), want.cause)
		}
	}
}

// TestAnswersOfLeadersOutrankTheGuess: where the leaders say that no record came in the
// silence, it says nothing, whatever the next owner did; where they say that records kept
// coming, the cause is told.
func TestAnswersOfLeadersOutrankTheGuess(t *testing.T) {
	read := func(moved int64) *inspect.Case {
		c := readCase(t, "testdata/cases/killed-kip848-45s.kgcase")
		last := map[string]int64{} // committed when the member went silent
		for _, r := range c.Records {
			if r.Commit != nil && r.Time.Before(time.Date(2026, 11, 30, 7, 3, 6, 0, time.UTC)) {
				last[fmt.Sprint(r.Topic, r.TopicPartition)] = r.Commit.Offset
			}
		}
		questions := Questions(c, Options{})
		if len(questions) == 0 {
			t.Fatal("nothing is asked")
		}
		for _, q := range questions {
			position := last[fmt.Sprint(q.Topic, q.Partition)]
			c.OffsetsAt = append(c.OffsetsAt, inspect.OffsetAt{Topic: q.Topic, Partition: q.Partition, At: q.At, Offset: position + moved, Next: q.At})
		}
		return c
	}
	for moved, want := range map[int64]inspect.Cause{160: inspect.SessionExpired, 0: inspect.UnknownCause, 1: inspect.UnknownCause} {
		r, d := victimVerdict(Build(read(moved), Options{})[0], 0, "dead")
		if d == nil || d.Cause != want || d.OthersCoped != (moved > 1) {
			t.Errorf("%d records had come: %s, want %s", moved, verdictText(r), want)
		}
	}
}

// TestNoCommitsAreNoBatch: a member that goes again and again as long after it had joined
// as its poll interval is worked on a batch whose records are committed one by one only
// where it committed at all.
func TestNoCommitsAreNoBatch(t *testing.T) {
	for n, want := range map[int]bool{0: false, leastCommits: true} {
		e := &evidence{trace: trace{work: work{n: n}}, company: company{tenures: leastTenures}}
		v := verdict{}
		v.compareWith(e)
		if v.cause != inspect.PollIntervalExceeded || v.inBatch != want {
			t.Errorf("%d commits: %s, in a batch of single commits %v, want %v", n, v.cause, v.inBatch, want)
		}
	}
}
