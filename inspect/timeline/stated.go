package timeline

import (
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// logSkew is how far a log's clock may be from the broker's.
const logSkew = 5 * time.Second

// stated takes the cause from a log line that states it, where the line is about
// this departure: same member id, or same client near the same time.
func (t *track) stated(d *departure) {
	for i := range t.in.Events {
		ev := &t.in.Events[i]
		switch {
		case ev.Kind == inspect.LogPause:
			d.paused(ev)
			continue
		case ev.Cause == "" || ev.Cause == inspect.UnknownCause || !ev.Cause.Info().Departs:
			continue
		}
		conf, ok := t.about(ev, d)
		if !ok {
			continue
		}
		d.v.state(ev, conf)
		return
	}
}

// about reports whether a line is about a departure, and how sure that is.
func (t *track) about(ev *inspect.LogEvent, d *departure) (inspect.Confidence, bool) {
	near := ev.Time.IsZero()
	if !near {
		lo, hi := d.ev.lo.Add(-logSkew), d.step.EndAt.Add(logSkew)
		near = !ev.Time.Before(lo) && !ev.Time.After(hi)
	}
	switch {
	case ev.MemberID != "":
		return inspect.High, ev.MemberID == d.Member.ID && near
	case ev.Time.IsZero():
		return "", false
	case ev.InstanceID != "":
		return inspect.High, ev.InstanceID == d.Member.Instance() && near
	case ev.ClientID != "":
		if ev.ClientID != d.Member.ClientID || ev.Host != "" && ev.Host != d.Member.Host {
			return "", false
		}
		if t.shared(d, d.step) && ev.Host == "" {
			return inspect.Medium, near
		}
		return inspect.High, near
	}
	return "", false
}

// state replaces an inferred cause by a stated one; what was inferred stays as a
// rival that the log speaks against.
func (v *verdict) state(ev *inspect.LogEvent, conf inspect.Confidence) {
	old := v.cause
	for i := range v.rivals {
		v.rivals[i].WhyNot = "the log says otherwise"
	}
	v.cause, v.conf, v.basis = ev.Cause, conf, inspect.Stated
	kept := v.rivals[:0]
	for _, r := range v.rivals {
		if r.Cause != ev.Cause {
			kept = append(kept, r)
		}
	}
	v.rivals = kept
	if old != ev.Cause && old != inspect.UnknownCause {
		v.add(old, "the log says otherwise")
	}
	v.say(where(ev) + ": " + said(ev))
}

func where(ev *inspect.LogEvent) string {
	if ev.From.Line > 0 {
		return ev.From.File + ":" + itoa(int32(ev.From.Line))
	}
	return ev.From.File
}

func said(ev *inspect.LogEvent) string {
	if ev.Reason != "" {
		return ev.Reason
	}
	return ev.Text
}

// paused: the log of a JVM or of a container says that the whole process stood
// still for as long as the session during the silence.
func (d *departure) paused(ev *inspect.LogEvent) {
	if ev.Length == nil || d.ev.session == nil || ev.Time.IsZero() || ev.ClientID != "" && ev.ClientID != d.Member.ClientID ||
		ev.Host != "" && ev.Host != d.Member.Host {
		return
	}
	length := ev.Length.Duration()
	from, to := ev.Time.Add(-length), ev.Time.Add(length)
	if to.Before(d.ev.lastAt) || from.After(d.ev.hi.Add(logSkew)) {
		return
	}
	d.v.say(where(ev) + ": the process paused for " + dur(length))
	if length < *d.ev.session || d.v.cause != inspect.SessionExpired {
		return
	}
	d.v.returned = inspect.ReturnedSameProcess
	if ev.ClientID != "" || ev.Host != "" {
		d.v.conf = inspect.High
	} else if d.v.conf == inspect.Low {
		d.v.conf = inspect.Medium
	}
}
