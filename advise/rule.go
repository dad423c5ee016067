package advise

import (
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// Severity says how much a finding matters.
type Severity string

// The severities, mildest first.
const (
	Info    Severity = "info"    // expected behaviour, or worth knowing
	Warning Severity = "warning" // a risk, or a likely cause
	Error   Severity = "error"   // it breaks, or will
)

// Rank orders severities: 1 info, 2 warning, 3 error, 0 for anything else.
func (s Severity) Rank() int {
	switch s {
	case Info:
		return 1
	case Warning:
		return 2
	case Error:
		return 3
	}
	return 0
}

// Scope says what one call of a rule judges.
type Scope string

// The scopes.
const (
	PerClient  Scope = "client"  // one consumer: of a file, or the members of a group that run with the same settings
	PerFile    Scope = "file"    // the text of one configuration; says nothing of consumers without one
	PerGroup   Scope = "group"   // one group with all that is known of its members
	PerCluster Scope = "cluster" // the brokers and the offsets topic
	PerLog     Scope = "log"     // what the logs say of one group, whether or not it was looked at otherwise
)

// Rule is one check. Its ID is permanent: a rule that goes is entered in the
// retired list with the reason.
type Rule struct {
	ID       string   // KGD and three digits
	Name     string   // kebab case
	Severity Severity // the worst that it reports
	Since    string   // the first version of kgdiag that has it
	Scope    Scope
	// Families are the client libraries that the rule is about; empty for all. It is
	// not called for a consumer that is known to run on another.
	Families []inspect.Family
	// Needs are the facts without which the rule cannot tell; it is not called for
	// a subject that lacks one.
	Needs []inspect.Fact
	// Uses are facts that sharpen the result where they are there.
	Uses []inspect.Fact
	// Unknown says, for a subject that has all needed facts, why the rule still
	// cannot tell; "" where it can. Optional.
	Unknown func(s *Subject) string
	// Member marks a rule that holds of a member of a group alone: it is not checked for a
	// program that assigns partitions by hand and never subscribes.
	Member bool
	// SymptomOf names the rules whose finding about the same consumer or group
	// explains a finding of this one.
	SymptomOf []string
	// Explains are the causes of a rebalance that a finding of this rule explains or
	// cures, each with the rule's rank among the cause's rules: 1 is shown first, equal
	// ranks by id. A rule that explains inspect.UnknownCause says that a group rebalances
	// too often, whatever the causes.
	Explains map[inspect.Cause]int
	Doc      Doc
	Check    func(s *Subject, report func(Finding))
}

// Doc is what explain and the generated documentation say about a rule.
type Doc struct {
	Summary string   // one sentence
	Why     string   // the mechanism in Kafka's terms
	Fix     string   // starts with a verb, ends in a full stop
	Price   string   // what the fix costs
	Refs    []string // KIPs, classes, documentation
}

// Finding is one result of a rule.
type Finding struct {
	ID         string             `json:"id"`
	Name       string             `json:"name"`
	Severity   Severity           `json:"severity"`
	Confidence inspect.Confidence `json:"confidence"`
	Group      string             `json:"group"`
	Subject    string             `json:"subject"`
	Where      *inspect.Position  `json:"where"` // null where no file is meant
	Message    string             `json:"message"`
	Evidence   []string           `json:"evidence"`
	Fix        *Fix               `json:"fix"` // null where there is nothing to change
	Docs       string             `json:"docs"`
	// BecauseOf is the id of the finding that this one is a symptom of: it goes
	// away with that one's fix.
	BecauseOf string `json:"because_of,omitempty"`

	target  target
	subject *Subject
	rank    int // of its severity, or of the most severe finding that it explains
	// measured marks a value that a measurement asks for: it outranks the client's default.
	// silence is how long a member was measured to be silent, and reach the longest silence
	// that the settings of a finding explain; zero where they say nothing of one.
	measured       bool
	silence, reach time.Duration
	mostly         inspect.Cause // what most of the rebalances came from that it only counts; "" for other findings
}

// Trips reports whether a finding is at least so severe, and not of low confidence;
// no finding is at least "".
func (f *Finding) Trips(at Severity) bool {
	return at != "" && f.Severity.Rank() >= at.Rank() && f.Confidence != inspect.Low
}

// Fix says what to change. Keys of Set, Delete and Alternatives are Java names;
// Edits says the same in the spelling and place of the reader's own file.
type Fix struct {
	Summary      string              `json:"summary"`
	Set          map[string]string   `json:"set"`
	Delete       []string            `json:"delete"`
	Alternatives []map[string]string `json:"alternatives"`
	Price        string              `json:"price"`
	// WouldHaveAvoided counts the rebalances of the window that the fix would have
	// prevented; null unknown.
	WouldHaveAvoided *int `json:"would_have_avoided"`
	// If is the condition under which the settings help, and Else what to do where it does
	// not hold; "" where they help in any case.
	If   string `json:"if,omitempty"`
	Else string `json:"else,omitempty"`
	// Notes say per key how its value was worked out.
	Notes map[string]string `json:"notes,omitempty"`
	Edits []Edit            `json:"edits,omitempty"`
}

// The conditions under which a setting is the cure where one member alone was lost.
const (
	ifItsFast  = "if its host and what it calls are fast"
	ifItsSound = "if its host and network are sound"
)

// HostFirst reports a fix whose condition sends the reader to the member's host.
func (x *Fix) HostFirst() bool { return x.If == ifItsFast || x.If == ifItsSound }

// Condition is when the settings help, and what to do else, in one sentence; "" where they
// help in any case.
func (x *Fix) Condition() string {
	if x.If == "" || x.Else == "" {
		return x.If
	}
	return x.If + "; " + x.Else
}

// Edit is one line to write or to delete.
type Edit struct {
	Key     string            `json:"key"`
	Spelled string            `json:"spelled"`
	Value   string            `json:"value"` // "" with Delete
	Delete  bool              `json:"delete,omitempty"`
	Where   *inspect.Position `json:"where"` // null: not in the file yet
	// Alternative numbers the alternative that the edit belongs to, from 1; 0 is
	// the fix itself.
	Alternative int `json:"alternative,omitempty"`
}

// String is the edit as a reader types it: "set session.timeout.ms=45000", "delete linger.ms".
func (e Edit) String() string {
	if e.Delete {
		return "delete " + e.Spelled
	}
	return "set " + e.Spelled + "=" + e.Value
}

// target is where a finding came from, so that its fix can be tried out.
type target struct {
	config  int // index into Case.Configs, -1 none
	group   string
	clients map[string]bool // member ids; nil all
	cluster bool
	log     bool
}

func (t target) key() string {
	switch {
	case t.cluster:
		return "cluster"
	case t.log:
		return "log " + t.group
	case t.config >= 0:
		return fmt.Sprintf("file %d", t.config)
	}
	return "group " + t.group
}
