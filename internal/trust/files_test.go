package trust

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The limits of docs/security.md for any input file.
const (
	fileTime   = 10 * time.Second
	fileMemory = 256 * MiB
)

// hostile makes one hostile file and gives its path.
type hostile struct {
	name string
	make func(t *testing.T, dir string) string
	// silent is whether kgdiag may take it without a word: it is harmless there.
	silent []string
}

var hostiles = []hostile{
	{name: "a directory", make: func(t *testing.T, dir string) string { return dir }},
	{name: "not there", make: func(t *testing.T, dir string) string { return filepath.Join(dir, "nothing") }},
	{name: "a FIFO that nobody writes to", make: func(t *testing.T, dir string) string {
		name := filepath.Join(dir, "fifo")
		if err := syscall.Mkfifo(name, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}},
	{name: "a device without end", make: func(*testing.T, string) string { return "/dev/zero" }},
	{name: "empty", make: func(t *testing.T, dir string) string { return write(t, dir, "empty", "") }, silent: []string{"--command-config", "--project"}},
	{name: "binary", make: func(t *testing.T, dir string) string {
		b := make([]byte, 1<<16)
		for i := range b {
			b[i] = byte(i * i >> 3)
		}
		return write(t, dir, "binary", string(b))
	}},
	{name: "one line of 1 GiB", make: oneLine},
	{name: "invalid UTF-8", make: func(t *testing.T, dir string) string {
		return write(t, dir, "latin1", "group.id=caf\xe9\nrules: \xff\xfe\n")
	}, silent: []string{"-f", "--command-config"}},
	{name: "an alias bomb", make: func(t *testing.T, dir string) string { return write(t, dir, "bomb.yaml", aliasBomb()) }},
	{name: "deep nesting", make: func(t *testing.T, dir string) string {
		return write(t, dir, "deep.yaml", strings.Repeat("[", 1<<20)+strings.Repeat("]", 1<<20))
	}},
	{name: "deep nesting of braces", make: func(t *testing.T, dir string) string {
		return write(t, dir, "deep.json", strings.Repeat(`{"a":`, 1<<19))
	}},
	{name: "unpacks to one value of 1 GiB", make: func(t *testing.T, dir string) string {
		return packed(t, dir, func(w io.Writer) {
			io.WriteString(w, `{"schema":"`)
			io.CopyN(w, letters{}, 1<<30)
			io.WriteString(w, `"}`)
		})
	}},
	{name: "unpacks to 3 million objects", make: func(t *testing.T, dir string) string {
		return packed(t, dir, func(w io.Writer) {
			io.WriteString(w, `{"schema":"kgdiag.case/v1","groups":[{}`)
			many := strings.Repeat(",{}", 1000)
			for range 3100 {
				io.WriteString(w, many)
			}
			io.WriteString(w, `]}`)
		})
	}},
	{name: "unpacks to millions of nulls", make: func(t *testing.T, dir string) string {
		return packed(t, dir, func(w io.Writer) {
			io.WriteString(w, `{"schema":"kgdiag.case/v1","timelines":[{"rebalances":[null`)
			many := strings.Repeat(",null", 1000)
			for range 5000 {
				io.WriteString(w, many)
			}
			io.WriteString(w, `]}]}`)
		})
	}},
	{name: "gzip that ends in the middle", make: func(t *testing.T, dir string) string {
		whole := packed(t, dir, func(w io.Writer) {
			fmt.Fprintf(w, `{"schema":"kgdiag.case/v1","gaps":[%s]}`, strings.Repeat(`{"why":"x"},`, 500))
		})
		b, err := os.ReadFile(whole)
		if err != nil {
			t.Fatal(err)
		}
		return write(t, dir, "half.kgcase", string(b[:len(b)/2]))
	}},
	{name: "a number out of range", make: func(t *testing.T, dir string) string {
		return write(t, dir, "range.json", `{"schema":"kgdiag.case/v1","cluster":{"brokers":99999999999999999999}}`)
	}, silent: []string{"-f"}},
	{name: "a year out of range", make: func(t *testing.T, dir string) string {
		return write(t, dir, "year.json", `{"schema":"kgdiag.case/v1","generated_at":"292278994-08-17T07:12:55Z","groups":[]}`)
	}, silent: []string{"-f"}},
	{name: "not permitted", make: func(t *testing.T, dir string) string { return "/proc/self/mem" }},
}

// oneLine is a sparse file: 1 GiB without a line end, and without a use of the disk.
func oneLine(t *testing.T, dir string) string {
	name := filepath.Join(dir, "long.log")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(1 << 30); err != nil {
		t.Fatal(err)
	}
	return name
}

func aliasBomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 40; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d,", i-1), 8), i-1)
	}
	return b.String()
}

