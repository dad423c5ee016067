package clientconf

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/kgdiag/kgdiag/inspect"
)

var update = flag.Bool("update", false, "write the golden files")

// dump is a configuration as the goldens hold it.
func dump(cs []inspect.ClientConfig) string {
	var b strings.Builder
	for _, c := range cs {
		fmt.Fprintf(&b, "%s %s family=%s", c.Where.File, c.Dialect, c.Family)
		for _, kv := range [][2]string{{"name", c.Name}, {"group", c.Group}, {"profile", c.Profile}} {
			if kv[1] != "" {
				fmt.Fprintf(&b, " %s=%s", kv[0], kv[1])
			}
		}
		if c.Members > 0 {
			fmt.Fprintf(&b, " members=%d", c.Members)
		}
		b.WriteByte('\n')
		for _, s := range c.Settings {
			fmt.Fprintf(&b, "  %d %s=%s %s", s.Where.Line, s.Key, s.Value, s.Origin)
			if s.Spelled != s.Key {
				fmt.Fprintf(&b, " as %s", s.Spelled)
			}
			if s.Overrides != nil {
				fmt.Fprintf(&b, " over line %d", s.Overrides.Line)
			}
			b.WriteByte('\n')
		}
		for _, p := range c.Problems {
			fmt.Fprintf(&b, "  %d ! %s %s: %s\n", p.Where.Line, p.Kind, p.Key, p.Message)
		}
	}
	return b.String()
}

// TestDialects recognises each file by its content and reads it; the second file of
// an archive holds what is read.
func TestDialects(t *testing.T) {
	files, err := filepath.Glob("testdata/dialects/*.txtar")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d fixtures, %v", len(files), err)
	}
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		in := ar.Files[0]
		configs, err := Read(in.Name, in.Data, Options{})
		got := dump(configs)
		if err != nil {
			got = "error: " + err.Error() + "\n"
		}
		if strings.Contains(fmt.Sprintf("%+v", configs), "hunter2") {
			t.Errorf("%s: a secret was kept", file)
		}
		if *update {
			ar.Files = []txtar.File{in, {Name: "want", Data: []byte(got)}}
			if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if len(ar.Files) < 2 || string(ar.Files[1].Data) != got {
			t.Errorf("%s:\n%s", file, got)
		}
	}
}

// TestLinesPointAtTheText holds every setting's line to the text of that line.
func TestLinesPointAtTheText(t *testing.T) {
	files, _ := filepath.Glob("testdata/dialects/*.txtar")
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(ar.Files[0].Data), "\n")
		configs, _ := Read(ar.Files[0].Name, ar.Files[0].Data, Options{})
		for _, c := range configs {
			for _, s := range c.Settings {
				if s.Where.Line < 1 || s.Where.Line > len(lines) {
					t.Errorf("%s: %s on line %d of %d", file, s.Key, s.Where.Line, len(lines))
					continue
				}
				last := s.Spelled[strings.LastIndexAny(s.Spelled, "._")+1:]
				text := strings.ToLower(lines[s.Where.Line-1])
				if strings.Contains(text, "value:") || strings.HasPrefix(strings.TrimSpace(text), "value ") { // Kubernetes names a variable on the line before
					text = strings.ToLower(lines[s.Where.Line-2])
				}
				if !strings.Contains(text, strings.ToLower(last)) && !strings.Contains(strings.ReplaceAll(text, "-", ""), strings.ToLower(last)) {
					t.Errorf("%s: %s is not on line %d: %s", file, s.Spelled, s.Where.Line, text)
				}
			}
		}
	}
}

func TestStructuredErrorsNameTheLine(t *testing.T) {
	for name, tc := range map[string][2]string{
		"a.yaml": {"a: 1\nb: [1, 2\nc: 3\n", "line"},
		"a.json": {"{\"a\": 1,\n\"b\": }\n", "line"},
		"a.toml": {"a = 1\nb = = 2\n", "line 2"},
	} {
		_, err := Read(name, []byte(tc[0]), Options{})
		if err == nil || !strings.Contains(err.Error(), tc[1]) || !strings.HasPrefix(err.Error(), name+": ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAliasBombIsRefused(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'j'; c++ {
		bomb += fmt.Sprintf("%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", c, c, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1)
	}
	if _, err := Read("bomb.yaml", []byte("services:\n  a: 1\n"+bomb), Options{}); err == nil {
		t.Error("read without an error")
	}
}

func TestDurations(t *testing.T) {
	for in, want := range map[string]string{"500ms": "500ms", "3s": "3s", "5m": "5m0s", "PT5M": "5m0s", "300000": "5m0s", "00:05:00": "5m0s", "1m30s": "1m30s", "P1DT1H": "25h0m0s"} {
		if d, ok := duration(in, "ms"); !ok || d.String() != want {
			t.Errorf("%s: %v %v", in, d, ok)
		}
	}
	for _, in := range []string{"", "x", "P", "5 min", "9999999999999999999"} {
		if d, ok := duration(in, "ms"); ok {
			t.Errorf("%q: %v", in, d)
		}
	}
}

// FuzzDialects reads each input as one dialect, which the fuzzer chooses too: all of them
// for every input would be twenty times slower.
func FuzzDialects(f *testing.F) {
	dialects := append(Dialects(), "")
	files, _ := filepath.Glob("testdata/dialects/*.txtar")
	for i, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		own := slices.Index(dialects, name)
		if own < 0 {
			own = i % len(dialects)
		}
		f.Add(uint8(own), ar.Files[0].Name, ar.Files[0].Data)
		f.Add(uint8(len(dialects)-1), ar.Files[0].Name, ar.Files[0].Data)
	}
	f.Fuzz(func(t *testing.T, which uint8, name string, data []byte) {
		dialect := dialects[int(which)%len(dialects)]
		configs, err := Read(name, data, Options{Dialect: dialect})
		if err != nil {
			return
		}
		for _, c := range configs {
			for _, s := range c.Settings {
				if Secret(s.Spelled) && s.Value != "" {
					t.Errorf("%s: kept the value of %s", dialect, s.Spelled)
				}
			}
		}
	})
}

// FuzzBraces holds the reader of nested text to an end and to lines that exist.
func FuzzBraces(f *testing.F) {
	for _, s := range []string{"a { b = 1 }", "input { kafka { topics => [\"a\"] } }", "x = <<EOF\na\nEOF\n", "a = jsonencode([{ b = 1 }])", "{ a: ${?B}, \"c\": \"\"\"d\"\"\" }", "a = [ [ [", "resource \"a\" \"b\" {"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		root, err := parseBraces(data)
		if err != nil {
			return
		}
		lines := strings.Count(string(data), "\n") + 1
		root.walk(func(path []string, n *node) {
			if n.line < 1 || n.line > lines {
				t.Errorf("%s: line %d of %d", join(path), n.line, lines)
			}
		})
	})
}

// FuzzSource reads program text: a literal is never more than what the line holds.
func FuzzSource(f *testing.F) {
	files, _ := filepath.Glob("testdata/dialects/source-*.txtar")
	for _, file := range files {
		if ar, err := txtar.ParseFile(file); err == nil {
			f.Add(ar.Files[0].Name, ar.Files[0].Data)
		}
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		configs, err := Read(name, data, Options{Dialect: "source"})
		if err != nil {
			return
		}
		lines := strings.Count(string(data), "\n") + 1
		for _, c := range configs {
			for _, s := range c.Settings {
				if s.Where.Line < 1 || s.Where.Line > lines || Secret(s.Spelled) {
					t.Errorf("%+v", s)
				}
			}
		}
	})
}
