package offsetlog

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/inspect"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// raw is one line of a records-VERSION.tsv: what a real broker wrote.
type raw struct {
	file, line string
	partition  int32
	offset     int64
	ts         int64
	key, value []byte
}

// recordings reads every records-VERSION.tsv in testdata.
func recordings(t testing.TB) map[string][]raw {
	t.Helper()
	files, err := filepath.Glob("testdata/records-*.tsv")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	out := make(map[string][]raw)
	for _, f := range files {
		out[f] = readRecording(t, f)
	}
	return out
}

func readRecording(t testing.TB, file string) []raw {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []raw
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if strings.HasPrefix(line, "#") || line == "" {
			continue
		}
		c := strings.Split(line, "\t")
		if len(c) < 6 {
			t.Fatalf("%s:%d: %d columns, want 6", file, i+1, len(c))
		}
		r := raw{file: file, line: fmt.Sprintf("%s:%d", file, i+1)}
		p, err1 := strconv.ParseInt(c[0], 10, 32)
		o, err2 := strconv.ParseInt(c[1], 10, 64)
		ts, err3 := strconv.ParseInt(c[2], 10, 64)
		key, err4 := hex.DecodeString(c[4])
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			t.Fatalf("%s: %v", r.line, err)
		}
		r.partition, r.offset, r.ts, r.key = int32(p), o, ts, key
		if c[5] != "TOMBSTONE" {
			if r.value, err = hex.DecodeString(c[5]); err != nil {
				t.Fatalf("%s: %v", r.line, err)
			}
		}
		out = append(out, r)
	}
	return out
}

// TestDecodeRecordings compares what real brokers wrote, decoded, with the golden
// files beside the recordings, so that a change of any field shows in review. Type 9,
// which the early access of share groups in 4.0 wrote and no release since, is unknown,
// and its group is read all the same.
func TestDecodeRecordings(t *testing.T) {
	for file, raws := range recordings(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			var got bytes.Buffer
			for _, r := range raws {
				rec, err := Decode(r.key, r.value)
				if early := r.key[1] == 9 && errors.Is(err, ErrUnknownType); err != nil && !early {
					t.Errorf("%s: %v", r.line, err)
				}
				rec.Partition, rec.Offset, rec.Time = r.partition, r.offset, inspect.AtMillis(r.ts)
				line, err := json.Marshal(rec)
				if err != nil {
					t.Fatal(err)
				}
				got.Write(append(line, '\n'))
			}
			golden := strings.TrimSuffix(file, ".tsv") + ".golden.jsonl"
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			compareLines(t, string(want), got.String())
		})
	}
}

// TestRecordingsHoldEveryType wants each type from the oldest and the newest broker that
// writes it, and each version of its value that any broker writes. Type 0 is Kafka
// 0.8's; no broker writes version 4 of types 0 and 2 yet. Both are held to vectors
// of Kafka's own classes instead (testdata/jvm).
func TestRecordingsHoldEveryType(t *testing.T) {
	const newest = "4.4.0"
	all := map[inspect.RecordType]map[string]int16{
		inspect.RecOffsetCommit:  {"2.8.2-as-0.10.0": 1, "2.8.2-as-2.1-IV0": 2, "2.8.2": 3, "4.0.2": 3, "4.1.0": 4, newest: 4},
		inspect.RecGroupMetadata: {"2.8.2-as-0.10.0": 0, "2.8.2-as-1.1": 1, "2.8.2-as-2.1-IV0": 2, "2.8.2": 3, newest: 3},
		// Brokers from 4.1 on write its tombstone alone.
		inspect.RecConsumerPartitionMetadata: {"3.9.1": 0, "4.0.2": 0},
		inspect.RecConsumerRegularExpression: {"4.0.2": 0, newest: 0},
		inspect.RecShareStatePartitions:      {"4.1.1": 0, newest: 0},
	}
	for typ := inspect.RecConsumerGroupMetadata; typ <= inspect.RecStreamsTopology; typ++ {
		oldest := "4.1.1"
		switch {
		case typ <= inspect.RecConsumerCurrentAssignment:
			oldest = "3.9.1"
		case typ <= inspect.RecShareCurrentAssignment:
			oldest = "4.0.2-share"
		}
		if all[typ] == nil && Known(typ) {
			all[typ] = map[string]int16{oldest: 0, newest: 0}
		}
	}
	seen := map[string]bool{}
	for file, raws := range recordings(t) {
		version := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "records-"), ".tsv")
		for _, r := range raws {
			if rec, err := Decode(r.key, r.value); err == nil && !rec.Tombstone {
				seen[fmt.Sprint(rec.Type, version, rec.Version)] = true
			}
		}
	}
	for typ, from := range all {
		for version, v := range from {
			if !seen[fmt.Sprint(typ, version, v)] {
				t.Errorf("no record of type %d, version %d, from a broker %s", typ, v, version)
			}
		}
	}
	if len(all) != 21 {
		t.Errorf("%d types, want 1 to 8, 10 to 17 and 19 to 23", len(all))
	}
}

