package advise

import (
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/errcode"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

// saidElsewhere are the errors of groups that have a rule of their own, or are part of
// each rebalance.
var saidElsewhere = map[string]bool{"UNKNOWN_MEMBER_ID": true, "ILLEGAL_GENERATION": true, "REBALANCE_IN_PROGRESS": true, "FENCED_INSTANCE_ID": true, "UNRELEASED_INSTANCE_ID": true,
	"INVALID_SESSION_TIMEOUT": true, "INCONSISTENT_GROUP_PROTOCOL": true, "GROUP_AUTHORIZATION_FAILED": true, "TOPIC_AUTHORIZATION_FAILED": true, "MEMBER_ID_REQUIRED": true,
	"NOT_COORDINATOR": true, "COORDINATOR_NOT_AVAILABLE": true, "COORDINATOR_LOAD_IN_PROGRESS": true, "UNSUPPORTED_VERSION": true, "NOT_ENOUGH_REPLICAS": true, "FENCED_MEMBER_EPOCH": true,
	"INVALID_REPLICATION_FACTOR": true, "REQUEST_TIMED_OUT": true}

var _ = register(Rule{
	ID: "KGD317", Name: "group-error-logged", Severity: Warning, Since: "v0.2.0", Scope: PerLog,
	Needs:     []inspect.Fact{inspect.FactClientLog},
	SymptomOf: []string{"KGD608", "KGD306", "KGD401", "KGD421"},
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
			do := c.Do
			if offset := repeatedOffset(es); offset != "" {
				sev, what = Warning, fmt.Sprintf("%s: the same offset (%s) is out of range again and again: nothing has been committed since the first time, so each start falls back to it", c.Name, offset)
				do = "See why commits do not go through (the lines of OffsetCommit, a callback that fails), or that the program commits at all; set the group's offset by hand once (kafka-consumer-groups --reset-offsets, with the group stopped)."
			}
			f := s.logged(sev, what, es)
			f.Fix = &Fix{Summary: do}
			report(f)
		}
	},
})

// outOfRange is how clients name an offset that is not in its partition.
var outOfRange = pattern.New(`(?i)offset (\d+) (?:is )?out of range for (?:partition |topic-partition )?(\S.*?\))`)

// repeatedOffset is the offset of a partition that two lines, a minute apart or more, find
// out of range; "" for none.
func repeatedOffset(es []inspect.LogEvent) string {
	first := map[string]inspect.LogEvent{}
	for _, e := range es {
		m := outOfRange.FindStringSubmatch(e.Text)
		if m == nil || e.Time.IsZero() {
			continue
		}
		if f, again := first[m[1]+m[2]]; !again {
			first[m[1]+m[2]] = e
		} else if e.Time.Sub(f.Time.Time) >= time.Minute {
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
