package platform

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

// pod is what is read of a v1 Pod: its names, its addresses and the states of its
// containers. Environment, arguments and annotations are never looked at.
type pod struct {
	Metadata struct {
		Name, Namespace   string
		CreationTimestamp time.Time
		DeletionTimestamp *time.Time
	}
	Spec struct {
		NodeName, Hostname string
		HostNetwork        bool
	}
	Status struct {
		Phase, Reason, Message string
		PodIP                  string
		PodIPs                 []struct{ IP string }
		StartTime              *time.Time
		Conditions             []struct {
			Type, Status, Reason, Message string
			LastTransitionTime            *time.Time
		}
		ContainerStatuses []containerStatus
	}
}

type containerStatus struct {
	Name             string
	RestartCount     int32
	State, LastState struct {
		Running    *struct{ StartedAt *time.Time }
		Terminated *terminated
	}
}

type terminated struct {
	ExitCode              int32
	Reason, Message       string
	StartedAt, FinishedAt *time.Time
}

func (b *Book) pod(name string, data []byte) error {
	var p pod
	if err := json.Unmarshal(data, &p); err != nil {
		return jsonError(data, err)
	}
	base := inspect.ProcessLife{From: inspect.Position{File: name}, Platform: "kubernetes", Namespace: p.Metadata.Namespace, Name: p.Metadata.Name,
		Hostname: p.Spec.Hostname, HostNet: p.Spec.HostNetwork, Node: p.Spec.NodeName}
	if base.Hostname == "" {
		base.Hostname = p.Metadata.Name
	}
	for _, ip := range p.Status.PodIPs {
		base.Addresses = append(base.Addresses, ip.IP)
	}
	if ip := p.Status.PodIP; ip != "" && !slices.Contains(base.Addresses, ip) {
		base.Addresses = append(base.Addresses, ip)
	}
	b.see(p.Metadata.CreationTimestamp, moment(p.Status.StartTime))
	for _, c := range p.Status.Conditions {
		b.see(moment(c.LastTransitionTime))
	}
	for _, c := range p.Status.ContainerStatuses {
		b.container(&p, base, c)
	}
	return nil
}

// container adds the lives that a container's status tells: the present one, and the
// one before it. Older ones are counted by restartCount alone.
func (b *Book) container(p *pod, base inspect.ProcessLife, c containerStatus) {
	base.Container = c.Name
	for _, t := range []*terminated{c.LastState.Terminated, c.State.Terminated} {
		if t == nil || t.FinishedAt == nil || t.FinishedAt.Year() < 2000 {
			continue
		}
		life := base
		life.Started, life.Ended = inspect.At(moment(t.StartedAt)), inspect.At(t.FinishedAt.UTC())
		life.ExitCode, life.Reason, life.Message = &t.ExitCode, t.Reason, firstLine(t.Message)
		life.End = endOf(t.ExitCode)
		switch {
		case t.Reason == "OOMKilled":
			life.End = inspect.EndOOMKilled
		case t == c.State.Terminated && p.evicted(&life):
			life.End = inspect.EndEvicted
		case t == c.State.Terminated && p.Metadata.DeletionTimestamp != nil:
			life.End = inspect.EndStopped
		}
		b.see(life.Started.Time, life.Ended.Time)
		b.lives = append(b.lives, life)
	}
	if r := c.State.Running; r != nil && r.StartedAt != nil {
		life := base
		life.Started = inspect.At(r.StartedAt.UTC())
		b.see(life.Started.Time)
		b.lives = append(b.lives, life)
	}
}

// evicted reports whether the pod's own status says that it was evicted or preempted,
// and takes its words.
func (p *pod) evicted(life *inspect.ProcessLife) bool {
	if p.Status.Reason == "Evicted" || p.Status.Reason == "Preempting" || p.Status.Reason == "NodeLost" || p.Status.Reason == "Shutdown" || p.Status.Reason == "Terminated" {
		life.Reason, life.Message = p.Status.Reason, firstLine(p.Status.Message)
		return true
	}
	for _, c := range p.Status.Conditions {
		if c.Type == "DisruptionTarget" && c.Status == "True" { // KEP-3329
			life.Reason, life.Message = c.Reason, firstLine(c.Message)
			return true
		}
	}
	return false
}

