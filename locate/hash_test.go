package locate

import (
	"bufio"
	"compress/gzip"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

// rows reads a table of the test data: tab-separated, # starts a comment.
func rows(t *testing.T, r io.Reader, columns int) [][]string {
	t.Helper()
	var out [][]string
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "#") || lines.Text() == "" {
			continue
		}
		row := strings.Split(lines.Text(), "\t")
		if len(row) < columns {
			t.Fatalf("row %q: %d columns, want %d", lines.Text(), len(row), columns)
		}
		out = append(out, row)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func open(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func unhex(t *testing.T, s string) string {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatalf("hex %q: %v", s, err)
	}
	return string(b)
}

func num(t *testing.T, s string) int32 {
	t.Helper()
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return int32(n)
}

// The partitions of these ids were seen on a real broker: a commit for each id
// landed there.
func TestPartitionsSeenOnABroker(t *testing.T) {
	vectors := rows(t, open(t, "testdata/hash-vectors.tsv"), 8)
	if len(vectors) < 25 {
		t.Fatalf("%d vectors, want at least 25", len(vectors))
	}
	for _, v := range vectors {
		id := unhex(t, v[1])
		if got, want := Hash(id), num(t, v[2]); got != want {
			t.Errorf("Hash(%q) = %d, want %d", id, got, want)
		}
		for i, n := range []int32{50, 25, 16, 100} {
			got, err := Partition(id, n)
			if want := num(t, v[3+i]); err != nil || got != want {
				t.Errorf("Partition(%q, %d) = %d, %v; want %d", id, n, got, err, want)
			}
		}
	}
}

// 10,000 random ids, a fifth of them on the two smallest hashes there are, as a
// JVM and kafka-clients place them.
func TestPartitionsMadeByAJVM(t *testing.T) {
	z, err := gzip.NewReader(open(t, "testdata/hash-random.tsv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	vectors := rows(t, z, 4)
	if len(vectors) != 10_000 {
		t.Fatalf("%d vectors, want 10000", len(vectors))
	}
	var smallest, supplementary int
	for _, v := range vectors {
		id := unhex(t, v[0])
		if got, want := Hash(id), num(t, v[1]); got != want {
			t.Fatalf("Hash(%q) = %d, want %d", id, got, want)
		}
		n := num(t, v[2])
		got, err := Partition(id, n)
		if want := num(t, v[3]); err != nil || got != want {
			t.Fatalf("Partition(%q, %d) = %d, %v; want %d", id, n, got, err, want)
		}
		if Hash(id) == math.MinInt32 {
			smallest++
		}
		if utf8.RuneCountInString(id) < len(utf16.Encode([]rune(id))) {
			supplementary++
		}
	}
	if smallest < 500 || supplementary < 500 {
		t.Errorf("the table holds %d ids on MIN_VALUE and %d with surrogates: it proves too little", smallest, supplementary)
	}
}

// An id that is not UTF-8 has no answer: what the broker makes of it is not what
// was asked for.
func TestInvalidUTF8IsRefused(t *testing.T) {
	for _, v := range rows(t, open(t, "testdata/hash-vectors-invalid-utf8.tsv"), 5) {
		id := unhex(t, v[0])
		if err := Validate(id); !errors.Is(err, ErrInvalidUTF8) {
			t.Errorf("Validate(%q) = %v, want %v", id, err, ErrInvalidUTF8)
		}
		if p, err := Partition(id, 50); !errors.Is(err, ErrInvalidUTF8) || p != -1 {
			t.Errorf("Partition(%q) = %d, %v; want -1 and %v", id, p, err, ErrInvalidUTF8)
		}
		// What the broker would hash is another string, and that one has an answer.
		replaced, err := strconv.Unquote(`"` + v[1] + `"`)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Partition(replaced, 50); err != nil || got != num(t, v[4]) {
			t.Errorf("Partition(%q) = %d, %v; want %s", replaced, got, err, v[4])
		}
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		id   string
		want error
	}{
		{"orders", nil},
		{" ", nil},
		{"a\x00b", nil},
		{"\ufffd", nil}, // a replacement character that somebody typed is an id like any other
		{strings.Repeat("ä", 300), nil},
		{strings.Repeat("x", MaxIDBytes), nil},
		{"", ErrEmpty},
		{strings.Repeat("x", MaxIDBytes+1), ErrTooLong},
		{"caf\xe9", ErrInvalidUTF8},
	} {
		if got := Validate(c.id); !errors.Is(got, c.want) {
			t.Errorf("Validate(%.20q) = %v, want %v", c.id, got, c.want)
		}
	}
}

func TestPartitionCountIsNeverGuessed(t *testing.T) {
	for _, n := range []int32{0, -1, math.MinInt32} {
		if p, err := Partition("orders", n); err == nil || p != -1 {
			t.Errorf("Partition(orders, %d) = %d, %v; want an error", n, p, err)
		}
		if p, err := RedpandaPartition("orders", n); err == nil || p != -1 {
			t.Errorf("RedpandaPartition(orders, %d) = %d, %v; want an error", n, p, err)
		}
	}
}

// Hash is checked against the definition, unit by unit, as the library encodes them.
func FuzzHash(f *testing.F) {
	for _, s := range []string{"", "orders", "polygenelubricants", "grp-🚀-1", "e\u0301", "\U0010ffff", "caf\xe9"} {
		f.Add(s, int32(50))
	}
	f.Fuzz(func(t *testing.T, s string, n int32) {
		p, err := Partition(s, n)
		if !utf8.ValidString(s) || len(s) > MaxIDBytes || n < 1 {
			if err == nil || p != -1 {
				t.Fatalf("Partition(%q, %d) = %d, want an error", s, n, p)
			}
			return
		}
		var h int32
		for _, u := range utf16.Encode([]rune(s)) {
			h = 31*h + int32(u)
		}
		if got := Hash(s); got != h {
			t.Fatalf("Hash(%q) = %d, want %d", s, got, h)
		}
		if err != nil || p < 0 || p >= n {
			t.Fatalf("Partition(%q, %d) = %d, %v", s, n, p, err)
		}
		if r, err := RedpandaPartition(s, n); err != nil || r < 0 || r >= n {
			t.Fatalf("RedpandaPartition(%q, %d) = %d, %v", s, n, r, err)
		}
	})
}

func BenchmarkPartition(b *testing.B) {
	for b.Loop() {
		if _, err := Partition("payments.v2-consumer-группа", 50); err != nil {
			b.Fatal(err)
		}
	}
}

func ExamplePartition() {
	p, err := Partition("orders", 50)
	fmt.Println(p, err)
	// Output: 31 <nil>
}
