package diagnose

import (
	"slices"
	"strings"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/prose"
)

// Advised is the run of advise from whose findings commands follow.
type Advised struct {
	Run   string   // its arguments and flags, "" or with a blank before each
	Logs  string   // of these the log files
	Files []string // configuration files of which a patch can be made
}

// AfterAdvice are the commands that follow from findings: where a log alone tells of lost
// members and no value can be worked out from it, the one that measures them on the cluster,
// and where several findings change files, the one that writes all of it at once.
func AfterAdvice(c *inspect.Case, fs []advise.Finding, run Advised) []Command {
	var out []Command
	if groups := unmeasured(c, fs); len(groups) > 0 {
		out = append(out, Command{"kgdiag why " + strings.Join(groups, " ") + " -b HOST:PORT" + run.Logs, "measures how long it took, for a value to set"})
	}
	changes := 0
	for _, f := range fs {
		if f.Fix != nil && f.BecauseOf == "" && f.Where != nil && slices.Contains(run.Files, f.Where.File) && len(f.Fix.Set)+len(f.Fix.Delete) > 0 {
			changes++
		}
	}
	if changes > 1 {
		out = append(out, Command{"kgdiag advise" + run.Run + " --diff", "all of it as one patch"})
	}
	return out
}

// unmeasured are the groups, as a shell takes them, of which logs alone tell that members
// were lost, and of which no setting follows from that; none where a cluster was read.
func unmeasured(c *inspect.Case, fs []advise.Finding) []string {
	if c.Cluster != (inspect.Cluster{}) || len(c.Timelines) > 0 {
		return nil
	}
	var groups []string
	for _, f := range fs {
		ofLog := f.Where != nil && slices.ContainsFunc(c.LogFiles, func(l inspect.LogFile) bool { return l.Name == f.Where.File })
		if name := prose.ShellWord(f.Group); f.Group != "" && ofLog && f.BecauseOf == "" && losesMembers(f.ID) && !sets(&f) && !slices.Contains(groups, name) {
			groups = append(groups, name)
		}
	}
	return groups
}

// losesMembers reports a rule about lines of logs after which a member was out of its group
// for want of time: how much it wanted is on the cluster.
func losesMembers(rule string) bool {
	return slices.Contains([]string{"KGD214", "KGD215", "KGD218", "KGD219", "KGD227"}, rule)
}
