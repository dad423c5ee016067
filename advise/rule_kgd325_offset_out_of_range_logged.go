package advise

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

var _ = register(Rule{
	ID: "KGD325", Name: "offset-out-of-range-logged", Severity: Warning, Since: "v0.3.0", Scope: PerLog,
	Needs: []inspect.Fact{inspect.FactClientLog},
	Doc: Doc{
		Summary: "A consumer's position is not in its partition, or there was none, as a log says.",
		Why: "An offset is out of range when retention deleted the records there, or when it lies past the end of the log: the topic was made again, an unclean leader election cut the log, or the offset is another partition's. " +
			"Which of the two it was shows in where the reset went: above the offset, or below it. A group that has committed nothing only starts.",
		Fix:   "Compare the committed offset with the first and the last one of the partition; set auto.offset.reset to what a start without a valid offset shall do.",
		Price: "none",
		Refs:  []string{"auto.offset.reset", "retention.ms", "OFFSET_OUT_OF_RANGE (1)"},
	},
	Check: func(s *Subject, report func(Finding)) {
		es := s.Logged(errorIs("OFFSET_OUT_OF_RANGE", "offset out of range"))
		var none, lost []inspect.LogEvent
		for _, e := range es {
			if nothingCommitted.MatchString(e.Text) {
				none = append(none, e)
			} else {
				lost = append(lost, e)
			}
		}
		if len(none) > 0 {
			f := s.logged(Info, "the group has no committed offset for a partition"+startsAt(none[0])+": with latest, the default, it reads only what is written from now on", none)
			f.Fix = &Fix{Summary: "Nothing, where that is meant; auto.offset.reset=earliest makes a group without offsets begin at the oldest record. Where it had offsets, see whether they expired (offsets.retention.minutes)."}
			report(f)
		}
		if len(lost) > 0 {
			report(s.outOfRange(lost))
		}
	},
})

var (
	nothingCommitted = pattern.New(`no previously committed offset|offset reset \(at (?:offset )?(?:INVALID|-1001)\b`)
	resetTo          = pattern.New(`offset reset \(at [^)]*\)* to (?:cached )?(BEGINNING|END|STORED)`)
	rangeOffset      = pattern.New(`(?:\boffset=|[Ff]etch offset |offset reset \(at offset |for partitions: \{[\w.\-]+-\d+=)(\d+)`)
	rangePartition   = pattern.New(`for partition(?:s: \{)? ?([\w.\-]+-\d+)`)
	resetPosition    = pattern.New(`Resetting offset for partition ([\w.\-]+-\d+) to (?:offset |position FetchPosition\{offset=)(\d+)`)
	noResetPolicy    = pattern.New(`no reset policy is configured|no configured reset policy|[Nn]o reset policy`)
)

func startsAt(e inspect.LogEvent) string {
	if m := resetTo.FindStringSubmatch(e.Text); m != nil {
		return " and starts at auto.offset.reset, " + m[1]
	}
	return " and starts at auto.offset.reset"
}

// outOfRange says of an offset that is not in its partition on which side of the log it
// lies, as far as the lines decide it.
func (s *Subject) outOfRange(es []inspect.LogEvent) Finding {
	if offset := repeatedOffset(es); offset != "" {
		f := s.logged(Warning, fmt.Sprintf("the same offset (%s) is out of range again and again: nothing has been committed since the first time, so each start falls back to it", offset), es)
		f.Fix = &Fix{Summary: "See why commits do not go through (the lines of OffsetCommit, a callback that fails), or that the program commits at all; set the group's offset by hand once (kafka-consumer-groups --reset-offsets, with the group stopped)."}
		return f
	}
	first := es[0]
	name, offset, known := "", int64(0), false
	for _, e := range es {
		if m := rangeOffset.FindStringSubmatch(e.Text); m != nil {
			offset, known, first = number(m[1]), true, e
			break
		}
	}
	if m := rangePartition.FindStringSubmatch(first.Text); m != nil {
		name = m[1]
	}
	what := "the consumer's offset is out of range"
	if known {
		what = fmt.Sprintf("offset %d is out of range", offset)
	}
	what += ", it is not in the partition" + nameInBrackets(name)
	fix := "Compare the committed offset with the first and the last one of the partition (kafka-get-offsets.sh --time earliest and latest)."
	to, reset := s.resetOf(name)
	switch {
	case known && reset && to < offset:
		what += fmt.Sprintf(": the reset went back to %d, so it lies past the end of the log, and retention did not delete it. The topic was deleted and made again, an unclean leader election cut the log, or the offset is another partition's; records are read again", to)
		fix = "See who commits for that partition and from which position (a seek or a commit with another partition's offset), and whether the topic was made anew."
	case known && reset && to > offset:
		what += fmt.Sprintf(": the log began above it, since retention or a deletion took its records; the reset went on to %d, and what lies between was not read", to)
		fix = "Let the consumer keep up within the topic's retention, or raise that (retention.ms); see auto.offset.reset."
	case known && offset == 0:
		what += ": the log begins above it, since retention or a deletion took its first records"
		fix = "Begin at the oldest record that is there (auto.offset.reset=earliest)."
	default:
		what += ": retention deleted its records, or it lies past the end of the log (the topic was made again, the log was cut); the lines do not show which"
	}
	if slices.ContainsFunc(es, func(e inspect.LogEvent) bool { return e.Sign == "no_reset_policy" || noResetPolicy.MatchString(e.Text) }) {
		what += ". There is no reset policy (auto.offset.reset=none), so the error goes to the application: the consumer, or its task, fails"
		fix += " Then start at an offset that is there, or set auto.offset.reset to earliest or latest."
	} else if !reset {
		what += ". The consumer goes on at auto.offset.reset: latest, the default, skips what is there, earliest reads it again"
		fix += " Set auto.offset.reset to earliest where no record may be skipped."
	}
	f := s.logged(Warning, what, es)
	f.Fix = &Fix{Summary: fix}
	return f
}

// resetOf is the position to which a partition was reset; of the only reset of the logs
// where no partition is named.
func (s *Subject) resetOf(name string) (int64, bool) {
	for _, e := range s.Logged(signIs("offset_reset")) {
		if m := resetPosition.FindStringSubmatch(e.Text); m != nil && m[1] == cmp.Or(name, m[1]) {
			return number(m[2]), true
		}
	}
	return 0, false
}

// nameInBrackets is " (orders-7)"; "" for no name.
func nameInBrackets(name string) string {
	if name == "" {
		return ""
	}
	return " (" + name + ")"
}

// notInLog is how some clients name an offset that is not in its partition.
var notInLog = pattern.New(`(?i)offset (\d+) (?:is )?out of range for (?:partition |topic-partition )?(\S.*?\))`)

// repeatedOffset is the offset of a partition that two lines, a minute apart or more, find
// out of range; "" for none.
func repeatedOffset(es []inspect.LogEvent) string {
	first := map[string]inspect.LogEvent{}
	for _, e := range es {
		m := notInLog.FindStringSubmatch(e.Text)
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
