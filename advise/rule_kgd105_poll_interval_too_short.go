package advise

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/prose"
)

var _ = register(Rule{
	ID: "KGD105", Name: "poll-interval-too-short", Severity: Error, Since: "v0.1.0", Scope: PerClient, Member: true,
	Needs:     []inspect.Fact{inspect.FactTimeouts, inspect.FactPollTime},
	Uses:      []inspect.Fact{inspect.FactClientConfig},
	SymptomOf: []string{"KGD108", "KGD601", "KGD210"},
	Explains:  map[inspect.Cause]int{inspect.PollIntervalExceeded: 2, inspect.RejoinTimedOut: 3, inspect.SyncPhaseExpired: 3},
	Doc: Doc{
		Summary: "The work between two polls takes longer than max.poll.interval.ms, or nearly so.",
		Why: "A consumer that is not polled for max.poll.interval.ms leaves the group, although its heartbeats go on (KIP-62). " +
			"Its partitions go to others, it cannot commit the offsets of the batch, and its rejoin triggers another rebalance.",
		Fix:   "Raise max.poll.interval.ms above the longest time between two polls, or return fewer records per poll.",
		Price: "a consumer that hangs is noticed later, and a rebalance may wait for a slow member that long",
		Refs:  []string{"KIP-62", "KafkaConsumer javadoc, Detecting Consumer Failures"},
	},
	Check: checkPollInterval,
})

func checkPollInterval(s *Subject, report func(Finding)) {
	need, _ := s.PollNeed()
	poll, ok := s.Sane(keyPoll)
	if !ok || need.D <= 0 || !s.Polls() || s.Worker() || inspect.WithMargin(need.D) <= poll.D {
		return
	}
	if need.D < poll.D && need.Observed {
		return // it was long, but the consumer is not put out; the interval has been raised since
	}
	sev, what := Error, "; "+need.Text
	if need.Observed && s.pollsMiscounted() {
		sev = Warning // KGD601 names what else it may be
	}
	if need.D < poll.D {
		sev, what = Warning, fmt.Sprintf("; %s, which leaves little room", need.Text)
	}
	f := s.Finding(sev, poll.Say()+what, poll)
	if need.Client != "" && s.Config == nil {
		f.Subject = "client " + need.Client
	}
	f.Fix = s.pollFix(poll, need)
	f.measured = need.Observed
	report(f)
}

// mostAdvised is the longest max.poll.interval.ms that kgdiag ever recommends: from
// a day on a timeout is a slip of the unit, or no timeout any more.
const mostAdvised = 24*time.Hour - time.Hour

