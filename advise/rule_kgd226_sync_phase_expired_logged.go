package advise

import (
	"slices"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD226", Name: "sync-phase-expired-logged", Severity: Warning, Since: "v0.2.0", Scope: PerLog,
	Needs:     []inspect.Fact{inspect.FactClientLog},
	Uses:      []inspect.Fact{inspect.FactClientConfig},
	SymptomOf: []string{"KGD605", "KGD202"},
	Doc: Doc{
		Summary: "Members were evicted between JoinGroup and SyncGroup, as the coordinator's log says.",
		Why: "In the state CompletingRebalance the group waits for the leader to hand the assignment in. Such an expiry has one of three reasons: the leader's assignment takes longer than " +
			"the session, or the client sends no heartbeats in that time (Java before 2.6.1 and 2.7.0), or it works on between its two requests.",
		Fix:   "Look at the leader of the group: a slow assignor (many topics, a custom one, Streams' lag queries), a pause. Upgrade Java clients to 2.7.0 or later, or raise session.timeout.ms above the time that the assignment takes.",
		Price: "a longer session notices a dead member later",
		Refs:  []string{"KAFKA-10134", "ClassicGroupState.COMPLETING_REBALANCE"},
	},
	Check: func(s *Subject, report func(Finding)) {
		es := s.expiredInSync()
		if len(es) == 0 {
			return
		}
		f := s.logged(Warning, "members expired between JoinGroup and SyncGroup (state CompletingRebalance): the leader's assignment takes longer than the session"+s.said(keySession)+", or these clients send no heartbeats then", es)
		f.Confidence = inspect.Medium
		report(f)
	},
})

// expiredInSync are the coordinator's lines of members that expired after the join
// phase and before the leader's assignment: the line says so, or what stands before it.
func (s *Subject) expiredInSync() []inspect.LogEvent {
	var out []inspect.LogEvent
	waiting := false
	for _, e := range s.logs {
		switch {
		case e.Cause == inspect.SyncPhaseExpired:
			out = append(out, e)
		case e.Sign == inspect.SignStabilized:
			waiting = true
		case e.Sign == inspect.SignPreparing && e.Cause == inspect.SessionExpired && waiting && slices.ContainsFunc(s.logs, signIs("assignment")):
			out = append(out, e) // this log has the lines of assignments, but none since
			waiting = false
		case e.Sign == "assignment" || e.Sign == inspect.SignPreparing:
			waiting = false
		}
	}
	return out
}