// podEvent is an Event about a pod that says how a life of it ended.
type podEvent struct {
	from            inspect.Position
	namespace, pod  string
	container       string
	at              time.Time
	reason, message string
	end             inspect.ProcessEnd
	overrules       bool
}

// event reads a v1 or events.k8s.io/v1 Event.
func (b *Book) event(name string, data []byte) error {
	var e struct {
		Metadata struct {
			Namespace         string
			CreationTimestamp time.Time
		}
		InvolvedObject, Regarding struct{ Kind, Namespace, Name, FieldPath string }
		Reason, Message, Note     string
		LastTimestamp             *time.Time
		DeprecatedLastTimestamp   *time.Time
		EventTime                 *time.Time
		Series                    *struct{ LastObservedTime *time.Time }
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return jsonError(data, err)
	}
	about := e.InvolvedObject
	if about.Name == "" {
		about = e.Regarding
	}
	at := e.Metadata.CreationTimestamp
	for _, t := range []*time.Time{e.EventTime, e.DeprecatedLastTimestamp, e.LastTimestamp} {
		if t != nil && t.Year() >= 2000 {
			at = *t
		}
	}
	if e.Series != nil && e.Series.LastObservedTime != nil {
		at = *e.Series.LastObservedTime
	}
	b.see(at)
	message := firstLine(e.Message)
	if message == "" {
		message = firstLine(e.Note)
	}
	ev := podEvent{from: inspect.Position{File: name}, namespace: about.Namespace, pod: about.Name, at: at.UTC(), reason: e.Reason, message: message}
	if m := containerPath.FindStringSubmatch(about.FieldPath); m != nil {
		ev.container = m[1]
	}
	if about.Kind == "Pod" && ev.classify() {
		b.events = append(b.events, ev)
	}
	return nil
}

var containerPath = pattern.New(`^spec\.containers\{(.+)\}$`)

// classify says what the event tells of an end; false if nothing.
func (e *podEvent) classify() bool {
	switch {
	case e.reason == "Killing" && strings.Contains(e.message, "probe"): // "Container app failed liveness probe, will be restarted"
		e.end, e.overrules = inspect.EndProbe, true
	case e.reason == "Killing": // "Stopping container app"
		e.end = inspect.EndStopped
	case e.reason == "OOMKilling":
		e.end, e.overrules = inspect.EndOOMKilled, true
	case e.reason == "Evicted", e.reason == "Preempted", e.reason == "Preempting", e.reason == "TaintManagerEviction":
		e.end, e.overrules = inspect.EndEvicted, true
	default:
		return false
	}
	return true
}

// graceAtMost is the longest that a container is given between the event of its killing
// and its end; longer grace periods are rare, and then the event tells nothing.
const graceAtMost = 10 * time.Minute

// tell writes the event into the life that it ended, or adds a life of a pod that the
// list no longer has: its end is known, its start and its address are not.
func (e *podEvent) tell(lives []inspect.ProcessLife) []inspect.ProcessLife {
	known := false
	for i := range lives {
		l := &lives[i]
		if l.Platform != "kubernetes" || l.Name != e.pod || l.Namespace != e.namespace || e.container != "" && l.Container != e.container {
			continue
		}
		known = true
		began := l.Started.IsZero() || !l.Started.After(e.at.Add(eventGrain))
		if l.Ended.IsZero() || !began || l.Ended.Before(e.at.Add(-eventGrain)) || l.Ended.After(e.at.Add(graceAtMost)) {
			continue
		}
		if e.overrules || l.End != inspect.EndOOMKilled && l.End != inspect.EndProbe && l.End != inspect.EndEvicted {
			l.End, l.Reason, l.Message = e.end, e.reason, e.message
		}
		return lives
	}
	if known {
		return lives // its end is not in the list, which may be older
	}
	return append(lives, inspect.ProcessLife{From: e.from, Platform: "kubernetes", Namespace: e.namespace, Name: e.pod, Container: e.container, Hostname: e.pod,
		Ended: inspect.At(e.at), End: e.end, Reason: e.reason, Message: e.message})
}

// eventGrain is how far the times of events and of container states may differ: both
// are whole seconds of different clocks.
const eventGrain = 2 * time.Second

func moment(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

// firstLine keeps of a platform's message its first line, at most 200 bytes.
func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if len(s) > 200 {
		s = strings.ToValidUTF8(s[:200], "")
	}
	return s
}
