package inspect

// ProcessLife is one life of one container as the platform that ran it reports it:
// from a start to an end, or to the newest moment that the file shows.
type ProcessLife struct {
	From      Position `json:"from"`
	Platform  string   `json:"platform"` // "kubernetes" | "docker"
	Namespace string   `json:"namespace,omitempty"`
	Name      string   `json:"pod"`                 // of the pod, or of the Docker container
	Container string   `json:"container,omitempty"` // within the pod
	Hostname  string   `json:"hostname,omitempty"`  // as the process sees it
	Addresses []string `json:"addresses,omitempty"` // IPs; shared with others where HostNetwork
	HostNet   bool     `json:"host_network,omitempty"`
	Node      string   `json:"node,omitempty"`

	Started Time `json:"started"` // zero unknown
	Ended   Time `json:"ended"`   // zero: it was running at Seen, or its end is not in the file
	Seen    Time `json:"seen"`    // the newest moment that the files of this platform show: until then they can speak

	End      ProcessEnd `json:"end,omitempty"`
	ExitCode *int32     `json:"exit_code"`         // null unknown; 128 + n: ended by signal n
	Reason   string     `json:"reason,omitempty"`  // the platform's word, e.g. OOMKilled
	Message  string     `json:"message,omitempty"` // the platform's sentence
}

// ProcessEnd is how a life ended.
type ProcessEnd string

// The ends. What a platform does to a container comes as SIGTERM first, so that the
// process may still close its consumer, save for an OOM kill and a lost node.
const (
	EndOOMKilled ProcessEnd = "oom_killed" // the kernel killed it for its memory limit
	EndCrashed   ProcessEnd = "crashed"    // it ended by itself with an exit code other than 0, or by a signal other than SIGTERM
	EndCompleted ProcessEnd = "completed"  // it ended by itself with 0
	EndProbe     ProcessEnd = "probe"      // the kubelet restarted it: its liveness or startup probe failed
	EndEvicted   ProcessEnd = "evicted"    // its pod was evicted from the node, or preempted
	EndStopped   ProcessEnd = "stopped"    // its pod or container was stopped or deleted: a rollout, a scale-down, docker stop
	EndUnknown   ProcessEnd = "unknown"    // it ended, and the file does not say how
)

// Abrupt reports an end that left the process no time to close its consumer.
func (e ProcessEnd) Abrupt() bool { return e == EndOOMKilled || e == EndCrashed }

// ProcessFate is what became of a member's process while the member was out.
type ProcessFate string

// The fates; "" where the files do not tell.
const (
	FateEnded   ProcessFate = "ended"    // it ended in the silence, or as the member left
	FateLivedOn ProcessFate = "lived_on" // it was running before, throughout and after
)

// ProcessWord is what the platform's files say of a departed member's process.
type ProcessWord struct {
	Fate     ProcessFate `json:"fate,omitempty"`
	Platform string      `json:"platform,omitempty"` // of the process: "kubernetes" | "docker"
	End      ProcessEnd  `json:"end,omitempty"`      // how it ended, where it did
	States   bool        `json:"states_cause,omitempty"`
	Text     string      `json:"text"` // a sentence; without a fate, why the files do not tell
}
