package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD115", Name: "fetch-wait-blocks-heartbeat", Severity: Error, Since: "v0.1.0", Scope: PerClient, Member: true,
	Families: []inspect.Family{inspect.Librdkafka},
	Needs:    []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "Heartbeats wait behind a fetch that may take longer than the session.",
		Why: "librdkafka before 1.0 sends heartbeats over the connection that carries fetches, and a broker answers one request after the other. " +
			"On an idle topic a fetch waits for fetch.wait.max.ms, and the heartbeat behind it comes too late.",
		Fix:   "Set fetch.wait.max.ms to its default (100 before librdkafka 1.5), and upgrade to librdkafka 1.0 or later.",
		Price: "more fetch requests for idle topics",
		Refs:  []string{"librdkafka#1671"},
	},
	Check: func(s *Subject, report func(Finding)) {
		wait, ok := s.Timed(keyFetchWait)
		session, okSession := s.Sane(keySession)
		if !ok || !okSession || s.Family != inspect.Librdkafka || !s.before("1.0") || 3*wait.D <= session.D {
			return
		}
		f := s.Finding(Error, fmt.Sprintf("%s is %s, over a third of %s (%s), and librdkafka %s sends heartbeats behind fetches",
			wait.Spelled, span(wait.D), session.Spelled, span(session.D), s.Version), wait, session)
		f.Fix = &Fix{Set: map[string]string{keyFetchWait: ms(s.DefaultOf(keyFetchWait))}, Notes: notesFor(keyFetchWait, "the default of this version")}
		report(f)
	},
})
