package advise

import (
	"fmt"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

// deploymentPod matches the pod name of a Kubernetes Deployment: the hash of the
// ReplicaSet and five random letters, both without vowels and look-alikes.
var deploymentPod = pattern.New(`-[bcdfghjklmnpqrstvwxz2456789]{8,10}-[bcdfghjklmnpqrstvwxz2456789]{5}$`)

// podOfDeployment is what the reader of a manifest puts for a pod's name that changes.
const podOfDeployment = "{pod name of a Deployment}"

var _ = register(Rule{
	ID: "KGD411", Name: "instance-id-unstable", Severity: Warning, Since: "v0.1.0", Scope: PerClient,
	Needs: []inspect.Fact{inspect.FactTimeouts},
	Uses:  []inspect.Fact{inspect.FactClientConfig, inspect.FactMembers},
	Doc: Doc{
		Summary: "The group.instance.id is the name of a Deployment's pod, which changes with each restart.",
		Why: "Static membership gives a member its place back when it returns under the same id. A Deployment gives every pod a new random name, so " +
			"each restart brings a new member, and the old one keeps its partitions until its session has expired: worse than without an id.",
		Fix:   "Run the consumers as a StatefulSet and use its pod names, or leave group.instance.id out.",
		Price: "a StatefulSet restarts its pods one after another",
		Refs:  []string{"KIP-345"},
	},
	Check: func(s *Subject, report func(Finding)) {
		ids := map[string]bool{}
		var leans []Value
		if v, ok := s.Set(keyInstance); ok {
			ids[v.Text] = true
			leans = append(leans, v)
		}
		for _, m := range s.Members {
			if m.InstanceID != nil {
				ids[*m.InstanceID] = true
			}
		}
		for _, id := range sortedKeys(ids) {
			given := strings.Contains(id, podOfDeployment)
			if !given && !deploymentPod.MatchString(id) {
				continue
			}
			f := s.Finding(Warning, fmt.Sprintf("group.instance.id %q looks like the pod of a Deployment: it changes with each restart", id), leans...)
			f.Confidence = inspect.Medium
			if given {
				f.Message = fmt.Sprintf("%s is the name of a Deployment's pod: it changes with each restart, so the member never comes back and its partitions wait for its session", s.spell(keyInstance))
				f.Confidence = inspect.High
			}
			f.Fix = &Fix{}
			if s.Config != nil {
				f.Fix.Delete = []string{keyInstance}
			}
			report(f)
			return
		}
	},
})
