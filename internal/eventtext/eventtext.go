package eventtext

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kgdiag/kgdiag/advise/diagnose"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/watch"
	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/internal/term"
)

// Teller says how events are told.
type Teller struct {
	Clock   func(inspect.Time) string // writes a moment
	Verbose bool                      // with the details that only a few readers want
}

// Event is an event in words: the word that heads it, how it may be coloured, and the
// text, which may hold ids from outside as they came.
func (t Teller) Event(e *watch.Event) (word string, style term.Style, text string) {
	switch e.Type {
	case watch.RebalanceDone:
		return t.rebalance(e)
	case watch.RebalanceStarted:
		return "begins", term.Warn, joinParts(cmp.Or(who(e), "who came or left is not seen yet"), e.State)
	case watch.MemberJoined, watch.MemberLeft, watch.MemberReplaced:
		return strings.TrimPrefix(string(e.Type), "member_"), term.Warn, joinParts(who(e), changes(e, t.Verbose), membersPart(e), e.Why, within(e))
	case watch.SettingsChanged:
		return "changed", term.Warn, joinParts(who(e), changes(e, true))
	case watch.StateChanged:
		return e.State, term.Plain, joinParts(e.Why, within(e))
	case watch.Converged:
		last := ""
		if e.Last != "" {
			last = "last " + e.Last
		}
		return "converged", term.Good, joinParts(span(e.Converged), last, "no member paused")
	case watch.CoordinatorMoved:
		return "moved", term.Warn, fmt.Sprintf("coordinator %s -> %s%s", idText(e.PreviousCoordinator), idText(e.Coordinator), groupList(e))
	case watch.SourceLost:
		return "LOST", term.Bad, joinParts(e.Why) + groupList(e)
	case watch.SourceBack:
		return "back", term.Good, fmt.Sprintf("coordinator %s answers again after %s%s", idText(e.Coordinator), span(e.Silent), groupList(e))
	case watch.ClockOff:
		return "clocks", term.Warn, e.Why
	case watch.GroupWaiting:
		near := ""
		if len(e.Nearest) > 0 {
			near = "; nearest: " + strings.Join(e.Nearest, ", ")
		}
		return "waiting", term.Warn, "no such group yet" + near
	case watch.GroupAppeared:
		return "appeared", term.Good, joinParts(e.State)
	case watch.GroupDeleted:
		return "deleted", term.Warn, within(e)
	}
	return t.risk(e)
}

// risk are the words about silent members and causes.
func (t Teller) risk(e *watch.Event) (word string, style term.Style, text string) {
	switch e.Type {
	case watch.MemberSilent:
		return "silent", term.Warn, fmt.Sprintf("%s, %s without a commit while its lag grows", e.Member, span(e.Silent))
	case watch.MemberAtRisk:
		assumed := ""
		if e.Assumed != "" {
			assumed = "; assumed, not read: " + e.Assumed
		}
		if !e.OutAt.After(e.Time.Time) {
			return "OVERDUE", term.Bad, fmt.Sprintf("%s silent %s of %s: overdue since %s%s", e.Member, span(e.Silent), span(e.Limit), t.Clock(e.OutAt), assumed)
		}
		return "AT RISK", term.Bad, fmt.Sprintf("%s silent %s of %s: leaves the group at about %s%s", e.Member, span(e.Silent), span(e.Limit), t.Clock(e.OutAt), assumed)
	case watch.MemberSpoke:
		return "commits", term.Good, fmt.Sprintf("%s commits again after %s", e.Member, span(e.Silent))
	case watch.CauseFound:
		style = term.Bad
		if !e.Cause.Eviction() {
			style = term.Bold
		}
		return "CAUSE", style, causeOf(e)
	case watch.CauseSoFar:
		return "so far", term.Bold, causeOf(e) + "; the rebalance is not over"
	}
	return string(e.Type), term.Plain, e.Why
}

// causeOf is a cause: how sure, and the figures behind it.
func causeOf(e *watch.Event) string {
	text := e.Cause.Label()
	if e.Cause.Explained() {
		text += ", " + diagnose.LikelihoodOf(e.Cause, e.Confidence, e.Basis)
	}
	if !e.Past {
		text = fmt.Sprintf("incident %d: %s", e.Incident, text)
	}
	why := e.Reason()
	if e.Member != "" {
		why = joinParts(e.Member, why)
	}
	if why != "" {
		text += ": " + why
	}
	if others := e.Instead(); len(others) > 0 {
		text += "; could also be: " + inspect.CauseNames(others)
	}
	return text
}

