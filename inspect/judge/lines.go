package judge

import (
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// logSkew is how far a log's clock may be from the broker's.
const logSkew = 5 * time.Second

// logLines are the lines of logs that are about one departure.
type logLines struct {
	stated     *inspect.LogEvent // states the cause; nil none
	statedConf inspect.Confidence
	pauses     []*inspect.LogEvent // say that its process stood still, before the line that states the cause
}

func (g *group) logLinesOf(e *evidence) logLines {
	var l logLines
	for i := range g.in.Events {
		ev := &g.in.Events[i]
		switch {
		case ev.Kind == inspect.LogPause:
			if e.pausedBy(ev) {
				l.pauses = append(l.pauses, ev)
			}
		case ev.Cause != inspect.UnknownCause && ev.Cause.Info().Departs:
			if conf, ok := about(ev, e); ok {
				l.stated, l.statedConf = ev, conf
				return l
			}
		}
	}
	return l
}

// about reports whether a line is about a departure, and how sure that is.
func about(ev *inspect.LogEvent, e *evidence) (inspect.Confidence, bool) {
	near := ev.Time.IsZero()
	if !near {
		lo, hi := e.lo.Add(-logSkew), e.step.EndAt.Add(logSkew)
		near = !ev.Time.Before(lo) && !ev.Time.After(hi)
	}
	switch {
	case ev.MemberID != "":
		return inspect.High, ev.MemberID == e.Member.ID && near
	case ev.Time.IsZero():
		return "", false
	case ev.InstanceID != "":
		return inspect.High, ev.InstanceID == e.Member.Instance() && near
	case ev.ClientID != "":
		if ev.ClientID != e.Member.ClientID || ev.Host != "" && ev.Host != e.Member.Host {
			return "", false
		}
		if e.shared() && ev.Host == "" {
			return inspect.Medium, near
		}
		return inspect.High, near
	}
	return "", false
}

// pausedBy reports a line of a JVM or of a container that says that the whole process
// stood still during the silence.
func (e *evidence) pausedBy(ev *inspect.LogEvent) bool {
	if ev.Length == nil || e.session == 0 || ev.Time.IsZero() || ev.ClientID != "" && ev.ClientID != e.Member.ClientID ||
		ev.Host != "" && ev.Host != e.Member.Host {
		return false
	}
	length := ev.Length.Duration()
	return !ev.Time.Add(length).Before(e.lastAt) && !ev.Time.Add(-length).After(e.hi.Add(logSkew))
}

func said(ev *inspect.LogEvent) string {
	if ev.Reason != "" {
		return ev.Reason
	}
	return ev.Text
}
