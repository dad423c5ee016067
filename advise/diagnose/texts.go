package diagnose

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/prose"
)

// Clock writes a moment as its reader wants it, "-" where it is not known.
type Clock func(inspect.Time) string

// Emptied is since when a group has had no members; zero where it has some, or that is
// not known.
func (d *Diagnosis) Emptied() inspect.Time {
	if d.State != "Empty" {
		return inspect.Time{}
	}
	if n := len(d.Rebalances); n > 0 && d.Rebalances[n-1].Members.After == 0 {
		return d.Rebalances[n-1].Time
	}
	return d.Live.StateSince
}

// lastToLeave names who left an empty group last, and how; "" where that is not known.
func (d *Diagnosis) lastToLeave() string {
	if len(d.Rebalances) == 0 {
		return ""
	}
	left := d.Rebalances[len(d.Rebalances)-1].Members.Left
	var names []string
	for _, l := range left {
		names = append(names, inspect.MemberName(l.ClientID, l.MemberID, l.InstanceID))
	}
	text := prose.Few(names, 2) + " left last"
	switch {
	case len(left) == 0:
		return ""
	case len(left) > 1: // each may have left for another reason
	case left[0].Cause.Explained():
		text += " (" + left[0].Cause.Label() + ", " + LikelihoodOf(left[0].Cause, left[0].Confidence, "") + ")"
	default:
		text += " (why is not known)"
	}
	return text
}

// Headline heads a diagnosis: a verdict, what follows it, and what has a line of its own
// where one is too short. That a group has no members comes first, whatever
// happened before.
func (d *Diagnosis) Headline(now time.Time, clock Clock) (word Verdict, text, more string) {
	var counts string
	if n := len(d.Rebalances); n > 0 {
		counts = prose.Plural(n, "rebalance")
		if went := d.Summary.Went(); went != "" {
			counts += ", " + went
		}
	}
	switch {
	case d.State == "Empty" && d.Verdict != Stuck:
		text = "no members"
		if since := d.Emptied(); !since.IsZero() {
			text += " since " + clock(since)
			more = d.lastToLeave()
		}
		if d.Lag != nil {
			text += ", lag " + d.Live.LagText()
		}
		if counts != "" && d.Verdict == Unstable {
			counts = string(Unstable) + " before: " + counts
		}
		return Empty, text, strings.Join(slices.DeleteFunc([]string{more, counts}, func(s string) bool { return s == "" }), "; ")
	case counts == "":
		return d.Verdict, d.Now(now), ""
	}
	return d.Verdict, counts, d.stateNow(now)
}

// stateNow is Now behind what happened before: that a group rebalances too often and is
// Stable at the moment is no contradiction.
func (d *Diagnosis) stateNow(now time.Time) string {
	if d.Live == nil || d.State == "" {
		return d.Now(now)
	}
	return "now in state " + d.Now(now)
}

// Now is the group's state as it was described: "Stable, generation 47, 3 members,
// lag 41,320". now is the time of the reader, for how long it has been so.
func (d *Diagnosis) Now(now time.Time) string {
	if d.Live == nil {
		return "no such group on this cluster"
	}
	if d.State == "" {
		return "its state could not be read"
	}
	parts := []string{d.State}
	if d.Type == inspect.Consumer || d.Type == inspect.Share || d.Type == inspect.Streams {
		parts[0] += fmt.Sprintf(", %s protocol", d.Type)
		if d.Generation != nil {
			parts = append(parts, fmt.Sprintf("epoch %d", *d.Generation))
		}
	} else if d.Generation != nil {
		gen := fmt.Sprintf("generation %d", *d.Generation)
		if len(d.Rebalances) == 0 && d.Live.GenerationBasis != "lower_bound" && !d.Live.StateSince.IsZero() {
			gen += " since " + prose.Span(now.Sub(d.Live.StateSince.Time).Round(time.Second))
		}
		parts = append(parts, gen)
	}
	if d.Members != nil {
		parts = append(parts, prose.Plural(*d.Members, "member"))
	}
	if d.Lag != nil {
		parts = append(parts, "lag "+d.Live.LagText()+d.lagOf())
	}
	return strings.Join(parts, ", ")
}

