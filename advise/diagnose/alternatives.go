package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/prose"
)

// sureWords say how sure a cause is, as people do.
var sureWords = map[inspect.Confidence]string{inspect.High: "very likely", inspect.Medium: "likely", inspect.Low: "possible"}

// Likelihood is how sure the cause of a rebalance is, as people say it: "stated", "very
// likely", "likely" or "possible"; "observed" of a member that is there to be seen, and
// "not known" where the cause is not.
func Likelihood(r *inspect.Rebalance) string { return LikelihoodOf(r.Cause, r.Confidence, r.Basis) }

// LikelihoodOf is Likelihood of a cause by itself.
func LikelihoodOf(cause inspect.Cause, sure inspect.Confidence, basis inspect.Basis) string {
	switch {
	case !cause.Explained():
		return "not known"
	case cause == inspect.MemberJoined && sure == inspect.High:
		return "observed"
	case cause != inspect.MemberJoined && basis == inspect.Stated:
		return string(inspect.Stated)
	}
	return sureWords[sure]
}

// Sure names the cause, how sure it is, and what it was read from: "cause: expired
// session, likely, inferred from commit gaps".
func (d *Diagnosis) Sure() string {
	sure := d.inferredFrom()
	if d.Basis == inspect.Stated {
		sure = d.statedBy()
	}
	if d.Cause == inspect.UnknownCause {
		return sure
	}
	return "cause: " + d.Cause.Label() + ", " + sure
}

// statedBy says who states the cause, and of how many departures, where it is not of all.
func (d *Diagnosis) statedBy() string {
	by, stated := "a log line or a record", 0
	if d.NoHistory != "" && !d.given(inspect.FileLog) {
		by = "polls of the group"
	}
	var others []inspect.Confidence
	for _, oc := range d.Occurrences {
		if oc.Rebalance.Basis != inspect.Stated {
			others = append(others, oc.confidence())
			continue
		}
		stated++
		if oc.Departure != nil && oc.Departure.Process != nil && oc.Departure.Process.States {
			by = "the platform (--pods)"
		}
	}
	if len(others) == 0 {
		return "stated: by " + by
	}
	least := slices.MinFunc(others, func(x, y inspect.Confidence) int { return cmp.Compare(x.Rank(), y.Rank()) })
	return fmt.Sprintf("stated %d of %d times: by %s; otherwise %s", stated, len(d.Occurrences), by, sureWords[least])
}

// inferredFrom says how likely the cause is, and what it was inferred from.
func (d *Diagnosis) inferredFrom() string {
	from := "the group's records"
	if d.NoHistory != "" {
		from = "polls of the group"
	}
	if len(d.Occurrences) > 0 && d.Occurrences[0].Departure != nil && d.Occurrences[0].Departure.Silent != nil {
		from = "commit gaps"
	}
	if d.Cause == inspect.UnknownCause {
		return "not known; looked at " + from
	}
	return d.likelihoods() + ", inferred from " + from
}

// likelihoods say how sure the cause is, of all times: "very likely", or "likely to very
// likely" where that differs.
func (d *Diagnosis) likelihoods() string {
	least := d.Confidence
	for _, oc := range d.Occurrences {
		least = inspect.LessSure(least, oc.confidence())
	}
	if least == d.Confidence {
		return sureWords[d.Confidence]
	}
	return sureWords[least] + " to " + sureWords[d.Confidence]
}

// Assumed names the timeouts that the cause leans on and that nothing told, with where
// they are from; "" for none.
func (d *Diagnosis) Assumed() string {
	for _, oc := range d.Occurrences {
		if oc.Departure != nil && len(oc.Departure.Assumed) > 0 {
			return "assumed, not read: " + strings.Join(oc.Departure.Assumed, ", ")
		}
	}
	return ""
}

// CouldBe names the causes that the evidence leaves open; "" for none.
func (d *Diagnosis) CouldBe() string {
	open := inspect.CauseNames(inspect.OpenCauses(d.Rivals))
	if open == "" {
		return ""
	}
	if d.Cause == inspect.UnknownCause {
		return "could be: " + open
	}
	return "could also be: " + open
}

