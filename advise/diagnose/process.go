package diagnose

import (
	"fmt"
	"slices"

	"github.com/kgdiag/kgdiag/inspect"
)

// mostProcesses is how many statements about processes a page shows.
const mostProcesses = 3

// Process is what the files of the platform and of the JVM say of the members that went,
// the newest first and each once; why they say nothing, where that is so. Nil where none
// were read.
func (d *Diagnosis) Process() []string {
	var out []string
	add := func(text string) {
		if text != "" && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	for _, oc := range slices.Backward(d.Occurrences) {
		if l := oc.Departure; l != nil {
			if l.Process != nil {
				add(l.Process.Text)
			}
			add(l.Paused)
		}
	}
	if more := len(out) - mostProcesses; more > 0 {
		out = append(out[:mostProcesses], fmt.Sprintf("and %d more such statements (history -v)", more))
	}
	return out
}

// fate is the fate that the processes of all departures share; "" where it is not known
// of one of them, or they differ.
func (d *Diagnosis) fate() inspect.ProcessFate {
	var shared inspect.ProcessFate
	for i, oc := range d.Occurrences {
		if oc.Departure == nil || oc.Departure.Process == nil {
			return ""
		}
		fate := oc.Departure.Process.Fate
		if i > 0 && fate != shared {
			return ""
		}
		shared = fate
	}
	return shared
}

// back says how a member came back, and what that and the fate of its process tell.
func (d *Diagnosis) back(l *inspect.Departure) string {
	fate := inspect.ProcessFate("")
	if l.Process != nil {
		fate = l.Process.Fate
	}
	switch {
	case fate == inspect.FateEnded && l.Returned == inspect.ReturnedNo:
		return "its process had ended, and it did not come back"
	case fate == inspect.FateEnded && l.Returned == inspect.ReturnedNewProcess:
		return "its process had ended, and a new one came in its place"
	case fate == inspect.FateLivedOn && l.Returned == inspect.ReturnedNo:
		return "it did not come back, although its process ran on: it hung, lost its network, or closed its consumer without LeaveGroup"
	case fate == "" && d.Basis == inspect.Stated && l.Returned == inspect.ReturnedSameProcess:
		return "the same process came back: it had paused"
	}
	return returnWords[l.Returned]
}

// ranOn says what to do about a member whose process lives: to look for a crash would be
// in vain.
const ranOn = "nothing to set: its process ran on; look at what kept it from its work (a thread dump, CPU throttling), and at the network"

// endCures say what to do about a process that the platform ended, or saw end.
var endCures = map[inspect.ProcessEnd]string{
	inspect.EndOOMKilled: "nothing to set for the session: give the container more memory, or let the process take less (heap, fetch.max.bytes, max.poll.records)",
	inspect.EndEvicted:   "nothing to set for the session: see why the node gave it up (kubectl describe node), and raise the pod's memory request or its priority",
	inspect.EndProbe:     "nothing to set for the session: see why the probe got no answer, or give it more time (timeoutSeconds, failureThreshold)",
	inspect.EndStopped:   "nothing to set for the session: close the consumer on SIGTERM, within the time that the platform gives it (terminationGracePeriodSeconds)",
	inspect.EndCompleted: "nothing to set for the session: close the consumer before the process ends",
}

// endCure is what to do about processes that ended; "" where the platform told of none.
func (d *Diagnosis) endCure() string {
	if d.Cause != inspect.SessionExpired || d.fate() != inspect.FateEnded {
		return ""
	}
	p := d.Occurrences[len(d.Occurrences)-1].Departure.Process
	if words := endCures[p.End]; words != "" {
		return words
	}
	logs := "kubectl logs --previous"
	if p.Platform == "docker" {
		logs = "docker logs"
	}
	return "nothing to set: find out why it ended (" + logs + ")"
}

// excludes reports a rule whose cure the fate of the processes excludes: a longer session
// keeps none that ended, save where one record ends them all.
func (d *Diagnosis) excludes(rule string) bool { return rule != stuckRule && d.endCure() != "" }

// given reports whether files of a kind were read, so that they are not asked for again.
func (d *Diagnosis) given(kind inspect.FileKind) bool { return slices.Contains(d.files, kind) }
