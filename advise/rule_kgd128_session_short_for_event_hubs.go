package advise

import (
	"fmt"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

const (
	// eventHubs ends the address of every namespace of Azure Event Hubs.
	eventHubs = ".servicebus.windows.net"
	// eventHubsSession is the session timeout that Microsoft recommends at least.
	eventHubsSession = 30 * time.Second
)

var _ = register(Rule{
	ID: "KGD128", Name: "session-short-for-event-hubs", Severity: Warning, Since: "v0.2.0", Scope: PerClient, Member: true,
	Needs:     []inspect.Fact{inspect.FactClientConfig},
	SymptomOf: []string{"KGD108", "KGD116", "KGD126"},
	Doc: Doc{
		Summary: "The session timeout is shorter than Azure Event Hubs asks for.",
		Why: "Event Hubs moves its coordinators and delays heartbeats for longer than a Kafka broker does: Microsoft recommends a session of at least 30 s, and says that shorter ones make " +
			"a group rebalance again and again. It allows 6 s to 5 min.",
		Fix:   "Set session.timeout.ms to 30000 or more.",
		Price: "a dead member is noticed later",
		Refs:  []string{"Azure Event Hubs for Apache Kafka, recommended configurations"},
	},
	Check: func(s *Subject, report func(Finding)) {
		boot, ok := s.Get(keyBootstrap)
		session, okSession := s.Sane(keySession)
		if !ok || !okSession || !strings.Contains(boot.Text, eventHubs) || s.ServerSide() || session.D >= eventHubsSession {
			return
		}
		f := s.Finding(Warning, fmt.Sprintf("%s, and %s is Azure Event Hubs, which asks for %s or more", session.Say(), firstHost(boot.Text), span(eventHubsSession)), session)
		f.Fix = &Fix{Set: map[string]string{keySession: ms(eventHubsSession)}, Notes: notesFor(keySession, "the least that Microsoft recommends"),
			Price: fmt.Sprintf("a dead member is noticed after %s instead of %s", span(eventHubsSession), span(session.D))}
		report(f)
	},
})