// RuledOut names the causes that the evidence excludes, each with the measurement that
// does; "" for none.
func (d *Diagnosis) RuledOut() string {
	var not []string
	for _, r := range d.Rivals {
		if r.WhyNot != "" {
			not = append(not, fmt.Sprintf("%s (%s)", r.Cause.Info().Name, d.weakest(r)))
		}
	}
	if len(not) == 0 {
		return ""
	}
	return "ruled out: " + strings.Join(not, "; ")
}

// weakest is why a rival is ruled out, of the departure that is nearest to it: what is
// said of all of them has to hold for each.
func (d *Diagnosis) weakest(r inspect.Rival) string {
	why, atMost := r.WhyNot, strings.Contains(r.WhyNot, "it was at most")
	var bound *inspect.Millis
	open := 0
	for _, oc := range d.Occurrences {
		if oc.Departure == nil || oc.Departure.Silent == nil {
			continue
		}
		for _, other := range oc.Departure.Rivals {
			at := &oc.Departure.Silent[0]
			if atMost {
				at = &oc.Departure.Silent[1]
			}
			switch {
			case other.Cause != r.Cause:
			case other.WhyNot == "":
				open++
			case strings.Contains(other.WhyNot, "it was at most") != atMost:
			case bound == nil || atMost && *at > *bound || !atMost && *at < *bound:
				why, bound = other.WhyNot, at
			}
		}
	}
	if open > 0 {
		why += fmt.Sprintf("; open in %d of %d departures", open, len(d.Occurrences))
	}
	return why
}

// Decide says what to read to be sure of the cause, and what each answer would mean; ""
// where it is sure.
func (d *Diagnosis) Decide() string {
	open := len(inspect.OpenCauses(d.Rivals)) > 0
	unclear := d.returnUnclear()
	if d.Basis == inspect.Stated || d.Cause.Explained() && !open && !unclear && d.Confidence == inspect.High {
		return ""
	}
	ask := []string{d.askLog(open)}
	if unclear && !d.given(inspect.FileGCLog) && d.maybeJava() {
		ask = append(ask, "its garbage collection log (--gc-log FILE): a pause of about "+d.sessionText()+" or more is the cause")
	}
	if d.mayHaveEnded() && !d.given(inspect.FilePods) {
		alive := "a hang, the network or a close"
		if unclear {
			alive = "a pause or the network"
		}
		ask = append(ask, "kubectl get pods -o json (--pods FILE): a restart then is a crash, none is "+alive)
	}
	last := len(ask) - 1
	if last > 0 {
		ask[last] = "or " + ask[last]
	}
	return "to decide: " + strings.Join(ask, "; ")
}

// askLog names the log that decides, and what its lines would mean: open says that another
// cause is.
func (d *Diagnosis) askLog(open bool) string {
	client := "the log of the client"
	if d.Member != "" {
		client = "the log of client " + d.Member
	}
	from := " (--log FILE)"
	if d.given(inspect.FileLog) {
		from = " (what --log gave does not decide)"
	}
	switch {
	case d.Cause == inspect.PollIntervalExceeded:
		return client + from + ": it names an exceeded poll interval, or another cause"
	case d.Cause == inspect.SessionExpired && open:
		return client + " or of the coordinator" + from + ": a shutdown or LeaveGroup then is a close, an expired heartbeat is none"
	case d.Cause == inspect.SessionExpired:
		return client + from + ": a start then is a crash, lost connections are the network, no line at all is a pause"
	}
	return client + " or of the coordinator" + from + ": it states the cause"
}

// sessionText is the session timeout of the member that left last; "its session" unknown.
func (d *Diagnosis) sessionText() string {
	for _, oc := range slices.Backward(d.Occurrences) {
		if oc.Departure != nil && oc.Departure.Session != nil {
			return prose.Span(oc.Departure.Session.Duration())
		}
	}
	return "its session"
}

