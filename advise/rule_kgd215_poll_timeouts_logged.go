package advise

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD215", Name: "poll-timeouts-logged", Severity: Error, Since: "v0.1.0", Scope: PerLog,
	Needs:     []inspect.Fact{inspect.FactClientLog},
	Uses:      []inspect.Fact{inspect.FactClientConfig},
	SymptomOf: []string{"KGD105", "KGD120", "KGD601", "KGD113", "KGD216"},
	Doc: Doc{
		Summary: "A consumer left the group because it was not polled in time, as a log says.",
		Why: "A consumer that is not polled for max.poll.interval.ms (a Connect worker: rebalance.timeout.ms) leaves the group. The log states the cause; " +
			"how long the work took is in it only where the library says so.",
		Fix:   "Raise max.poll.interval.ms above the longest time between two polls, or return fewer records per poll.",
		Price: "a consumer that hangs is noticed later, and a rebalance may wait for a slow member that long",
		Refs:  []string{"KIP-62", "log texts of the client libraries"},
	},
	Check: func(s *Subject, report func(Finding)) {
		es := s.Logged(func(e inspect.LogEvent) bool {
			return e.Kind == inspect.LogPollTimeout || e.Broker != nil && e.Cause == inspect.PollIntervalExceeded
		})
		if len(es) == 0 {
			return
		}
		f := s.logged(Error, s.pollTimeout(es), es)
		f.Fix = s.pollTimeoutFix(es)
		if died, ok := s.diedBefore(es); ok {
			f.Message += fmt.Sprintf("; a thread of the application had ended with an exception at %s, so most likely nobody polled any more: that exception is the cause, not the interval", clockAt(died))
			f.Evidence = append(f.Evidence, quoteLines([]inspect.LogEvent{died})...)
			f.Fix = &Fix{Summary: "Mend the exception, and let the process end, or start its thread again, when one ends a polling thread."}
			report(f)
			return
		}
		if n, what := s.heldUpBefore(es); n >= fewErrors {
			f.Message += fmt.Sprintf("; in the time before, the log says %d times that %s: most likely that is what kept the thread from its poll", n, what)
		}
		f.settles(s.consumer())
		report(f)
	},
})

// pollLimit is the limit that was exceeded, and the longest time between polls as far
// as the lines tell; zero where they do not.
func (s *Subject) pollLimit(es []inspect.LogEvent) (limit, longest time.Duration) {
	key := keyPoll
	if c := s.consumer(); c != nil && c.Worker() {
		key = keyRebalance
	}
	v, ok := s.limitOf(key)
	for _, e := range es {
		switch {
		case e.Limit != nil:
			limit = e.Limit.Duration()
		case ok:
			limit = v.D
		}
		if limit > 0 && e.Length != nil {
			longest = max(longest, limit+e.Length.Duration())
		}
	}
	return limit, longest
}

func (s *Subject) pollTimeout(es []inspect.LogEvent) string {
	if s.workers(es) {
		return "a Connect worker left because its herder thread was busy for longer than rebalance.timeout.ms" + s.its(keyRebalance) + ", with a connector that starts, stops or is validated slowly, or with the config topic"
	}
	what := "consumers left because they were not polled in time"
	if slices.ContainsFunc(es, func(e inspect.LogEvent) bool { return e.Sign == inspect.SignLeaving }) {
		what = "consumers left because they were not polled: the heartbeat thread itself sent LeaveGroup, which it does for no other reason"
	}
	limit, longest := s.pollLimit(es)
	if limit > 0 {
		what += "; the limit (max.poll.interval.ms) is " + span(limit)
	}
	if longest > 0 {
		what += ", exceeded by " + span(longest-limit) + " when it was looked at"
	}
	if back := s.workedOn(es); back > 0 {
		what += "; the work went on for " + span(back) + " after that, until its commit was refused"
	}
	return what
}

// fewer is "fewer records per poll", with a number where the limit and the records of one
// poll are known: a fifth of them.
func (s *Subject) fewer(limit time.Duration) string {
	c := s.consumer()
	if family, _ := s.library(); c == nil || c.Worker() || limit == 0 || family != inspect.Java {
		return "fewer records per poll"
	}
	records, v, ok := c.Int(keyRecords)
	if n := time.Duration(records); !ok || n < 10 || n > 1e6 {
		return "fewer records per poll"
	}
	n := time.Duration(records)
	return fmt.Sprintf("fewer records per poll (%s is %d, which leaves %s for each; %s=%d, for example, leaves %s)", v.Spelled, n, span(limit/n), v.Spelled, n/5, span(limit/(n/5)))
}

