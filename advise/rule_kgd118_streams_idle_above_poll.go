package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD118", Name: "streams-idle-above-poll", Severity: Error, Since: "v0.1.0", Scope: PerClient,
	Families:  []inspect.Family{inspect.StreamsLib},
	Needs:     []inspect.Fact{inspect.FactClientConfig},
	SymptomOf: []string{"KGD108"},
	Doc: Doc{
		Summary: "max.task.idle.ms is not below max.poll.interval.ms.",
		Why: "A Streams task may wait for records of its other inputs for max.task.idle.ms, and this wait counts as time between two polls. " +
			"After the poll interval the thread leaves the group while it waits, rejoins, and leaves again.",
		Fix:   "Raise max.poll.interval.ms above max.task.idle.ms plus the processing, or wait less.",
		Price: "a thread that hangs is noticed later",
		Refs:  []string{"KAFKA-12360", "StreamsConfig.MAX_TASK_IDLE_MS_DOC"},
	},
	Check: func(s *Subject, report func(Finding)) {
		idle, ok := s.Timed(keyTaskIdle)
		poll, okPoll := s.Sane(keyPoll)
		if !ok || !okPoll || s.Family != inspect.StreamsLib || idle.D < poll.D || idle.D <= 0 {
			return
		}
		f := s.Finding(Error, fmt.Sprintf("%s is %s, not below %s (%s): the thread leaves the group while it waits", idle.Spelled, span(idle.D), poll.Spelled, span(poll.D)), idle, poll)
		f.Fix = &Fix{}
		if to := inspect.PollIntervalFor(idle.D, s.DefaultOf(keyPoll), poll.D); to <= mostAdvised && to > idle.D {
			f.Fix.Set = map[string]string{keyPoll: ms(to)}
			f.Fix.Notes = notesFor(keyPoll, marginNote(idle.D, to))
		}
		f.Fix.Alternatives = []map[string]string{{keyTaskIdle: "0"}}
		report(f)
	},
})
