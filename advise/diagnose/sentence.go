package diagnose

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/prose"
)

// Calm reports that nothing is to be explained: no rebalance, or only members that
// joined.
func (d *Diagnosis) Calm() bool {
	return d.Cause == "" || d.Cause == inspect.MemberJoined && d.Verdict != Unstable
}

// Why is the cause in a sentence or two about whom it concerns, lower case and without
// a full stop.
func (d *Diagnosis) Why() string {
	var oc Occurrence
	if len(d.Occurrences) > 0 {
		oc = d.Occurrences[len(d.Occurrences)-1]
	}
	for _, o := range d.Occurrences { // the newest may not be back yet
		if o.Departure != nil && o.Departure.BackAfter != nil {
			oc = o
		}
	}
	who, times := "client "+d.Member, ""
	if d.Host != "" {
		who += " (" + d.Host + ")"
	}
	if oc.Departure != nil && d.Basis != inspect.Stated && d.Cause.Explained() {
		who += hedges[d.Confidence]
	}
	if d.Times > 1 {
		times = fmt.Sprintf(" %d times", d.Times)
	}
	pairs := []string{"who", who, "times", times}
	if len(d.Evidence) > 0 {
		pairs = append(pairs, "first", d.Evidence[0])
	}
	if oc.Rebalance != nil {
		pairs = append(pairs, "joined", Who(oc.Rebalance))
	}
	inBatch := oc.Departure != nil && oc.Departure.InBatch
	if oc.Departure != nil {
		pairs = append(pairs, timeouts(oc.Departure)...)
		pairs = append(pairs, "back", d.back(oc.Departure))
	}
	return strings.TrimSuffix(inspect.FillIn(d.Cause.Info().Sentence(oc.Departure != nil, d.Times, inBatch), pairs...), ".")
}

// hedges stand behind whom a sentence is about, where its cause is inferred and no more
// than likely.
var hedges = map[inspect.Confidence]string{inspect.Medium: " probably", inspect.Low: " possibly"}

// timeouts are what a sentence may say of a departed member's timeouts and return.
func timeouts(l *inspect.Departure) []string {
	poll, session, rebalance := "max.poll.interval.ms", "its session timeout", "-"
	if l.Rebalance != nil {
		rebalance = prose.Span(l.Rebalance.Duration())
		poll += " (" + rebalance + ")"
	}
	if l.Session != nil {
		session = "session.timeout.ms (" + prose.Span(l.Session.Duration()) + ")"
	}
	return []string{"poll", poll, "session", session, "rebalance", rebalance}
}

// returnWords say how a member came back, and what that tells.
var returnWords = map[inspect.Returned]string{
	inspect.ReturnedNo:          "it did not come back: a crash, or a close without LeaveGroup",
	inspect.ReturnedSameProcess: "the same process came back: it had paused, or its network had failed",
	inspect.ReturnedNewProcess:  "a new process came in its place: it crashed, or was killed, and was restarted",
	inspect.ReturnedUnknown:     cameBack,
	"":                          cameBack,
}

const cameBack = "it came back: a pause, a crash under a supervisor and a cut network look alike here"

// TellsEvidence reports whether the sentence of the cause holds its evidence already.
func (d *Diagnosis) TellsEvidence() bool { return d.Cause == inspect.RollingRestart }