// pollTimeoutFix raises the limit where it is known: to the default where it is
// shorter, else above what was seen.
func (s *Subject) pollTimeoutFix(es []inspect.LogEvent) *Fix {
	if s.workers(es) {
		return &Fix{Summary: "Raise rebalance.timeout.ms of the worker, or fix the connector that blocks it; no consumer setting helps."}
	}
	limit, longest := s.pollLimit(es)
	if limit == 0 {
		return &Fix{}
	}
	if back := s.workedOn(es); back > 0 {
		longest = max(longest, limit) + back
	}
	to := inspect.PollIntervalFor(max(longest, limit), defaultPoll, limit)
	if to > mostAdvised || to <= limit {
		return &Fix{Summary: "Return " + s.fewer(limit) + ", or process in another thread and pause the partitions meanwhile."}
	}
	c := s.consumer()
	if c == nil || c.Worker() {
		return &Fix{Summary: fmt.Sprintf("Raise max.poll.interval.ms above the longest time between two polls, for example to %s%s, or return %s.", ms(to), seenWhenItPassed(limit, longest), s.fewer(limit))}
	}
	return &Fix{Summary: "Raise max.poll.interval.ms above the longest time between two polls, or return " + s.fewer(limit) + ".", Set: map[string]string{keyPoll: ms(to)},
		Price: fmt.Sprintf("a consumer that hangs is noticed after %s instead of %s", span(to), span(limit))}
}

// workedOn is how long after a poll timeout the same client's commit was refused, before it
// had joined again: the work went on so long. 0 where no lines show it.
func (s *Subject) workedOn(es []inspect.LogEvent) time.Duration {
	var longest time.Duration
	for _, e := range es {
		if e.Time.IsZero() {
			continue
		}
		for _, later := range s.logs {
			after := later.Time.Sub(e.Time.Time)
			if later.Time.IsZero() || after <= 0 || later.From.File != e.From.File || laneOf(later) != laneOf(e) {
				continue
			}
			if after < mostAdvised && (later.Kind == inspect.LogCommitFailed || later.Error == "UNKNOWN_MEMBER_ID") && later.Error != "" {
				longest = max(longest, after)
			}
			break // the first line of the group that follows decides
		}
	}
	return longest
}

// seenWhenItPassed is the doubt about a number where the client looked when the limit had
// just passed: the work may have gone on for long after that.
func seenWhenItPassed(limit, longest time.Duration) string {
	if longest-limit >= limit/10 {
		return ""
	}
	return " where that covers it (the line was written when the limit had passed, not when the next poll came)"
}

// workers reports whether Connect workers wrote the lines, which watch their own loop
// and no consumer's.
func (s *Subject) workers(es []inspect.LogEvent) bool {
	return slices.ContainsFunc(es, func(e inspect.LogEvent) bool { return e.Family == inspect.Connect })
}

// pollLimitOrDefault is the limit of pollLimit, or the default where no line tells it.
func (s *Subject) pollLimitOrDefault(es []inspect.LogEvent) time.Duration {
	limit, _ := s.pollLimit(es)
	return cmp.Or(limit, defaultPoll)
}

// diedBefore is the line of a thread that ended with an exception before the first of the
// poll timeouts, by no longer than twice the limit.
func (s *Subject) diedBefore(es []inspect.LogEvent) (inspect.LogEvent, bool) {
	limit := s.pollLimitOrDefault(es)
	for _, e := range s.Case.LogEvents {
		d := es[0].Time.Sub(e.Time.Time)
		if e.Error == streamThreadDied && !e.Time.IsZero() && !es[0].Time.IsZero() && d > 0 && d <= 2*limit {
			return e, true
		}
	}
	return inspect.LogEvent{}, false
}

// streamThreadDied is the name of that error in the table of clients' own errors.
const streamThreadDied = "stream thread died"

// heldUpBefore counts the lines of a locked state directory within the limit before the
// first of the poll timeouts, and says what they mean.
func (s *Subject) heldUpBefore(es []inspect.LogEvent) (n int, what string) {
	limit := s.pollLimitOrDefault(es)
	for _, e := range s.Case.LogEvents {
		d := es[0].Time.Sub(e.Time.Time)
		if e.Error == stateLocked && (e.Time.IsZero() || es[0].Time.IsZero() || d >= 0 && d <= limit+limit/10) {
			n++
		}
	}
	return n, "the state of a task is locked by another owner, in the rebalance callback or before a poll"
}

// stateLocked is the name of that error in the table of clients' own errors.
const stateLocked = "state directory locked"
