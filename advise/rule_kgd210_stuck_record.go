package advise

import (
	"fmt"
	"slices"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

// StuckRecord is a place in a partition at which members go again and again.
type StuckRecord struct {
	Place string // "topic-partition offset N"
	Times int    // departures there
	Last  inspect.Time
}

// StuckRecords are the places at which at least two departures happened, the
// newest first. How surely the cause of each departure is known does not matter:
// that a process crashed and that it was put out look alike, but the place is read.
func StuckRecords(rebalances []inspect.Rebalance) []StuckRecord {
	seen := map[string]StuckRecord{}
	for _, r := range rebalances {
		for _, l := range r.Members.Left {
			for _, place := range l.Stuck {
				seen[place] = StuckRecord{place, seen[place].Times + 1, r.Time}
			}
		}
	}
	out := []StuckRecord{}
	for _, place := range sortedKeys(seen) {
		if seen[place].Times >= 2 {
			out = append(out, seen[place])
		}
	}
	slices.SortStableFunc(out, func(a, b StuckRecord) int { return b.Last.Compare(a.Last.Time) })
	return out
}

// Command reads the record with Kafka's own tool, through the brokers given; "" where
// the place cannot be told. It ends by itself where the record is there no longer.
func (r StuckRecord) Command(bootstrap string) string {
	m := stuckAt.FindStringSubmatch(r.Place)
	if m == nil {
		return ""
	}
	if bootstrap == "" {
		bootstrap = "HOST:PORT"
	}
	return fmt.Sprintf("kafka-console-consumer --bootstrap-server %s --topic %s --partition %s --offset %s --max-messages 1 --timeout-ms 10000", bootstrap, m[1], m[2], m[3])
}

var stuckAt = pattern.New(`^(.+)-(\d+) offset (\d+)$`)

var _ = register(Rule{
	ID: "KGD210", Name: "stuck-record", Severity: Error, Since: "v0.1.0", Scope: PerGroup,
	Needs: []inspect.Fact{inspect.FactHistory},
	Explains: map[inspect.Cause]int{
		inspect.PollIntervalExceeded: 1, inspect.RejoinTimedOut: 1, inspect.SyncPhaseExpired: 1,
		inspect.SessionExpired: 1, inspect.RestartedWithinSession: 1, inspect.MemberLeft: 1, inspect.UnknownCause: 1,
	},
	Doc: Doc{
		Summary: "Members leave the group again and again at the same offset of the same partition.",
		Why: "The committed offset of a partition did not move while one owner after the other left: the record at that offset takes too " +
			"long or kills the process, and each new owner starts with it.",
		Fix:   "Read the record at that offset, and handle it separately (time limit, dead letter topic).",
		Price: "the record is not processed in order",
		Refs:  []string{"KafkaConsumer javadoc, Detecting Consumer Failures"},
	},
	Check: func(s *Subject, report func(Finding)) {
		for _, place := range StuckRecords(s.Timeline.Rebalances) {
			f := s.Finding(Error, fmt.Sprintf("members left %d times at %s: the committed offset did not move in between", place.Times, place.Place))
			f.Confidence = inspect.Medium // that the record is the cause is a conclusion; that it is the same one is not
			f.Fix = &Fix{}
			if read := place.Command(s.Case.Cluster.Bootstrap); read != "" {
				f.Fix.Summary = "Read that record (" + read + "), and handle it separately."
			}
			report(f)
		}
	},
})