// leastTold is the lag of a member, in records, from which it is worth a word.
const leastTold = 10

// lagOf says whose partitions have most of the lag, in brackets, where it is one member's;
// "" else.
func (d *Diagnosis) lagOf() string {
	for i := range d.Live.Members {
		m := &d.Live.Members[i]
		if len(d.Live.Members) < 2 || m.Lag == nil || *m.Lag < leastTold || 2**m.Lag <= *d.Lag {
			continue
		}
		part := prose.Count(*m.Lag) + " of it"
		if *m.Lag == *d.Lag {
			part = "all"
		}
		return fmt.Sprintf(" (%s in the partitions of %s)", part, inspect.MemberName(m.ClientID, m.MemberID, m.InstanceID))
	}
	return ""
}

// Text says whom a rebalance under way waits for, until when.
func (w *Waiting) Text(clock Clock) string {
	text := "a rebalance is under way"
	if !w.Began.IsZero() {
		text += " since about " + clock(w.Began)
	}
	switch {
	case len(w.For) > 0 && w.Sure:
		text += "; it waits for " + strings.Join(prose.First(w.For, 5), ", ")
	case len(w.For) > 0:
		text += "; it probably waits for " + strings.Join(prose.First(w.For, 5), ", ") + " (" + w.Reason + ")"
	case len(w.States) > 0:
		text += " of " + strings.Join(prose.First(w.States, 5), ", ") + "; who has not rejoined is on no API"
	}
	limit := "the longest rebalance timeout of its members (" + prose.Span(w.limit) + ")"
	switch {
	case w.limit <= 0:
	case !w.Expected.IsZero():
		text += "; it ends by about " + clock(w.Expected) + ": " + limit + " after it began"
	case !w.Began.IsZero():
		text += "; " + limit + " has passed since: another may have begun"
	default:
		text += "; since when is not known; it takes " + limit + " at most"
	}
	return text
}

// Worst is the cause in a few words, for a line a group: "expired session (web-1)?".
func (d *Diagnosis) Worst() string {
	cause := d.WorstCause()
	if d.Member != "" && !d.AtRecord {
		cause = strings.TrimSuffix(cause, "?") + " (" + d.Member + ")" + cause[len(strings.TrimSuffix(cause, "?")):]
	}
	return cause
}

// WorstCause is Worst without whom it concerns.
func (d *Diagnosis) WorstCause() string {
	cause := d.Cause.Label()
	if d.AtRecord {
		cause = "same record: " + d.Records[0].Place
	} else if d.Unsure() {
		cause += "?"
	}
	if d.Verdict == Stuck {
		cause = "stuck; " + cause
	}
	return cause
}

// onlyAdvise names the command with the flags that why has not.
var onlyAdvise = strings.NewReplacer("add --gc-pause", "kgdiag advise --gc-pause", "add --batch-time", "kgdiag advise --batch-time")

// NotChecked says how many rules were not checked, and what the reader can add for which.
func (d *Diagnosis) NotChecked() string {
	n := d.Rules - d.Checked
	if n <= 0 {
		return "every rule was checked"
	}
	count := fmt.Sprintf("%d of kgdiag's %s", n, prose.Plural(d.Rules, "rule"))
	if len(d.Unchecked) == 0 {
		return count // a triage says why for all groups
	}
	var can, cannot []advise.Unchecked
	for _, u := range d.Unchecked {
		if strings.HasPrefix(u.Hint, "add ") {
			can = append(can, u)
		} else {
			cannot = append(cannot, u)
		}
	}
	text := onlyAdvise.Replace(advise.NotChecked(can))
	if n := advise.CountRules(cannot); n > 0 {
		if text != "" {
			text += "; "
		}
		text += fmt.Sprintf("%s for other reasons (-o json lists them%s)", prose.Plural(n, "rule"), commonReason(cannot))
	}
	return count + ": " + text
}

// manyRules is of how many rules a reason has to be to be named on a page (policy): what
// takes so many is a broker that was not read.
const manyRules = 5