func compareLines(t *testing.T, want, got string) {
	t.Helper()
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	if len(w) != len(g) {
		t.Errorf("%d lines, want %d", len(g), len(w))
	}
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			t.Errorf("line %d:\n got %s\nwant %s", i+1, g[i], w[i])
		}
	}
}

// TestClassicTypesAgreeWithKmsg holds types 0 to 2 to an independent decoder.
func TestClassicTypesAgreeWithKmsg(t *testing.T) {
	seen := 0
	for _, raws := range recordings(t) {
		for _, r := range raws {
			rec, err := Decode(r.key, r.value)
			if err != nil || rec.Tombstone {
				continue
			}
			switch rec.Type {
			case inspect.RecOffsetCommit, inspect.RecLegacyOffsetCommit:
				checkCommit(t, r, rec)
			case inspect.RecGroupMetadata:
				checkGroup(t, r, rec)
			default:
				continue
			}
			seen++
		}
	}
	if seen < 20 {
		t.Errorf("only %d records compared", seen)
	}
}

func checkCommit(t *testing.T, r raw, rec inspect.Record) {
	t.Helper()
	k, v := kmsg.NewOffsetCommitKey(), kmsg.NewOffsetCommitValue()
	if err := errors.Join(k.ReadFrom(r.key), v.ReadFrom(r.value)); err != nil {
		t.Fatalf("%s: kmsg: %v", r.line, err)
	}
	if rec.Version < 3 {
		v.LeaderEpoch = -1 // kmsg leaves the field at 0 where the version has none
	}
	got := fmt.Sprint(rec.Group, rec.Topic, rec.TopicPartition, rec.Commit.Offset, rec.Commit.LeaderEpoch, rec.Commit.Metadata, rec.Commit.Time.UnixMilli())
	want := fmt.Sprint(k.Group, k.Topic, k.Partition, v.Offset, v.LeaderEpoch, v.Metadata, v.CommitTimestamp)
	if got != want {
		t.Errorf("%s: got %s, kmsg %s", r.line, got, want)
	}
}

func checkGroup(t *testing.T, r raw, rec inspect.Record) {
	t.Helper()
	k, v := kmsg.NewGroupMetadataKey(), kmsg.NewGroupMetadataValue()
	if err := errors.Join(k.ReadFrom(r.key), v.ReadFrom(r.value)); err != nil {
		t.Fatalf("%s: kmsg: %v", r.line, err)
	}
	m := rec.Metadata
	if rec.Group != k.Group || m.Generation != v.Generation || m.ProtocolType != v.ProtocolType ||
		len(m.Members) != len(v.Members) || m.StateTime.Time.IsZero() != (v.CurrentStateTimestamp <= 0) {
		t.Errorf("%s: got %+v, kmsg %+v", r.line, m, v)
		return
	}
	for i, got := range m.Members {
		want := v.Members[i]
		if got.MemberID != want.MemberID || got.ClientID != want.ClientID || "/"+got.Host != want.ClientHost ||
			got.Session.Duration() != time.Duration(want.SessionTimeoutMillis)*time.Millisecond ||
			!bytes.Equal(got.Subscription, want.Subscription) || !bytes.Equal(got.Assignment, want.Assignment) {
			t.Errorf("%s: member %d: got %+v, kmsg %+v", r.line, i, got, want)
		}
		if v.ProtocolType == "consumer" {
			checkProtocol(t, r, got)
		}
	}
}

