package cmd

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// printedCommand finds the commands of kgdiag in a text: up to the end of the line, or to
// what stands two blanks behind it or in brackets.
var printedCommand = regexp.MustCompile(`(?m)(?:^|[ (:;` + "`" + `])kgdiag ([a-z]+(?: [^ \n]+)*)`)

// shellWords splits a command line as a shell does, single quotes included.
func shellWords(s string) []string {
	var out []string
	word, quoted, any := "", false, false
	for _, r := range s {
		switch {
		case r == '\'':
			quoted, any = !quoted, true
		case r == ' ' && !quoted:
			if any || word != "" {
				out = append(out, word)
			}
			word, any = "", false
		default:
			word += string(r)
		}
	}
	if any || word != "" {
		out = append(out, word)
	}
	return out
}

// parses holds one command line to the real commands and flags.
func parses(line string) error {
	words := shellWords(line)
	c, rest, err := Tree().Find(words)
	if err != nil {
		return err
	}
	if c.Name() != words[0] && !c.HasAlias(words[0]) {
		return os.ErrNotExist
	}
	return c.ParseFlags(rest)
}

// printed are the commands that a text names as something to run.
func printed(text string) []string {
	var out []string
	for _, m := range printedCommand.FindAllStringSubmatch(text, -1) {
		line, _, _ := strings.Cut(m[1], " (")
		for _, end := range []string{"`", ")", ";", ",", " |", " #", " && "} {
			line, _, _ = strings.Cut(line, end)
		}
		out = append(out, line)
	}
	return out
}

// next are the commands below "next" on a page.
func next(page string) []string {
	var out []string
	inside := false
	for _, l := range strings.Split(page, "\n") {
		inside = strings.HasPrefix(l, "next ") || inside && strings.HasPrefix(l, " ")
		if inside {
			out = append(out, printed(l)...)
		}
	}
	return out
}

// TestNextParses takes each line below "next" out of all transcripts, and of pages that
// were asked for with every flag that the next command needs, and parses it.
func TestNextParses(t *testing.T) {
	pages := map[string]string{}
	for _, pattern := range []string{"testdata/why/*.txt", "testdata/script/*.txtar", "../README.md", "../docs/*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			pages[f] = string(b)
		}
	}
	n := 0
	for name, page := range pages {
		for _, line := range next(page) {
			n++
			if err := parses(line); err != nil {
				t.Errorf("%s: kgdiag %s: %v", name, line, err)
			}
		}
	}
	if n < 9 {
		t.Errorf("only %d commands found", n)
	}
}

// TestNextCarriesTheFlags holds that a next command asks the same cluster about the same
// time with the same logs as the one that printed it.
func TestNextCarriesTheFlags(t *testing.T) {
	log := filepath.Join(t.TempDir(), "my app.log")
	if err := os.WriteFile(log, []byte("2026-11-21 11:00:00,000 INFO nothing of Kafka\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := slowOrders().file(t)
	given := []string{"--since", "3h", "--log", log, "--broker-map", "1=localhost:19092", "--command-config", "client.properties", "--context", "prod", "-X", "sasl.username=me", "-X", "sasl.password=secret"}
	page, errs, _ := screenOf(append([]string{"why", "orders", "--from", file}, given...)...)
	lines := next(page)
	if len(lines) < 1 {
		t.Fatalf("nothing next:\n%s%s", page, errs)
	}
	for _, line := range lines {
		if err := parses(line); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		for _, want := range []string{"--broker-map 1=localhost:19092", "--command-config client.properties", "--context prod", "-X sasl.username=me", "-X sasl.password=…", "--log '" + log + "'"} {
			if !strings.Contains(line, want) {
				t.Errorf("kgdiag %s: lacks %s", line, want)
			}
		}
		if since := !strings.HasPrefix(line, "watch"); since != strings.Contains(line, "--since 3h") {
			t.Errorf("kgdiag %s: --since 3h", line)
		}
	}
	if strings.Contains(page, "secret") {
		t.Errorf("a secret is printed:\n%s", page)
	}
}

func TestPrintedFindsCommands(t *testing.T) {
	for text, want := range map[string]string{
		"next  kgdiag watch orders --for 20m       proves the fix": "watch orders --for 20m",
		"2 findings: kgdiag advise 'a b'; more":                    "advise 'a b'",
		"(kgdiag help flags)":                                      "help flags",
	} {
		if got := printed(text); len(got) != 1 || got[0] != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if err := parses("watch orders --no-such-flag"); err == nil {
		t.Error("an unknown flag parses")
	}
	if err := parses("wach orders"); err == nil {
		t.Error("an unknown command parses")
	}
}
