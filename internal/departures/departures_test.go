package departures

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kgdiag/kgdiag/inspect"
)

const holdout = "../../inspect/judge/testdata/departures-holdout-4.jsonl.gz"

// What is answered from recorded timestamps is what the brokers themselves answered.
func TestAnswersAreTheBrokers(t *testing.T) {
	groups, err := ReadFile(holdout)
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, g := range groups {
		for _, want := range g.OffsetsAt {
			got := g.Answer([]inspect.OffsetQuery{{Topic: want.Topic, Partition: want.Partition, At: want.At}})
			if len(got) == 0 {
				continue // from before the recording
			}
			asked++
			if got[0].Next.IsZero() || want.Next.IsZero() { // the end: records came until it was asked for
				continue
			}
			if got[0].Offset != want.Offset || !got[0].Next.Equal(want.Next.Time) {
				t.Errorf("%s: %s-%d at %s: offset %d, next %s; the broker said %d, %s", g.Group, want.Topic, want.Partition, want.At,
					got[0].Offset, got[0].Next, want.Offset, want.Next)
			}
		}
	}
	if asked < 500 {
		t.Errorf("%d answers compared, want hundreds", asked)
	}
}

// The ways to look at a group differ by what is in the Case, and by nothing else.
func TestWaysToLook(t *testing.T) {
	groups, err := ReadFile(holdout)
	if err != nil {
		t.Fatal(err)
	}
	g := groups[0]
	alone, asked, watched := g.Alone(), g.Asked(), g.Watched()
	if len(alone.Records) == 0 || len(alone.Records) != len(watched.Records) {
		t.Errorf("%d records alone, %d watched", len(alone.Records), len(watched.Records))
	}
	if alone.OffsetsAt != nil || alone.Observations != nil {
		t.Error("records alone hold what no record tells")
	}
	if asked.Observations != nil || len(watched.Observations) == 0 {
		t.Error("polls belong to what was watched, and to that alone")
	}
}

func TestReadFileNamesTheLine(t *testing.T) {
	name := filepath.Join(t.TempDir(), "bad.jsonl.gz")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	zw := gzip.NewWriter(f)
	zw.Write([]byte("{\"group\":\"a\"}\n{\"group\":\n"))
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if _, err := ReadFile(name); err == nil || !strings.Contains(err.Error(), "bad.jsonl.gz: line 2:") {
		t.Errorf("error %v, want one that names file and line", err)
	}
}
