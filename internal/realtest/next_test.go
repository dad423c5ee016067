//go:build realkafka

package realtest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// printedCommand is a command of kgdiag in a page or an error, up to the end of the line, two blanks, or what a
// sentence puts behind it.
var printedCommand = regexp.MustCompile(`(?:^|[ (:;])kgdiag (?:why|watch|history|describe|advise|locate|record|check|explain|help)(?: [^ \n]+)*`)

// printed are the commands below "next" and in the hints of a run, as a person would copy them.
func (r result) printed() []string {
	var out []string
	inside := false
	for line := range strings.Lines(r.stdout + "\n" + r.stderr) {
		hint := strings.HasPrefix(line, "hint:")
		inside = strings.HasPrefix(line, "next ") || inside && strings.HasPrefix(line, " ")
		if !inside && !hint {
			continue
		}
		for _, m := range printedCommand.FindAllString(line, -1) {
			for _, end := range []string{")", ";", ", ", " #", " (", ": "} {
				m, _, _ = strings.Cut(m, end)
			}
			out = append(out, strings.Trim(m, " (:;\n."))
		}
	}
	return out
}

// pasted runs a command line as a shell would, from an empty folder; one that goes on by itself is ended as by Ctrl-C after its first lines.
func pasted(t *testing.T, line string) result {
	t.Helper()
	limit := 30 * time.Second
	if strings.HasPrefix(line, "kgdiag watch") {
		limit = 3 * time.Second
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", "exec "+line)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	cmd.Dir = t.TempDir()
	cmd.Env = append(environment(), "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	begin := time.Now()
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && ctx.Err() == nil {
		t.Fatalf("%s: %v", line, err)
	}
	return result{[]string{"(pasted)", line}, stdout.String(), stderr.String(), cmd.ProcessState.ExitCode(), time.Since(begin)}
}

// TestPrintedCommandsRun pastes each command that a page or an error offers, and expects
// an answer. It asks about a group whose member was killed, one that is well, one that
// is not there, and from a folder in which nothing lies.
func TestPrintedCommandsRun(t *testing.T) {
	t.Parallel()
	c := shared(t)
	topic, sick, well := name("printed"), name("printed o'sick"), name("printed-well")
	c.topic(topic, 4)
	c.produce(topic, 20)
	spec := client{Kind: franzGo, Group: sick, Topics: topic, ClientID: "stays", Assignor: "range", Commit: "sync", Session: 6000, Heartbeat: 2000, MaxPoll: 15000}
	stays := start(t, c.bootstrap, spec)
	spec.ClientID = "dies"
	dies := start(t, c.bootstrap, spec)
	dies.assigned(2)
	at := stays.count()
	dies.kill()
	stays.again(at, 4)
	spec.Group, spec.ClientID = well, "calm"
	start(t, c.bootstrap, spec).assigned(4)

	b := []string{"-b", c.bootstrap}
	ask := [][]string{{"why"}, {"why", sick}, {"why", well}, {"why", well + "x"}, {"history", sick}, {"history", "--all-groups"}, {"describe", sick},
		{"describe", well}, {"describe"}, {"locate", sick}, {"locate", well + "x"}, {"advise", sick}, {"advise", well}, {"check"}, {"watch", sick, "--for", "1s"},
		{"watch", well + "x", "--for", "1s"}, {"record", sick, "--to", filepath.Join(t.TempDir(), "a.kgcase")}, {"why", sick, "--since", "3s"}}
	var lines []string
	for _, args := range ask {
		lines = append(lines, kgdiag(t, append(args, b...)...).printed()...)
	}
	lines = append(lines, kgdiag(t, "why", "-b", "127.0.0.1:1").printed()...)
	lines = append(lines, kgdiag(t).printed()...)
	slices.Sort(lines)
	lines = slices.Compact(lines)
	if len(lines) < 5 {
		t.Fatalf("only %d commands are printed: %q", len(lines), lines)
	}
	for _, line := range lines {
		r := pasted(t, line)
		t.Logf("%s: exit %d", line, r.code)
		// 1 is an answer: there is a finding, or it is not well. 2 is a command that could not be understood, above is a failure.
		if r.code != 0 && r.code != 1 || r.stdout == "" && !strings.Contains(line, " record ") {
			t.Errorf("%s", r)
		}
	}
}
