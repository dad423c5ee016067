package advise

import (
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/settings"
)

var _ = register(Rule{
	ID: "KGD111", Name: "request-timeout-below-wait", Severity: Error, Since: "v0.1.0", Scope: PerClient, Member: true,
	Families:  []inspect.Family{inspect.Java, inspect.KafkaPython, inspect.Sarama},
	Needs:     []inspect.Fact{inspect.FactClientConfig},
	SymptomOf: []string{"KGD108"},
	Doc: Doc{
		Summary: "The client gives up on JoinGroup before the coordinator may answer.",
		Why: "The coordinator answers JoinGroup when all members have rejoined, which may take up to the rebalance timeout. A client that stops " +
			"waiting earlier joins again as a new member, and the rebalance starts over. Java before 2.0 and kafka-python 1.3.3 to 2.x " +
			"therefore refuse a request timeout that is not above the session timeout.",
		Fix:   "Raise the request or read timeout above the wait.",
		Price: "a broker that does not answer is noticed later",
		Refs:  []string{"KafkaConsumer 1.1 (constructor)", "kafka-python consumer/group.py", "sarama config.go Net.ReadTimeout", "KIP-266"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if s.Family == inspect.Sarama {
			readAboveRebalance(s, report)
			return
		}
		for _, c := range settings.Constraints(s.Family, s.Version) {
			if c.Left == keyRequest && c.Right == keySession && s.Version != "" {
				requestAboveSession(s, report)
			}
		}
	},
})

// before reports whether the client's version is known and below limit.
func (s *Subject) before(limit string) bool { return s.Version != "" && !atLeast(s.Version, limit) }

func requestAboveSession(s *Subject, report func(Finding)) {
	request, ok := s.Sane(keyRequest)
	session, okSession := s.Sane(keySession)
	if !ok || !okSession || request.D > session.D {
		return
	}
	sev, then := s.refusal(request, session)
	f := s.Finding(sev, fmt.Sprintf("%s is %s, not above %s (%s): %s", request.Spelled, span(request.D), session.Spelled, span(session.D), then), request, session)
	to := inspect.RoundUp(session.D + 10*time.Second)
	f.Fix = &Fix{Set: map[string]string{keyRequest: ms(to)}, Notes: notesFor(keyRequest, "above the session timeout, rounded up"),
		Price: fmt.Sprintf("a broker that does not answer is noticed after %s", span(to))}
	report(f)
}

func readAboveRebalance(s *Subject, report func(Finding)) {
	read, ok := s.Sane(keySocket)
	rebalance, okRebalance := s.Sane(keyRebalance)
	if !ok || !okRebalance || read.D >= rebalance.D {
		return
	}
	sev := Warning
	if read.D >= s.DefaultOf(keySocket) && rebalance.D <= s.DefaultOf(keyRebalance) {
		sev = Info // sarama's own defaults are like this
	}
	f := s.Finding(sev, fmt.Sprintf("%s is %s, below %s (%s): the client gives up on a slow rebalance and starts it over", read.Spelled, span(read.D), rebalance.Spelled, span(rebalance.D)), read, rebalance)
	to := inspect.RoundUp(rebalance.D + 5*time.Second)
	f.Fix = &Fix{}
	if to <= mostAdvised {
		f.Fix.Set = map[string]string{keySocket: ms(to)}
		f.Fix.Notes = notesFor(keySocket, "the rebalance timeout and 5s, rounded up")
	}
	report(f)
}
