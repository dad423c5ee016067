package cmd_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// A runbook is a page for people, with console blocks of commands and what they print.
// Comments, which nobody sees, say in front of a block what it is run on:
//
//	<!-- run: LINE -->    a line of a script (TestScripts), such as the cluster that all
//	                      following commands without a case are run on
//	<!-- from: CASE -->   the case file below docs/runbooks/cases that answers instead
//	<!-- file: NAME -->   the next block is that file
//	<!-- exits: CODE -->  the exit code of the next command
//
// In a block, a line "…" stands for any number of lines.
type runbook struct {
	file   string
	lines  []string
	script []string
	files  map[string]string
	blocks map[int][2]int // first and last line of what the command of a block prints
}

// uncounted is the paragraph that changes with every new rule.
var uncounted = regexp.MustCompile(`(?m)^NOT CHECKED .*\n( .*\n)*`)

var directive = regexp.MustCompile(`^<!-- (run|from|file|exits): ?(.*?) ?-->$`)

// readRunbook makes a script of a runbook.
func readRunbook(t *testing.T, file string) *runbook {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r := &runbook{file: file, lines: strings.Split(string(data), "\n"), files: map[string]string{}, blocks: map[int][2]int{}}
	exits, name := "0", ""
	for i := 0; i < len(r.lines); i++ {
		line := r.lines[i]
		if m := directive.FindStringSubmatch(line); m != nil {
			switch m[1] {
			case "run":
				r.script = append(r.script, m[2])
			case "from":
				r.script = append(r.script, "env KGDIAG_FROM="+m[2])
			case "file":
				name = m[2]
			case "exits":
				exits = m[2]
			}
			continue
		}
		if !strings.HasPrefix(line, "```") {
			continue
		}
		end := i + 1
		for end < len(r.lines) && r.lines[end] != "```" {
			end++
		}
		switch {
		case name != "":
			r.files[name] = strings.Join(r.lines[i+1:end], "\n") + "\n"
			name = ""
		case line == "```console":
			r.console(t, i+1, end, exits)
			exits = "0"
		}
		i = end
	}
	return r
}

// console adds the commands of one block.
func (r *runbook) console(t *testing.T, from, to int, exits string) {
	t.Helper()
	for i := from; i < to; {
		command, ok := strings.CutPrefix(r.lines[i], "$ ")
		if !ok {
			t.Fatalf("%s:%d: a console block begins with a command after \"$ \"", r.file, i+1)
		}
		next := i + 1
		for next < to && !strings.HasPrefix(r.lines[next], "$ ") {
			next++
		}
		n := len(r.blocks)
		r.blocks[n] = [2]int{i + 1, next}
		r.files[fmt.Sprintf("block-%d", n)] = strings.Join(r.lines[i+1:next], "\n") + "\n"
		r.script = append(r.script, "exits "+exits+" "+command, fmt.Sprintf("shows %d", n))
		i = next
	}
}

// txtar is the script with its files.
func (r *runbook) txtar() string {
	var b strings.Builder
	b.WriteString(strings.Join(r.script, "\n") + "\n")
	for name, text := range r.files {
		fmt.Fprintf(&b, "-- %s --\n%s", name, text)
	}
	return b.String()
}

// alike reports whether a text is what a block shows, whose lines "…" stand for any.
func alike(block, text []string) bool {
	if len(block) == 0 {
		return len(text) == 0
	}
	if block[0] == "…" {
		for n := range len(text) + 1 {
			if alike(block[1:], text[n:]) {
				return true
			}
		}
		return false
	}
	return len(text) > 0 && block[0] == text[0] && alike(block[1:], text[1:])
}

// TestRunbooks runs every command of docs/runbooks and docs/concepts.md and compares what
// it prints with what the page shows. go test ./cmd -run TestRunbooks -update writes it.
func TestRunbooks(t *testing.T) {
	files, err := filepath.Glob("../docs/runbooks/*.md")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d runbooks found: %v", len(files), err)
	}
	cases, err := filepath.Abs("../docs/runbooks/cases")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, "../docs/concepts.md") {
		r := readRunbook(t, file)
		dir := t.TempDir()
		script := filepath.Join(dir, strings.TrimSuffix(filepath.Base(file), ".md")+".txtar")
		if err := os.WriteFile(script, []byte(r.txtar()), 0o600); err != nil {
			t.Fatal(err)
		}
		p := scriptParams(dir)
		setup := p.Setup
		p.UpdateScripts = false
		p.Setup = func(e *testscript.Env) error {
			if err := os.CopyFS(e.WorkDir, os.DirFS(cases)); err != nil {
				return err
			}
			return setup(e)
		}
		p.Cmds["shows"] = r.shows
		t.Run(filepath.Base(dir), func(t *testing.T) { testscript.Run(t, p) }) // its scripts run in parallel: this awaits them
		if *updateScripts {
			if err := os.WriteFile(file, []byte(strings.Join(r.lines, "\n")), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// shows compares the last output with a block.
func (r *runbook) shows(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "shows BLOCK")
	n := number(ts, args[0])
	got := ts.ReadFile("stdout")
	if got == "" {
		got = ts.ReadFile("stderr")
	}
	split := func(s string) []string { return strings.Split(strings.TrimRight(s, "\n"), "\n") }
	want := ts.ReadFile(fmt.Sprintf("block-%d", n))
	if alike(split(blank(ts, want)), split(blank(ts, got))) {
		return
	}
	if !*updateScripts {
		ts.Fatalf("%s: a command prints something else than the page shows (-update writes it)\nit prints:\n%s", r.file, got)
	}
	at := r.blocks[n]
	lines := split(uncounted.ReplaceAllString(named(ts, got, "kafka-%d.eu:9092"), "…\n")) // as wide as the address of a simulated broker
	r.lines = append(r.lines[:at[0]:at[0]], append(lines, r.lines[at[1]:]...)...)
	for k, b := range r.blocks {
		if d := len(lines) - (at[1] - at[0]); k > n {
			r.blocks[k] = [2]int{b[0] + d, b[1] + d}
		}
	}
}
