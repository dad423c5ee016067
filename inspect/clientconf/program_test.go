package clientconf

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/kgdiag/kgdiag/inspect"
)

// TestPrograms reads programs in the languages that people consume Kafka with. Each
// archive holds the program, and by hand the lines at which it does something that costs
// a member its place: nothing else may be found.
func TestPrograms(t *testing.T) {
	files, err := filepath.Glob("testdata/programs/*.txtar")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d programs, %v", len(files), err)
	}
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		in := ar.Files[0]
		var got []string
		for _, a := range actsOf(in.Name, in.Data, familyOfText(in.Name, in.Data)) {
			if a.Kind == inspect.ActSubscribe || a.Kind == inspect.ActAssign || a.Kind == inspect.ActMakes {
				continue
			}
			words := []string{string(a.Kind), fmt.Sprint(a.Where.Line)}
			if a.Each {
				words = append(words, "each")
			}
			if a.Length != nil {
				words = append(words, a.Length.Duration().String())
			}
			got = append(got, strings.Join(words, " "))
		}
		want := strings.Split(strings.TrimSpace(string(ar.Files[1].Data)), "\n")
		slices.Sort(got)
		slices.Sort(want)
		if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
			t.Errorf("%s: got\n%s\nwant\n%s", file, g, w)
		}
	}
}

// FuzzPrograms holds the reader of programs to an end and to lines that exist.
func FuzzPrograms(f *testing.F) {
	files, _ := filepath.Glob("testdata/programs/*.txtar")
	for _, file := range files {
		if ar, err := txtar.ParseFile(file); err == nil {
			f.Add(ar.Files[0].Name, ar.Files[0].Data)
		}
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		lines := strings.Count(string(data), "\n") + 1
		for _, a := range actsOf(name, data, familyOfText(name, data)) {
			if a.Where.Line < 1 || a.Where.Line > lines || a.Other != nil && (a.Other.Line < 1 || a.Other.Line > lines) {
				t.Errorf("%+v", a)
			}
		}
	})
}
