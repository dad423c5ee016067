package advise

import (
	"fmt"
	"regexp"

	"github.com/kgdiag/kgdiag/inspect"
)

var stuckAt = regexp.MustCompile(`^(.+)-(\d+) offset (\d+)$`)

var _ = register(Rule{
	ID: "KGD210", Name: "stuck-record", Severity: Error, Since: "v0.1.0", Scope: PerGroup,
	Needs: []inspect.Fact{inspect.FactHistory},
	Doc: Doc{
		Summary: "Members are put out again and again at the same offset of the same partition.",
		Why: "The committed offset of a partition did not move while one owner after the other was put out: the record at that offset takes too " +
			"long or kills the process, and each new owner begins with it.",
		Fix:   "Read the record at that offset, and handle it apart (time limit, dead letter topic).",
		Price: "the record is not processed in its place",
		Refs:  []string{"KafkaConsumer javadoc, Detecting Consumer Failures"},
	},
	Check: func(s *Subject, report func(Finding)) {
		evictions := left(s.Timeline, func(d departure) bool { return d.Cause.Eviction() })
		seen := map[string]int{}
		for _, d := range evictions {
			for _, place := range d.Stuck {
				seen[place]++
			}
		}
		for _, place := range sortedKeys(seen) {
			if seen[place] < 2 {
				continue
			}
			f := s.Finding(Error, fmt.Sprintf("%d evictions at %s: the committed offset did not move between them", seen[place], place))
			f.Confidence = leastSure(evictions)
			f.Fix = &Fix{}
			if m := stuckAt.FindStringSubmatch(place); m != nil {
				f.Fix.Summary = fmt.Sprintf("Read that record (kafka-console-consumer --topic %s --partition %s --offset %s --max-messages 1), and handle it apart.", m[1], m[2], m[3])
			}
			report(f)
		}
	},
})