// letters is a text without end.
type letters struct{}

func (letters) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'a'
	}
	return len(b), nil
}

func packed(t *testing.T, dir string, fill func(io.Writer)) string {
	t.Helper()
	name := filepath.Join(dir, "bomb.kgcase")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zw := gzip.NewWriter(f)
	fill(zw)
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

// reads are the ways in which kgdiag takes a file, with FILE for its name.
var reads = [][]string{
	{"advise", "-f", "FILE"},
	{"advise", "--log", "FILE"},
	{"advise", "--gc-log", "FILE"},
	{"advise", "--project", "FILE", "--set", "group.id=g"},
	{"why", "--from", "FILE"},
	{"history", "--from", "FILE", "--all-groups"},
	{"why", "--from", "CASE", "--pods", "FILE"},
	{"why", "--from", "CASE", "--log", "FILE"},
	{"check", "--command-config", "FILE", "-b", "127.0.0.1:1"},
	{"check", "-b", "127.0.0.1:1", "-X", "security.protocol=SSL", "-X", "ssl.truststore.location=FILE"},
	{"check", "-b", "127.0.0.1:1", "-X", "security.protocol=SSL", "-X", "ssl.keystore.location=FILE", "-X", "ssl.keystore.password=p"},
	{"check", "-b", "127.0.0.1:1", "-X", "security.protocol=SASL_PLAINTEXT", "-X", "sasl.mechanism=PLAIN", "-X", "sasl.username=u", "-X", "sasl.password.file=FILE"},
}

const smallCase = `{"schema":"kgdiag.case/v1","kgdiag":"v0","generated_at":"2026-11-21T12:00:00.000Z","cluster":{},"window":{},"gaps":[],"groups":[{"group":"orders"}]}`

func TestHostileFiles(t *testing.T) {
	for _, h := range hostiles {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := h.make(t, dir)
			small := write(t, dir, "small.json", smallCase)
			for _, words := range reads {
				args := make([]string, len(words))
				for i, w := range words {
					args[i] = strings.ReplaceAll(strings.ReplaceAll(w, "FILE", file), "CASE", small)
				}
				r := kgdiag(t, setup{limit: 4 * fileTime}, args...)
				if err := r.judgeFile(file, h, words); err != nil {
					t.Errorf("%s, %s: %v", h.name, strings.Join(words, " "), err)
				}
			}
		})
	}
}

// judgeFile holds a run to an error that names the file.
func (r ran) judgeFile(file string, h hostile, words []string) error {
	// On a machine with nothing else to do; the tests of this repository share theirs.
	if r.took > fileTime && r.took < 4*fileTime && r.cpu < fileTime/4 {
		r.took = fileTime
	}
	if err := r.sane(fileTime, fileMemory); err != nil {
		return err
	}
	for i, w := range words {
		if i > 0 && strings.Contains(w, "FILE") {
			for _, s := range h.silent {
				if words[i-1] == s {
					return nil
				}
			}
		}
	}
	if strings.HasPrefix(words[len(words)-1], "sasl.password.file") && r.code != 0 {
		return nil // any bytes can be a password; that it is asked for names the key
	}
	if !strings.Contains(r.err, file) && !strings.Contains(r.out, file) {
		return fmt.Errorf("does not name the file: %s", r)
	}
	if r.code == 0 && !strings.Contains(r.err, "warning") {
		return fmt.Errorf("nothing was wrong with it: %s", r)
	}
	return nil
}