// commonReason is the reason why most of many rules were not checked, in words that go on
// from a sentence; "" where none is of many.
func commonReason(us []advise.Unchecked) string {
	count, most := map[string]int{}, ""
	told := map[[2]string]bool{} // a rule may be told of each of several clients
	for _, u := range us {
		key := [2]string{u.ID, u.Reason}
		if told[key] {
			continue
		}
		told[key] = true
		if count[u.Reason]++; count[u.Reason] > count[most] {
			most = u.Reason
		}
	}
	if count[most] < manyRules {
		return ""
	}
	return "; most: " + most
}

// ReplayLines say what would have been under other settings: how much, and then each
// departure, at most so many of a kind.
func ReplayLines(r *inspect.Replay, clock Clock, most int) []string {
	lines := []string{replayHead(r)}
	show := func(word string, list []inspect.ReplayEvent) {
		for i, e := range list {
			if i == most {
				lines = append(lines, fmt.Sprintf("and %d more", len(list)-most))
				break
			}
			lines = append(lines, fmt.Sprintf("%s %s  %s  %s: %s", clock(e.Time), word, e.ClientID, e.Cause.Label(), e.Why))
		}
	}
	show("avoided  ", r.Avoided)
	show("remains  ", r.Remaining)
	show("undecided", r.Undecided)
	show("added    ", r.Added)
	return lines
}

// replayHead says how much would have been avoided, and how much of that is certain.
func replayHead(r *inspect.Replay) string {
	avoided, fewer := fmt.Sprint(len(r.Avoided)), ": "+prose.Plural(r.Rebalances, "fewer rebalance")
	if n := len(r.Undecided); n > 0 {
		avoided = fmt.Sprintf("%d to %d", len(r.Avoided), len(r.Avoided)+n)
		if fewer = ""; r.Rebalances > 0 {
			fewer = ": at least " + prose.Plural(r.Rebalances, "fewer rebalance")
		}
		fewer += fmt.Sprintf("; %d undecided", n)
	}
	s := fmt.Sprintf("%s of %s would have been avoided%s", avoided, prose.Plural(len(r.Avoided)+len(r.Remaining)+len(r.Undecided), "departure"), fewer)
	doubtful := 0
	for _, e := range r.Avoided {
		if e.Open {
			doubtful++
		}
	}
	if doubtful > 0 {
		s += fmt.Sprintf(" (if the causes are right: of %d the evidence leaves another one open)", doubtful)
	}
	if r.Others > 0 {
		s += fmt.Sprintf("; %s not counted: no eviction", prose.Plural(r.Others, "other departure"))
	}
	return s
}

// GenerationText is the generation or epoch of a rebalance, ">=5" where polls alone saw it.
func GenerationText(r inspect.Rebalance) string {
	if r.GenerationBasis == "lower_bound" {
		return fmt.Sprintf(">=%d", r.Generation)
	}
	return fmt.Sprint(r.Generation)
}

// MembersText is how many members there were, and are after it: "3 -> 2".
func MembersText(r inspect.Rebalance) string {
	if r.Members.Before == r.Members.After {
		return fmt.Sprint(r.Members.After)
	}
	return fmt.Sprintf("%s -> %d", BeforeText(r), r.Members.After)
}

// BeforeText is how many members there were, "-" where what was before was not read or
// is compacted away.
func BeforeText(r inspect.Rebalance) string {
	if r.PreviousGeneration == nil && r.Members.Before == 0 && len(r.Members.Joined) == 0 && r.Generation > 1 {
		return "-"
	}
	return fmt.Sprint(r.Members.Before)
}

// CauseText is the cause, with the time away of members that came back.
func CauseText(r inspect.Rebalance) string {
	s := r.Cause.Label()
	if back := r.Back(); back != nil {
		s += ", was out " + prose.Span(prose.Rounded(back.Duration()))
	}
	return s
}

// Settings are settings as KEY=VALUE, in the order of their keys.
func Settings(set map[string]string) []string {
	out := make([]string, 0, len(set))
	for _, k := range slices.Sorted(maps.Keys(set)) {
		out = append(out, k+"="+set[k])
	}
	return out
}
