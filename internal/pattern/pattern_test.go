package pattern_test

import (
	"os"
	"regexp"
	"testing"

	_ "github.com/kgdiag/kgdiag/advise" // for their patterns
	_ "github.com/kgdiag/kgdiag/inspect/clientconf"
	_ "github.com/kgdiag/kgdiag/inspect/clientlog"
	_ "github.com/kgdiag/kgdiag/inspect/family"

	"github.com/kgdiag/kgdiag/internal/pattern"
)

var atStart int

func TestMain(m *testing.M) {
	atStart = pattern.Compiled()
	os.Exit(m.Run())
}

func TestSourcesCompile(t *testing.T) {
	sources := pattern.Sources()
	if len(sources) < 80 {
		t.Errorf("%d patterns, want those of the four packages", len(sources))
	}
	for _, s := range sources {
		if _, err := regexp.Compile(s); err != nil {
			t.Error(err)
		}
	}
}

func TestCompiledByUse(t *testing.T) {
	if atStart != 0 {
		t.Errorf("%d patterns are compiled when the program starts, want none", atStart)
	}
	p := pattern.New(`^(\w+)-(\d+)$`)
	before := pattern.Compiled()
	if got := p.FindStringSubmatch("work-12"); len(got) != 3 || got[1] != "work" || got[2] != "12" {
		t.Errorf("got %q", got)
	}
	if n := pattern.Compiled(); n != before+1 {
		t.Errorf("%d patterns compiled by one use, want 1", n-before)
	}
}
