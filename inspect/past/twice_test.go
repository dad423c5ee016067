package past

import (
	"reflect"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/locate"
)

// Of very many commits only those of groups that changed are read, and these as they are
// where all are read in one go.
func TestTwoReadingsFindWhatOneFinds(t *testing.T) {
	r := busyLog(t, 2000)
	now := time.Now()
	meta := kmsg.GroupMetadataValue{Version: 3, ProtocolType: "consumer", Generation: 4}
	key := kmsg.GroupMetadataKey{Version: 2, Group: "other-3"}
	if err := r.Scanner.Client.ProduceSync(t.Context(), &kgo.Record{Topic: locate.OffsetsTopic, Key: key.AppendTo(nil), Value: meta.AppendTo(nil), Timestamp: now}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	m, err := r.Collector.Metadata(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{"other-2", "other-3", "other-4"}
	read := func(atOnce int64) spanRead {
		q := hour()
		q.Selection.All, q.Selection.Groups = true, nil
		s := r.begin(t.Context(), m, q)
		s.c, s.broad, s.atOnce = &inspect.Case{}, true, atOnce
		parts, err := s.partitions(ids)
		if err != nil {
			t.Fatal(err)
		}
		got := s.readWindow(t.Context(), parts, ids)
		if got.err != nil {
			t.Fatal(got.err)
		}
		return got
	}
	whole, twice := read(1<<20), read(100)
	var want []inspect.Record
	for _, rec := range whole.records {
		if rec.Group == "other-3" {
			want = append(want, rec)
		}
	}
	if len(want) < 50 || len(want) == len(whole.records) {
		t.Fatalf("%d records of the group that changed, of %d", len(want), len(whole.records))
	}
	if !reflect.DeepEqual(twice.records, want) {
		t.Errorf("%d records in two readings, want the %d of the group that changed", len(twice.records), len(want))
	}
	if logs := mergeLogs(twice.logs); len(logs) != 1 || logs[0].To != whole.logs[0].To || logs[0].From != whole.logs[0].From {
		t.Errorf("logs %+v, want the span of %+v", logs, whole.logs)
	}
}
