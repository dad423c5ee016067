package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

// instanceID is what JoinGroupRequest.validateGroupInstanceId allows: the rules of
// a topic's name.
var instanceID = pattern.New(`^[a-zA-Z0-9._-]{1,249}$`)

var _ = register(Rule{
	ID: "KGD413", Name: "instance-id-invalid", Severity: Error, Since: "v0.1.0", Scope: PerClient,
	Needs:     []inspect.Fact{inspect.FactClientConfig},
	SymptomOf: []string{"KGD412"},
	Doc: Doc{
		Summary: "The group.instance.id is not one that Kafka accepts.",
		Why: "The id follows the rules of topic names: 1 to 249 letters, digits, dots, underscores and hyphens, and neither a single dot nor two. The Java client " +
			"refuses to start with another, and the broker refuses it too.",
		Fix:   "Choose an id of letters, digits, dots, underscores and hyphens.",
		Price: "none",
		Refs:  []string{"JoinGroupRequest.validateGroupInstanceId"},
	},
	Check: func(s *Subject, report func(Finding)) {
		v, ok := s.Set(keyInstance)
		if !ok || placeholder(v.Text) || instanceID.MatchString(v.Text) && v.Text != "." && v.Text != ".." {
			return
		}
		f := s.Finding(Error, fmt.Sprintf("%s=%q is no valid id", v.Spelled, v.Text), v)
		f.Fix = &Fix{Delete: []string{keyInstance}, Summary: "Choose another id, or leave it out."}
		report(f)
	},
})
