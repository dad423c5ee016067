package cmd_test

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// mostAtStart is how many allocations kgdiag's own packages may make before main: the
// tables of settings, sentences, rules and patterns are made when they are first used.
const mostAtStart = 2500

// TestStartInitialisesLittle counts what the packages do as the program starts, since the
// time that it takes depends on the machine.
func TestStartInitialisesLittle(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var trace strings.Builder
	c := exec.Cmd{Path: self, Args: []string{"kgdiag", "version"}, Env: append(os.Environ(), "GODEBUG=inittrace=1"), Stderr: &trace}
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	sum := 0
	var each []string
	for _, m := range regexp.MustCompile(`init (github\.com/kgdiag/kgdiag\S*) .* (\d+) allocs`).FindAllStringSubmatch(trace.String(), -1) {
		n, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		sum += n
		each = append(each, m[2]+" "+m[1])
	}
	if len(each) < 5 {
		t.Fatalf("no trace of the packages: %s", trace.String())
	}
	if sum > mostAtStart {
		t.Errorf("%d allocations before main, want at most %d:\n%s", sum, mostAtStart, strings.Join(each, "\n"))
	}
	t.Logf("%d allocations before main", sum)
}
