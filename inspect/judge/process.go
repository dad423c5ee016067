package judge

import (
	"slices"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/platform"
)

// process is what the platform says of the member's process; the zero value if nothing.
type process struct {
	platform.Testimony
	again bool // another life of it began before the member was back
}

func (g *group) processOf(e *evidence) process {
	if len(g.in.Processes) == 0 {
		return process{}
	}
	t := platform.Testify(g.in.Processes, platform.Absence{
		Member:     platform.Member{ClientID: e.Member.ClientID, Host: e.Member.Host, InstanceID: e.Member.Instance()},
		LastCommit: e.lastAt, From: e.lo, To: e.hi, Session: e.session, Heartbeat: e.heartbeat})
	return process{Testimony: t, again: slices.ContainsFunc(g.in.Processes, func(l inspect.ProcessLife) bool {
		return l.Name == t.Life.Name && l.Namespace == t.Life.Namespace && l.Container == t.Life.Container && !l.Started.Before(t.Life.Ended.Time)
	})}
}

// states reports an end of the process that says why the member went. A restart within
// the session is one way to see a session end.
func (p *process) states(v *verdict) bool {
	return p.Fate == inspect.FateEnded && p.Cause != "" &&
		!(p.Cause == inspect.SessionExpired && v.cause == inspect.RestartedWithinSession && p.again)
}

// word is what is told of the process beside the cause; nil where nothing was read of
// processes.
func (p *process) word(v *verdict) *inspect.ProcessWord {
	if p.Text == "" {
		return nil
	}
	return &inspect.ProcessWord{Fate: p.Fate, Platform: p.Life.Platform, End: p.Life.End, States: v.byProcess, Text: p.Text}
}
