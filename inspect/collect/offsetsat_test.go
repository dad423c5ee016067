package collect

import (
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kgdiag/kgdiag/inspect"
)

// TestOffsetsAtAMoment: three records a second apart; each moment is answered by the
// record that came then or next, the moment after the last one by the log end.
func TestOffsetsAtAMoment(t *testing.T) {
	f := newFake(t)
	begin := time.UnixMilli(1_700_000_000_000)
	for _, p := range []int32{0, 3} {
		for i := range 3 {
			r := &kgo.Record{Topic: "work", Partition: p, Value: []byte("x"), Timestamp: begin.Add(time.Duration(i) * time.Second)}
			produce(t, f, r)
		}
	}
	at := func(d time.Duration) inspect.Time { return inspect.At(begin.Add(d)) }
	var queries []inspect.OffsetQuery
	for _, p := range []int32{3, 0} {
		for _, d := range []time.Duration{500 * time.Millisecond, -time.Hour, time.Minute} {
			queries = append(queries, inspect.OffsetQuery{Topic: "work", Partition: p, At: at(d)})
		}
	}
	got, gaps, err := f.c.OffsetsAt(t.Context(), queries, nil, nil)
	if err != nil || len(gaps) > 0 {
		t.Fatalf("error %v, gaps %v", err, gaps)
	}
	var want []inspect.OffsetAt
	for _, p := range []int32{0, 3} {
		want = append(want,
			inspect.OffsetAt{Topic: "work", Partition: p, At: at(-time.Hour), Offset: 0, Next: at(0)},
			inspect.OffsetAt{Topic: "work", Partition: p, At: at(500 * time.Millisecond), Offset: 1, Next: at(time.Second)},
			inspect.OffsetAt{Topic: "work", Partition: p, At: at(time.Minute), Offset: 3})
	}
	for i := range got {
		if got[i].Asked.IsZero() {
			t.Errorf("%s-%d: no time of the answer", got[i].Topic, got[i].Partition)
		}
		got[i].Asked = inspect.Time{}
	}
	if !slices.EqualFunc(got, want, func(a, b inspect.OffsetAt) bool {
		return a.Topic == b.Topic && a.Partition == b.Partition && a.At.Equal(b.At.Time) && a.Offset == b.Offset && a.Next.Equal(b.Next.Time) && a.Start == b.Start
	}) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// TestOffsetsAtSaysWhatCouldNotBeAsked: a topic that is gone is a Gap, and the others
// are answered all the same.
func TestOffsetsAtSaysWhatCouldNotBeAsked(t *testing.T) {
	f := newFake(t)
	got, gaps, err := f.c.OffsetsAt(t.Context(), []inspect.OffsetQuery{
		{Topic: "gone", Partition: 0, At: inspect.At(time.Now())}, {Topic: "work", Partition: 1, At: inspect.At(time.Now())}, {Topic: "work", Partition: 99, At: inspect.At(time.Now())},
	}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0].Topic != "work" || got[0].Partition != 1 || got[0].Offset != 0 {
		t.Errorf("answers %+v, want the end 0 of work-1 alone", got)
	}
	if len(gaps) != 2 || gaps[0].Fact != inspect.FactOffsetsAt || gaps[0].What != "whether records waited on topic gone" || gaps[0].Why == "" {
		t.Errorf("gaps %+v, want one for gone and one for work", gaps)
	}
}

func produce(t *testing.T, f *fake, r *kgo.Record) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(f.Addrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	if err := cl.ProduceSync(t.Context(), r).FirstErr(); err != nil {
		t.Fatal(err)
	}
}