// pollFix makes room for the work: by a longer interval, or by fewer records.
func (s *Subject) pollFix(poll Value, need Need) *Fix {
	x := &Fix{Notes: map[string]string{}, WouldHaveAvoided: s.avoidable(need)}
	wide := inspect.WithMargin(need.D)
	to := inspect.PollIntervalFor(need.D, s.DefaultOf(keyPoll), poll.D)
	if to <= mostAdvised {
		x.Set = map[string]string{keyPoll: ms(to)}
		x.Notes[keyPoll] = marginNote(need.D, to)
		if need.Observed && s.Timeline != nil && s.aloneTooSlow(need.Client) {
			x.If = ifItsFast
		}
		if def := s.DefaultOf(keyPoll); to > inspect.RoundUp(wide) && to == def {
			x.Notes[keyPoll] = fmt.Sprintf("%s is needed at least; %s is the client's default", product(need.D), ms(to))
		}
		x.Price = fmt.Sprintf("a consumer that hangs is noticed after %s instead of %s", span(to), span(poll.D))
	} else if each := inspect.Or(s.Case.Declared.RecordTime, 0); each > 0 && inspect.PollIntervalFor(each, s.DefaultOf(keyPoll), poll.D) <= mostAdvised && s.handsBatches() {
		to = inspect.PollIntervalFor(each, s.DefaultOf(keyPoll), poll.D)
		x.Summary = "Return one record per poll, raise max.poll.interval.ms above the time that it takes, or process in another thread and pause the partitions meanwhile."
		x.Set = map[string]string{keyPoll: ms(to), keyRecords: "1"}
		x.Notes[keyPoll] = marginNote(each, to)
		x.Price = fmt.Sprintf("a consumer that hangs is noticed after %s instead of %s", span(to), span(poll.D))
		return x
	} else {
		x.Summary = "Process in another thread and pause the partitions meanwhile; no interval is long enough for " + span(need.D) + "."
	}
	if wait := inspect.Or(s.Case.Declared.BackOff, 0); wait > 0 && !need.Observed {
		// Fewer records shorten the work, not the wait for the next try.
		x.Summary = "Raise max.poll.interval.ms above the longest back-off and the work after it"
		if room := poll.D/inspect.PollMarginNum*inspect.PollMarginDen - (need.D - wait); room > 0 {
			x.Summary += fmt.Sprintf(", or shorten the back-off to %s", span(room.Truncate(time.Second)))
		}
		x.Summary += "."
		return x
	}
	if s.Family == inspect.Librdkafka {
		return x // its max.poll.records (2.15) is of share consumers alone
	}
	records, assumed := int64(assumedRecords), true
	if n, v, ok := s.Int(keyRecords); ok {
		records, assumed = n, v.Origin == inspect.OriginDefault
	} else if s.Config != nil || s.Family != inspect.Java && s.Family != inspect.KafkaPython {
		return x // this client hands out records one by one, or has no such setting
	}
	if records < 2 || need.D < time.Duration(records) {
		return x
	}
	fit := inspect.RecordsDown(int64(float64(records) * float64(poll.D) / float64(wide)))
	if fit < 1 || fit >= records {
		return x
	}
	x.Alternatives = []map[string]string{{keyRecords: strconv.FormatInt(fit, 10)}}
	note := fmt.Sprintf("%d in %s: %d fit with the same margin", records, span(prose.ToCover(need.D)), fit)
	if assumed && s.Config == nil {
		note = fmt.Sprintf("if it is 500 (default): %d fit into %s", fit, span(poll.D))
	}
	x.Notes[keyRecords] = note
	return x
}

// avoidable counts the rebalances of the window that a long enough interval would
// have prevented: the departures themselves, without the returns.
func (s *Subject) avoidable(need Need) *int {
	if s.Timeline == nil {
		return nil
	}
	n := 0
	for _, r := range s.Timeline.Rebalances {
		if r.Cause != inspect.PollIntervalExceeded || inspect.Or(r.Stall, 0) > need.D {
			continue
		}
		for _, l := range r.Members.Left {
			if s.hasClient(l.ClientID, l.MemberID) {
				n++
				break
			}
		}
	}
	return &n
}

// aloneTooSlow reports a client that was too slow on partitions that others worked in time,
// each time that it left for that.
func (s *Subject) aloneTooSlow(client string) bool {
	slow := goings(s.Timeline, func(d departure) bool { return d.Cause == inspect.PollIntervalExceeded && d.ClientID == client })
	return len(slow) > 0 && !slices.ContainsFunc(slow, func(d departure) bool { return !d.OthersCoped })
}

// marginNote says how a limit follows from what it has to cover.
func marginNote(d, to time.Duration) string {
	switch to {
	case withMargin(d):
		return product(d)
	case inspect.RoundUp(inspect.WithMargin(d)):
		return product(d) + ", rounded up to " + span(to)
	}
	return product(d) + " is needed at least"
}

// product is the time to cover, the margin and what they make, so that a reader who
// multiplies finds it.
func product(d time.Duration) string {
	return span(prose.ToCover(d)) + " x 1.25 = " + span(withMargin(d))
}

// withMargin is the product of what product shows, to the tenth of a second below a minute.
func withMargin(d time.Duration) time.Duration {
	wide := inspect.WithMargin(prose.ToCover(d))
	if wide < time.Minute {
		return (wide + 99*time.Millisecond).Truncate(100 * time.Millisecond)
	}
	return prose.ToCover(wide)
}

// handsBatches reports whether a poll returns as many records as max.poll.records allows.
func (s *Subject) handsBatches() bool {
	n, _, ok := s.Int(keyRecords)
	return ok && n > 1
}
