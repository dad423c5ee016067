package advise

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

var _ = register(Rule{
	ID: "KGD122", Name: "join-abandoned-logged", Severity: Warning, Since: "v0.1.0", Scope: PerLog,
	Needs:     []inspect.Fact{inspect.FactClientLog},
	SymptomOf: []string{"KGD111", "KGD112"},
	Doc: Doc{
		Summary: "A client gave up waiting for the answer to JoinGroup, as its log says.",
		Why: "The coordinator answers JoinGroup only when every member has rejoined, up to the longest rebalance timeout in the group. A client whose request, socket or " +
			"read timeout is shorter gives up, comes back, and prolongs the rebalance that it waited for.",
		Fix:   "Raise the request, socket or read timeout (socket_timeout in ruby-kafka, Net.ReadTimeout in sarama, requestTimeout in kafkajs, request_timeout_ms in kafka-python) above the longest rebalance timeout of the group.",
		Price: "a dead connection is noticed later",
		Refs:  []string{"JoinGroupRequest", "sarama Net.ReadTimeout", "kafka-go#510"},
	},
	Check: func(s *Subject, report func(Finding)) {
		es := s.Logged(abandonedJoin)
		if len(es) == 0 {
			return
		}
		what := "a client gave up waiting for JoinGroup"
		if !slices.ContainsFunc(es, func(e inspect.LogEvent) bool { return !hasText(e, brokenJoin) }) {
			what = "a client's connection broke while it joined: it gave up waiting for JoinGroup (its socket timeout), or the broker closed the connection or was not there"
		}
		if longest := slices.MaxFunc(es, func(a, b inspect.LogEvent) int { return cmp.Compare(timedOutAfter(a), timedOutAfter(b)) }); timedOutAfter(longest) > 0 {
			what += " after " + span(timedOutAfter(longest)) + ", its request timeout: the coordinator answers when every member has rejoined, up to the rebalance timeout, which in old clients is the session"
		}
		report(s.logged(Warning, what, es))
	},
})

// brokenJoin is what ruby-kafka says of every way in which a connection ends.
const brokenJoin = "Connection error while trying to join group"

var afterMillis = pattern.New(`imed out after (\d+) ?ms`)

// timedOutAfter is after what time a line says that a request was given up; 0 where it
// does not.
func timedOutAfter(e inspect.LogEvent) time.Duration {
	if m := afterMillis.FindStringSubmatch(e.Text); m != nil {
		return time.Duration(number(m[1])) * time.Millisecond
	}
	return 0
}

// abandonedJoin picks the lines by which clients say that JoinGroup took too long for
// them: ruby-kafka, kafka-go, kafkajs and sarama.
func abandonedJoin(e inspect.LogEvent) bool {
	return strings.Contains(e.Text, "[join_group] Timed out") ||
		strings.Contains(e.Text, "Failed to join group") && strings.Contains(e.Text, "i/o timeout") ||
		strings.Contains(e.Text, brokenJoin) || // ruby-kafka, whose socket_timeout is below the wait
		strings.Contains(e.Text, "Error sending JoinGroupRequest") && (strings.Contains(e.Text, "imed out") || strings.Contains(e.Text, "RequestTimedOutError")) || // kafka-python, aiokafka
		strings.Contains(e.Text, "Request JoinGroup(") && strings.Contains(e.Text, "timed out")
}