func checkProtocol(t *testing.T, r raw, m inspect.GroupMember) {
	t.Helper()
	sub, asg := kmsg.NewConsumerMemberMetadata(), kmsg.NewConsumerMemberAssignment()
	if err := sub.ReadFrom(m.Subscription); err != nil {
		return
	}
	if fmt.Sprint(m.Topics, m.SubscriptionVersion, m.OwnedGeneration) != fmt.Sprint(sub.Topics, sub.Version, sub.Generation) {
		t.Errorf("%s: subscription %v v%d generation %d, kmsg %+v", r.line, m.Topics, m.SubscriptionVersion, m.OwnedGeneration, sub)
	}
	if err := asg.ReadFrom(m.Assignment); err != nil {
		return
	}
	var want []inspect.TopicPartitions
	for _, x := range asg.Topics {
		want = append(want, inspect.TopicPartitions{Topic: x.Topic, Partitions: x.Partitions})
	}
	if fmt.Sprint(m.Assigned) != fmt.Sprint(want) {
		t.Errorf("%s: assigned %v, kmsg %v", r.line, m.Assigned, want)
	}
}

func TestDecodeErrors(t *testing.T) {
	good := "00020001670003" // type 2, group "g", then the value's version
	tests := []struct {
		name       string
		key, value string
		want       error
		group      string
	}{
		{"empty key", "", "", ErrMalformed, ""},
		{"half a type", "00", "", ErrMalformed, ""},
		{"type 9 is of 4.0's early access alone", "0009000167", "0000", ErrUnknownType, "g"},
		{"type 18 was never defined", "0012000167", "0000", ErrUnknownType, "g"},
		{"type 24 is newer", "0018000167", "0000", ErrUnknownType, "g"},
		{"negative type", "ffff000167", "0000", ErrUnknownType, "g"},
		{"group longer than key", "00020002" + "67", "0003", ErrMalformed, ""},
		{"bytes after the key", good[:10] + "00", "0003", ErrMalformed, "g"},
		{"value without version", good[:10], "00", ErrMalformed, "g"},
		{"newer value", good[:10], "0005", ErrUnknownVersion, "g"},
		{"newer consumer value", "0003000167", "000100000001", ErrUnknownVersion, "g"},
		{"negative version", good[:10], "ffff", ErrMalformed, "g"},
		{"cut value", good[:10], "00030008636f", ErrMalformed, "g"},
		{"member count beyond the bytes", good[:10], "0003000000000001ffffffff00000000000000007fffffff", ErrMalformed, "g"},
		{"bytes after the value", "0003000167", "00000000000100" + "00", ErrMalformed, "g"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			key, _ := hex.DecodeString(tt.key)
			value, _ := hex.DecodeString(tt.value)
			rec, err := Decode(key, append(make([]byte, 0, len(value)+1), value...))
			if !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			if rec.Group != tt.group {
				t.Errorf("group %q, want %q", rec.Group, tt.group)
			}
			if rec.Metadata != nil || rec.Epoch != nil {
				t.Error("a value came with an error")
			}
		})
	}
}

func TestPeekKeyAgreesWithDecodeAndDoesNotAllocate(t *testing.T) {
	for _, raws := range recordings(t) {
		for _, r := range raws {
			rec, err := Decode(r.key, nil)
			typ, group, ok := PeekKey(r.key)
			if err != nil && rec.Type != 9 || !ok || typ != rec.Type || string(group) != rec.Group {
				t.Fatalf("%s: peek %d %q %v, decode %d %q %v", r.line, typ, group, ok, rec.Type, rec.Group, err)
			}
			if n := testing.AllocsPerRun(10, func() { PeekKey(r.key) }); n != 0 {
				t.Fatalf("%s: %v allocations", r.line, n)
			}
		}
	}
}

// seeds are keys and values of every type, for the fuzzers.
func seeds(t testing.TB) []raw {
	var out []raw
	for _, raws := range recordings(t) {
		out = append(out, raws...)
	}
	for _, v := range jvmVectors(t) {
		if len(v.key) == 0 {
			continue // bytes of the consumer protocol
		}
		out = append(out, raw{line: v.line, key: v.key, value: v.value})
	}
	return out
}

func FuzzDecode(f *testing.F) {
	for _, r := range seeds(f) {
		f.Add(r.key, r.value)
	}
	f.Fuzz(func(t *testing.T, key, value []byte) { decodeSafely(t, key, value) })
}

// FuzzValue keeps the key good, so that the fuzzer spends its time in the values.
func FuzzValue(f *testing.F) {
	for _, r := range seeds(f) {
		f.Add(int16(r.key[1]), r.value)
	}
	f.Fuzz(func(t *testing.T, typ int16, value []byte) {
		decodeSafely(t, keyOf(inspect.RecordType(typ)), value)
	})
}