// mayHaveEnded reports a cause behind which the end of a process may be.
func (d *Diagnosis) mayHaveEnded() bool {
	return d.Cause == inspect.SessionExpired || d.Cause == inspect.RestartedWithinSession ||
		slices.ContainsFunc(d.Rivals, func(r inspect.Rival) bool { return r.Cause == inspect.SessionExpired && r.WhyNot == "" })
}

// maybeJava reports a member that may have a garbage collection log.
func (d *Diagnosis) maybeJava() bool {
	return slices.ContainsFunc(d.Occurrences, func(oc Occurrence) bool {
		return oc.Departure != nil && (oc.Departure.Client.Family == inspect.Java || oc.Departure.Client.Family == inspect.Unknown || oc.Departure.Client.Family == "")
	})
}

// returnUnclear reports a member that sent no heartbeat and came back, and nothing tells
// whether its process had lived on; where one record is behind it, that is read first.
func (d *Diagnosis) returnUnclear() bool {
	return d.Cause == inspect.SessionExpired && !d.AtRecord && slices.ContainsFunc(d.Occurrences, func(oc Occurrence) bool {
		return oc.Departure != nil && (oc.Departure.Returned == inspect.ReturnedUnknown || oc.Departure.Returned == "")
	})
}

// When is when the cause was seen for the first and the last time, and how long was
// between two of its occurrences, the shortest first; no gaps where it was seen once.
func (d *Diagnosis) When() (first, last inspect.Time, gaps []time.Duration) {
	at := make([]time.Time, 0, len(d.Occurrences))
	for _, oc := range d.Occurrences {
		at = append(at, oc.at().Time)
	}
	if len(at) == 0 {
		return first, last, nil
	}
	slices.SortFunc(at, time.Time.Compare)
	for i := range at[1:] {
		gaps = append(gaps, at[i+1].Sub(at[i]))
	}
	slices.Sort(gaps)
	return inspect.At(at[0]), inspect.At(at[len(at)-1]), gaps
}

// regular reports that something comes at times of which a period can be named.
func regular(gaps []time.Duration) bool {
	n := len(gaps)
	return n > 1 && gaps[n-1] <= 2*gaps[0]
}

// Since ends the sentence about a cause: its first time, its period and its last time,
// as clock writes times.
func (d *Diagnosis) Since(clock func(inspect.Time) string) string {
	first, last, gaps := d.When()
	switch {
	case first.IsZero():
		return ""
	case first == last:
		return "; once, at " + clock(first)
	case regular(gaps):
		return "; " + d.first() + clock(first) + ", " + period(gaps) + ", last " + clock(last)
	}
	return "; " + d.first() + clock(first) + ", last " + clock(last)
}

// first says whether the cause may have been there before the window: where nothing of the
// window comes before its first occurrence, but generations before the window do.
func (d *Diagnosis) first() string {
	if r := d.Occurrences[0].Rebalance; len(d.Rebalances) > 0 && r.ID == d.Rebalances[0].ID && r.PreviousGeneration != nil && *r.PreviousGeneration > 1 {
		return "first in the window at "
	}
	return "first "
}

// at is when it happened: of a departure, the latest time at which the member left.
func (oc Occurrence) at() inspect.Time {
	if oc.Departure != nil {
		return oc.Departure.LeftBetween[1]
	}
	return oc.Rebalance.Time
}

// period says how far apart occurrences were, the shortest gap first: "every ~1m10s", or
// "17m to 24m apart" where the gaps differ by more than an eighth.
func period(gaps []time.Duration) string {
	least, most := gaps[0], gaps[len(gaps)-1]
	if most-least > least/8 {
		if from, to := prose.Span(coarse(least)), prose.Span(coarse(most)); from != to {
			return from + " to " + to + " apart"
		}
	}
	return "every ~" + prose.Span(coarse(gaps[len(gaps)/2]))
}

// coarse rounds a time between two occurrences to what a reader needs of it.
func coarse(d time.Duration) time.Duration {
	step := time.Minute
	switch {
	case d < 10*time.Second:
		step = 100 * time.Millisecond
	case d < 2*time.Minute:
		step = time.Second
	case d < 10*time.Minute:
		step = 10 * time.Second
	}
	return d.Round(step)
}
