package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/errcode"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

// saidElsewhere are the errors of groups that have a rule of their own, or are part of
// each rebalance.
var saidElsewhere = map[string]bool{"UNKNOWN_MEMBER_ID": true, "ILLEGAL_GENERATION": true, "REBALANCE_IN_PROGRESS": true, "FENCED_INSTANCE_ID": true, "UNRELEASED_INSTANCE_ID": true,
	"INVALID_SESSION_TIMEOUT": true, "INCONSISTENT_GROUP_PROTOCOL": true, "GROUP_AUTHORIZATION_FAILED": true, "TOPIC_AUTHORIZATION_FAILED": true, "MEMBER_ID_REQUIRED": true,
	"NOT_COORDINATOR": true, "COORDINATOR_NOT_AVAILABLE": true, "COORDINATOR_LOAD_IN_PROGRESS": true, "UNSUPPORTED_VERSION": true, "NOT_ENOUGH_REPLICAS": true, "FENCED_MEMBER_EPOCH": true,
	"INVALID_REPLICATION_FACTOR": true, "REQUEST_TIMED_OUT": true, "OFFSET_OUT_OF_RANGE": true, "offset out of range": true}

var _ = register(Rule{
	ID: "KGD317", Name: "group-error-logged", Severity: Warning, Since: "v0.2.0", Scope: PerLog,
	Needs:     []inspect.Fact{inspect.FactClientLog},
	SymptomOf: []string{"KGD608", "KGD306", "KGD401", "KGD421", "KGD230"},
	Doc: Doc{
		Summary: "A request of the group was refused with an error of Kafka, as a log says.",
		Why:     "Each error code of the group protocol says what the coordinator refused. The finding names the code and what it means.",
		Fix:     "Look the code up: kgdiag explain CODE.",
		Price:   "none",
		Refs:    []string{"org.apache.kafka.common.protocol.Errors"},
	},
	Check: func(s *Subject, report func(Finding)) {
		for _, name := range distinct(s.logs, func(e inspect.LogEvent) string { return e.Error }) {
			c, ok := errcode.Lookup(name)
			if !ok || c.Meaning == "" || saidElsewhere[name] {
				continue
			}
			es := s.Logged(errorIs(name))
			sev := Warning
			if c.Harmless || c.Retriable && len(es) <= fewErrors && !(c.Number == 0 && s.neverJoined(es)) {
				sev = Info
			}
			what := fmt.Sprintf("%s (%d): %s", c.Name, c.Number, c.Meaning)
			if c.Number == 0 {
				what = c.Name + namedPartition(es) + ": " + c.Meaning // a client's own
			}
			if c.Retriable && c.Number != 0 && len(once(es)) > fewErrors && s.neverJoined(es) {
				what += ", but these lines do not show that it passed"
			}
			do := c.Do
			if name == "UNKNOWN_TOPIC_OR_PARTITION" && len(es) >= fewErrors {
				if gone := readBefore(es); gone != "" {
					sev = Warning
					what = fmt.Sprintf("UNKNOWN_TOPIC_OR_PARTITION (3), in %d lines: the brokers no longer know %s, of which the group had records to commit: most likely the topic was deleted, or deleted and made again", len(es), gone)
					do = "See who deleted the topic; make it again, or take it out of the subscription. Where a broker restarts at that moment, it passes."
				}
			}
			f := s.logged(sev, what, es)
			f.Fix = &Fix{Summary: do}
			report(f)
		}
	},
})

// readBefore is the partition of a refused commit: what is committed was read.
func readBefore(es []inspect.LogEvent) string {
	for _, e := range es {
		if m := partitionName.FindStringSubmatch(e.Text); m != nil && e.Kind == inspect.LogCommitFailed {
			return m[1]
		}
	}
	return ""
}

// namedPartition is " (orders-7)", the partition that the first of some lines names; "" for
// none.
func namedPartition(es []inspect.LogEvent) string {
	if m := partitionName.FindStringSubmatch(es[0].Text); m != nil {
		return " (" + m[1] + ")"
	}
	return ""
}

var partitionName = pattern.New(`partition ([\w.\-]+-\d+)\b`)
