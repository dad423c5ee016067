package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD708", Name: "paused-without-poll", Severity: Warning, Since: "v0.3.0", Scope: PerClient,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "A program pauses its partitions, works and resumes without a poll between.",
		Why:     "pause() stops records, not the poll interval: the consumer has to be polled while it is paused. Without a poll the work counts against max.poll.interval.ms as if nothing had been paused.",
		Fix:     "Do the work in another thread and poll on meanwhile, until it is done.",
		Price:   "none",
		Refs:    []string{"KafkaConsumer.pause", "KIP-62"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if a, found := s.firstAct(inspect.ActPausedWork); found {
			report(s.acted(Warning, fmt.Sprintf("%s (line %d) is followed by work and by resume (%s) without a poll between: the work counts against max.poll.interval.ms all the same", a.Call, a.Where.Line, line(*a.Other, a.Where.File)), a))
			return
		}
		if a, found := s.firstAct(inspect.ActPausedStream); found {
			poll, ok := s.Sane(keyPoll)
			if !ok {
				return
			}
			sev, long := Warning, "until resume()"
			if length(a) > 0 {
				long = "for " + span(length(a))
			}
			if length(a) > poll.D {
				sev = Error
			}
			f := s.acted(sev, fmt.Sprintf("%s() pauses the stream of Vert.x, so that nothing polls %s; %s, past which the member leaves the group", a.Call, long, poll.Say()), a)
			f.Fix.Summary = "Pause the partitions (pause with a TopicPartition or a set), which keeps polling, or raise max.poll.interval.ms above the pause."
			report(f)
		}
	},
})
