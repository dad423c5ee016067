package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

var _ = register(Rule{
	ID: "KGD311", Name: "access-denied", Severity: Error, Since: "v0.1.0", Scope: PerLog,
	Needs: []inspect.Fact{inspect.FactClientLog},
	Doc: Doc{
		Summary: "A client may not use its group or its topics, as its log says.",
		Why: "Reading needs READ on the topics; JoinGroup, Heartbeat and OffsetCommit need READ on the group; without it the client ends with GROUP_AUTHORIZATION_FAILED. Often the ACL names " +
			"another group than the client's group.id.",
		Fix:   "Allow READ on the group and its topics to the client's principal, or give the client the group.id that the ACL names.",
		Price: "none",
		Refs:  []string{"GROUP_AUTHORIZATION_FAILED (30)", "kafka-acls --operation Read --group"},
	},
	Check: func(s *Subject, report func(Finding)) {
		for _, denied := range deniedAccess {
			if es := s.Logged(errorIs(denied.code)); len(es) > 0 {
				f := s.logged(Error, "access to the "+denied.what+deniedName(es)+" is denied ("+denied.code+")"+s.otherGroup(es), es)
				f.Fix.Summary = denied.fix
				report(f)
			}
		}
	},
})

// otherGroup says that the group of the lines is not the one that the file names, or
// would name if its line had an effect; "" where it is.
func (s *Subject) otherGroup(es []inspect.LogEvent) string {
	denied := ""
	for _, e := range es {
		if m := deniedGroup.FindStringSubmatch(e.Text); m != nil {
			denied = m[1]
		}
	}
	for _, c := range s.Case.Configs {
		for _, p := range c.Problems {
			if p.Kind == "lost_value" && p.Key == keyGroup {
				return fmt.Sprintf("; it is not the group of the file, whose group.id (%s:%d) has no effect", p.Where.File, p.Where.Line)
			}
		}
	}
	if c := s.consumer(); c != nil && denied != "" && c.Group != "" && c.Group != denied {
		return fmt.Sprintf("; it is %s, not the group of the file, %s", denied, c.Group)
	}
	return ""
}

// deniedAccess is what a client may be refused, and what mends it.
var deniedAccess = []struct{ what, code, fix string }{
	{"group", "GROUP_AUTHORIZATION_FAILED", "Allow READ on the group to the client's principal (DESCRIBE is enough for a tool that only lists or describes groups), or give the client the group.id that the ACL names."},
	{"topics", "TOPIC_AUTHORIZATION_FAILED", "Allow READ and DESCRIBE on these topics to the client's principal."},
}

// deniedName is " x", the names that the lines give; "" where they give none.
func deniedName(es []inspect.LogEvent) string {
	for _, e := range es {
		if m := deniedThing.FindStringSubmatch(e.Text); m != nil {
			return " " + m[1] + m[2]
		}
	}
	return ""
}

var deniedThing = pattern.New(`Not authorized to access (?:group|topics): \[?([\w.\-, ]+)|\{([\w.\-]+)=TOPIC_AUTHORIZATION_FAILED`)

var deniedGroup = pattern.New(`Not authorized to access group: ([\w.\-]+)`)
