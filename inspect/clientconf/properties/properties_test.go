package properties

import (
	"errors"
	"strings"
	"testing"
)

// The expectations of this table are what java.util.Properties.load gives.
func TestParse(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		want     []Entry
	}{
		{"separators", "a=1\nb:2\nc 3\n d\t=\t4 \ne", []Entry{{Key: "a", Value: "1", Line: 1}, {Key: "b", Value: "2", Line: 2},
			{Key: "c", Value: "3", Line: 3}, {Key: "d", Value: "4 ", Line: 4}, {Key: "e", Line: 5}}},
		{"comments", "# a=1\n  ! b=2\n\nc=3 # no comment", []Entry{{Key: "c", Value: "3 # no comment", Line: 4, TrailingComment: true}}},
		{"continuation", "a=1,\\\n    2,\\\r\n  # 3\nb=x\\\\\nc=y", []Entry{{Key: "a", Value: "1,2,# 3", Line: 1},
			{Key: "b", Value: `x\`, Line: 4}, {Key: "c", Value: "y", Line: 5}}},
		{"escapes", `a\ b\==\u00e9\ud83d\ude00\t\q`, []Entry{{Key: "a b=", Value: "é😀\tq", Line: 1}}},
		{"duplicates", "a=1\na=2", []Entry{{Key: "a", Value: "1", Line: 1}, {Key: "a", Value: "2", Line: 2}}},
		{"latin-1", "a=\xe9", []Entry{{Key: "a", Value: "é", Line: 1}}},
		{"byte order mark", "\xef\xbb\xbfa=1", []Entry{{Key: "a", Value: "1", Line: 1}}},
		{"open at the end", "a=1\\", []Entry{{Key: "a", Value: "1", Line: 1}}},
		{"old Mac line ends", "a=1\rb=2", []Entry{{Key: "a", Value: "1", Line: 1}, {Key: "b", Value: "2", Line: 2}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, err := Parse([]byte(tc.in))
			if err != nil {
				t.Fatal(err)
			}
			if len(f.Entries) != len(tc.want) {
				t.Fatalf("got %+v, want %+v", f.Entries, tc.want)
			}
			for i := range tc.want {
				f.Entries[i].Raw = "" // has its own test
				if f.Entries[i] != tc.want[i] {
					t.Errorf("entry %d: got %+v, want %+v", i, f.Entries[i], tc.want[i])
				}
			}
		})
	}
}

func TestGetIsTheLast(t *testing.T) {
	f, err := Parse([]byte("a=1\nb=2\na=3"))
	if err != nil {
		t.Fatal(err)
	}
	if e, ok := f.Get("a"); !ok || e.Value != "3" || e.Line != 3 {
		t.Errorf("got %+v %v", e, ok)
	}
	if _, ok := f.Get("c"); ok {
		t.Error("found a key that is not there")
	}
}

func TestRefused(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want error
		says string
	}{
		{"a=1\nb=\x00", ErrNotText, "line 2"},
		{strings.Repeat("a", MaxSize+1), ErrTooLarge, "16 MB"},
		{"a=1\nb=\\u12", nil, "line 2"},
		{"a=\\uzzzz", nil, "hexadecimal"},
	} {
		_, err := Parse([]byte(tc.in))
		if err == nil || (tc.want != nil && !errors.Is(err, tc.want)) || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("got %v, want it to say %q", err, tc.says)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a=1", "a\\", "\\u12", "=", ":\\\n#", "\xff\xfe"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse(data)
		if err != nil {
			return
		}
		lines := strings.Count(string(data), "\n") + strings.Count(string(data), "\r") + 1
		for _, e := range file.Entries {
			if e.Line < 1 || e.Line > lines {
				t.Errorf("line %d of %d", e.Line, lines)
			}
		}
	})
}

func TestRaw(t *testing.T) {
	for in, want := range map[string]string{
		`a=C:\temp\x `:      `C:\temp\x`,
		`sasl.password=p\s`: `p\s`,
		"a=x\\\n   y":       "xy",
		"a":                 "",
	} {
		f, err := Parse([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Entries[0].Raw; got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