// Shown is the evidence for a page: all that was asked for or is needed, and what the
// platform's files say in any case.
func (d *Diagnosis) Shown(all bool) []string {
	var out []string
	if all || d.needsEvidence() {
		out = slices.Clone(d.Evidence)
	}
	for _, s := range d.Process() {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// needsEvidence reports whether the cause is not to be believed without its evidence:
// where somebody stated it, where it is no member's departure, and where it is unknown.
func (d *Diagnosis) needsEvidence() bool {
	return d.Basis == inspect.Stated || d.Cause == inspect.UnknownCause || len(d.Occurrences) > 0 && d.Occurrences[0].Departure == nil
}

// MemberAlone says that others processed the same partitions at their usual pace while
// this member did not, and what to look at before the setting is changed; "" where that
// is not so.
func (d *Diagnosis) MemberAlone() string {
	coped := func(oc Occurrence) bool { return oc.Departure != nil && oc.Departure.OthersCoped }
	if d.Cause != inspect.PollIntervalExceeded || len(d.Occurrences) == 0 || slices.ContainsFunc(d.Occurrences, func(oc Occurrence) bool { return !coped(oc) }) {
		return ""
	}
	return "others processed the same partitions in time: look at " + d.Member + " first"
}

// sharedKeys are the client settings that all members of a group are given alike.
var sharedKeys = []string{"session.timeout.ms", "heartbeat.interval.ms", "max.poll.interval.ms", "max.poll.records"}

// ForWhom says on which members the setting of a fix is to be set, and that the one that
// it follows from is to be looked at first where no other was lost; "" where no member is
// behind it.
func (d *Diagnosis) ForWhom() string {
	if f := d.Fix(); f == nil || slices.ContainsFunc(slices.Collect(maps.Keys(f.Fix.Set)), func(key string) bool { return !slices.Contains(sharedKeys, key) }) {
		return ""
	}
	most := 0
	for i := range d.Rebalances {
		most = max(most, d.Rebalances[i].Members.Before, d.Rebalances[i].Members.After)
	}
	if d.Member == "" || len(d.Occurrences) == 0 || most < 2 {
		return ""
	}
	const all = "set it on all members"
	var others []string
	for i := range d.Rebalances {
		for _, l := range d.Rebalances[i].Members.Left {
			if n := inspect.MemberName(l.ClientID, l.MemberID, l.InstanceID); l.Cause.Eviction() && n != d.Member && l.ClientID != d.Member && !slices.Contains(others, n) {
				others = append(others, n)
			}
		}
	}
	switch {
	case len(others) > 0:
		return fmt.Sprintf("%s: %s left like %s", all, prose.Few(others, 2), d.Member)
	case d.MemberAlone() != "":
		return all
	case d.Fix().Fix.HostFirst():
		return all + "; only " + d.Member + " was affected"
	}
	return all + "; only " + d.Member + " was affected: look at its host first"
}

// Unsure reports a cause that is no more than likely.
func (d *Diagnosis) Unsure() bool {
	return d.Confidence == inspect.Low && d.Cause != inspect.UnknownCause && d.Cause != inspect.GroupEmptied
}

// AtWhich names the record that comes back every time, and who went at it.
func (d *Diagnosis) AtWhich() string {
	r := d.Records[0]
	var names []string
	for i := range d.Rebalances {
		for _, l := range d.Rebalances[i].Members.Left {
			if n := inspect.MemberName(l.ClientID, l.MemberID, l.InstanceID); slices.Contains(l.Stuck, r.Place) && !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	s := fmt.Sprintf("the same record every time: %s; members left %d times while it was next (%s)", r.Place, r.Times, prose.Few(names, 3))
	if n := len(d.Records) - 1; n > 0 {
		s += fmt.Sprintf("; before it %s", d.Records[1].Place)
		if n > 1 {
			s += fmt.Sprintf(" and %d more", n-1)
		}
	}
	return s
}

// slowestConvergence is the rebalance whose last member took longest to get what the
// group's epoch gives it (KIP-848); nil for none.
func (d *Diagnosis) slowestConvergence() *inspect.Rebalance {
	var slow *inspect.Rebalance
	for i := range d.Rebalances {
		r := &d.Rebalances[i]
		if r.Converged != nil && r.ConvergedLast != "" && (slow == nil || *r.Converged > *slow.Converged) {
			slow = r
		}
	}
	return slow
}

// mostNamed is how many members Who names.
const mostNamed = 3

// Who names who went (-), who came (+) and whose place was taken (=) in a rebalance;
// "-" for nobody.
func Who(r *inspect.Rebalance) string {
	var parts []string
	add := func(sign, client, member string, instance *string, host string) {
		name := sign + inspect.MemberName(client, member, instance)
		if host != "" {
			name += "@" + host
		}
		parts = append(parts, name)
	}
	for _, d := range r.Members.Left {
		add("-", d.ClientID, d.MemberID, d.InstanceID, d.Host)
	}
	for _, j := range r.Members.Joined {
		add("+", j.ClientID, j.MemberID, j.InstanceID, j.Host)
	}
	for _, p := range r.Members.Replaced {
		add("=", p.ClientID, p.NewMemberID, p.InstanceID, cmp.Or(p.NewHost, p.Host))
	}
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(prose.First(parts, mostNamed), " ")
}