// rebalance are the word and the text of a generation or epoch.
func (t Teller) rebalance(e *watch.Event) (word string, style term.Style, text string) {
	word = "gen ?"
	switch {
	case e.Generation == nil:
	case e.GenerationBasis == "epoch":
		word = fmt.Sprintf("epoch%d", *e.Generation)
	case e.GenerationBasis == "lower_bound":
		word = fmt.Sprintf("gen >=%d", *e.Generation)
	default:
		word = fmt.Sprintf("gen %d", *e.Generation)
	}
	step, skipped, lasted, paused := "", "", "", ""
	switch {
	case e.Cooperative && e.GenerationBasis == "epoch": // of a share group
		step = "assigns what was left without a member"
	case e.Cooperative:
		step = "second step of a cooperative rebalance"
	}
	if e.Skipped > 0 {
		skipped = prose.Plural(int(e.Skipped), "join round") + " before it ended without a sync"
	}
	if text := diagnose.Paused(e.Stopped, e.StoppedAtMost); text != "-" && text != "none" {
		paused = "paused " + text
	}
	if e.Rebalancing != nil {
		lasted = "rebalancing " + span(e.Rebalancing)
	}
	moved := ""
	if e.Moved > 0 && (t.Verbose || e.GenerationBasis != "epoch") {
		moved = fmt.Sprintf("%d of %s moved", e.Moved, prose.Plural(e.Assigned, "partition"))
	}
	changed := changes(e, t.Verbose || len(e.Joined)+len(e.Left)+len(e.Replaced) == 0)
	cause := ""
	if e.Past && e.Cause != "" {
		cause = causeOf(e)
	}
	return word, term.Bold, joinParts(who(e), changed, membersPart(e), step, skipped, moved, lasted, paused, e.Why, pollNote(e), cause)
}

// pollNote says of a rebalance that polls alone have seen how exact they are.
func pollNote(e *watch.Event) string {
	if e.Source == watch.FromPoll {
		return within(e)
	}
	return ""
}

// within says how exact the time of a polled event is.
func within(e *watch.Event) string {
	if e.PollEvery == nil {
		return ""
	}
	return "kgdiag looks every " + span(e.PollEvery)
}

// joinParts joins what is not empty by commas.
func joinParts(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

// who are +joined, -left and ~replaced.
func who(e *watch.Event) string {
	var parts []string
	for _, m := range e.Left {
		parts = append(parts, "-"+m.Label)
	}
	for _, m := range e.Joined {
		s := "+" + m.Label
		switch {
		case m.BackAfter != nil:
			s += " (was out " + span(m.BackAfter) + ")"
		case m.Ambiguous:
			s += " (one of several like it is back)"
		}
		parts = append(parts, s)
	}
	for _, m := range e.Replaced {
		s := "~" + m.Label + " (new member id"
		if m.NewHost != "" {
			s += ", now on " + m.NewHost
		}
		if m.Ambiguous {
			s += ", ambiguous: they share a client.id"
		}
		parts = append(parts, s+")")
	}
	return strings.Join(prose.First(parts, 6), " ")
}

// membersPart is the number of members.
func membersPart(e *watch.Event) string {
	if e.Members == nil {
		return ""
	}
	return prose.Plural(*e.Members, "member")
}

// changes are the settings that changed. A new leader is worth a word only where
// nothing else explains the line.
func changes(e *watch.Event, leader bool) string {
	var parts []string
	for _, c := range e.Changes {
		if c.What != "leader" || leader {
			parts = append(parts, c.String())
		}
	}
	const most = 4
	if len(parts) > most {
		parts = append(parts[:most], fmt.Sprintf("and %d more changes", len(parts)-most))
	}
	return strings.Join(parts, ", ")
}

// groupList names the groups of an event about several.
func groupList(e *watch.Event) string {
	if len(e.Groups) == 0 {
		return ""
	}
	return ": " + prose.Few(e.Groups, 5)
}

// idText is a broker id; "-" unknown.
func idText(id *int32) string {
	if id == nil {
		return "-"
	}
	return fmt.Sprint(*id)
}

// span is prose.Span for an optional duration; unknown is "-".
func span(m *inspect.Millis) string {
	if m == nil {
		return "-"
	}
	return prose.Span(m.Duration())
}