// FuzzConsumerProtocol feeds the bytes that clients, not brokers, write.
func FuzzConsumerProtocol(f *testing.F) {
	for _, r := range seeds(f) {
		if rec, err := Decode(r.key, r.value); err == nil && rec.Metadata != nil {
			for _, m := range rec.Metadata.Members {
				f.Add(m.Subscription, m.Assignment)
			}
		}
	}
	f.Fuzz(func(t *testing.T, sub, asg []byte) {
		m := inspect.GroupMember{Subscription: sub, SubscriptionVersion: -1, OwnedGeneration: -1}
		subscription(&m, nil)
		if (m.Topics == nil) != (m.SubscriptionVersion < 0) {
			t.Errorf("topics %v with version %d", m.Topics, m.SubscriptionVersion)
		}
		assignment(asg, nil)
	})
}

// decodeSafely holds Decode to its contract on any bytes at all.
func decodeSafely(t *testing.T, key, value []byte) {
	t.Helper()
	rec, err := Decode(key, value)
	switch {
	case err == nil:
		if typ, group, ok := PeekKey(key); !ok || typ != rec.Type || string(group) != rec.Group {
			t.Errorf("peek says %d %q, decode %d %q", typ, group, rec.Type, rec.Group)
		}
		if _, err := json.Marshal(rec); err != nil {
			t.Errorf("a good record does not marshal: %v", err)
		}
	case !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrUnknownType) && !errors.Is(err, ErrUnknownVersion):
		t.Errorf("untyped error %v", err)
	}
}

// keyOf is a good key of the type.
func keyOf(typ inspect.RecordType) []byte {
	key := []byte{byte(typ >> 8), byte(typ), 0, 1, 'g'}
	if !Known(typ) {
		return key
	}
	switch {
	case IsCommit(typ):
		return append(key, 0, 1, 't', 0, 0, 0, 7)
	case types[typ].key != nil:
		return append(key, 0, 1, 'm')
	}
	return key
}

// TestMutatedRecords decodes damaged records: never a panic, never an untyped
// error, and never more memory than the input explains. KGDIAG_TEST_FULL=1 takes a
// million of them.
func TestMutatedRecords(t *testing.T) {
	n := 60_000
	if os.Getenv("KGDIAG_TEST_FULL") == "1" {
		n = 1_000_000
	}
	all := seeds(t)
	rng := rand.New(rand.NewPCG(1, 2))
	var before, after runtime.MemStats
	var worst float64
	for range n {
		r := all[rng.IntN(len(all))]
		key, value := r.key, mutate(rng, r.value)
		if rng.IntN(4) == 0 {
			key = mutate(rng, r.key)
		}
		measure := rng.IntN(64) == 0
		if measure {
			runtime.ReadMemStats(&before)
		}
		_, err := Decode(key, value)
		if measure {
			runtime.ReadMemStats(&after)
			worst = max(worst, float64(after.TotalAlloc-before.TotalAlloc)/float64(len(key)+len(value)+1024))
		}
		if err != nil && !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrUnknownType) && !errors.Is(err, ErrUnknownVersion) {
			t.Fatalf("untyped error %v for key %x value %x", err, key, value)
		}
	}
	if worst > 40 {
		t.Errorf("a decode allocated %.0f times its input", worst)
	}
	t.Logf("%d mutated records; most memory %.1f times the input (with 1 KiB to start from)", n, worst)
}

// mutate damages a copy of b: bit flips, cuts, inserted and overwritten lengths.
func mutate(rng *rand.Rand, b []byte) []byte {
	out := append([]byte{}, b...)
	for range 1 + rng.IntN(4) {
		if len(out) == 0 {
			return out
		}
		i := rng.IntN(len(out))
		switch rng.IntN(5) {
		case 0:
			out[i] ^= 1 << rng.IntN(8)
		case 1:
			out = out[:i]
		case 2:
			out = append(out[:i:i], append([]byte{byte(rng.Uint32())}, out[i:]...)...)
		case 3:
			for j := i; j < min(i+4, len(out)); j++ {
				out[j] = [...]byte{0x7f, 0xff, 0xff, 0xff}[j-i]
			}
		case 4:
			out[i] = byte(rng.Uint32())
		}
	}
	return out
}
