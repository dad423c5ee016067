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
	t, ok := platform.Testify(g.in.Processes, platform.Absence{
		Member:     platform.Member{ClientID: e.Member.ClientID, Host: e.Member.Host, InstanceID: e.Member.Instance()},
		LastCommit: e.lastAt, From: e.lo, To: e.hi, Session: orZero(e.session), Heartbeat: e.heartbeat})
	if !ok {
		return process{}
	}
	return process{Testimony: t, again: slices.ContainsFunc(g.in.Processes, func(l inspect.ProcessLife) bool {
		return l.Name == t.Life.Name && l.Namespace == t.Life.Namespace && l.Container == t.Life.Container && !l.Started.Before(t.Life.Ended.Time)
	})}
}

// states reports an end of the process that says why the member went. A restart within
// the session is one way to see a session end.
func (p *process) states(v *verdict) bool {
	return p.Fate == platform.FateEnded && p.Cause != "" &&
		!(p.Cause == inspect.SessionExpired && v.cause == inspect.RestartedWithinSession && p.again)
}

// stateEnd replaces an inferred cause by the one that the end of the process states.
func (v *verdict) stateEnd(e *evidence) {
	old := v.cause
	for i := range v.rivals {
		v.rivals[i].WhyNot = "its process ended"
	}
	v.cause, v.conf, v.basis = e.process.Cause, inspect.High, inspect.Stated
	v.rivals = withoutRival(v.rivals, v.cause)
	v.why = v.why[:min(1, len(v.why))] // of the doubts about the silence nothing is left
	if old != v.cause && old != inspect.UnknownCause {
		v.add(old, "its process ended")
	}
	if e.process.again && e.cameBack() {
		v.returned = inspect.ReturnedNewProcess
	}
}

// hearProcess says what became of the process, and what a process that lived on rules out.
func (v *verdict) hearProcess(e *evidence) {
	if e.process.Fate == "" {
		return
	}
	v.say(e.process.Text)
	if e.process.Fate != platform.FateLivedOn {
		return
	}
	if v.cause == inspect.SessionExpired && e.cameBack() {
		v.returned = inspect.ReturnedSameProcess
	}
	for i := range v.rivals {
		if v.rivals[i].Cause == inspect.RestartedWithinSession && v.rivals[i].WhyNot == "" {
			v.rivals[i].WhyNot = "its process ran on"
		}
	}
}
