package diagnose

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/prose"
)

// advice picks the findings of a report of this group that are tied to the cause; the
// others are counted.
func (d *Diagnosis) advice(report advise.Report) {
	d.Checked = report.Checked
	tied, churn := advise.Explaining(d.Cause), advise.Explaining(inspect.UnknownCause)
	for _, f := range report.Findings {
		grave := f.Severity.Rank() >= advise.Warning.Rank()
		d.churns = d.churns || grave && slices.Contains(churn, f.ID)
		if d.excludes(f.ID) && !sets(&f) && slices.Contains(tied, f.ID) {
			continue // it says of the departures what the platform has said
		}
		if slices.Contains(tied, f.ID) && !d.excludes(f.ID) {
			d.Findings = append(d.Findings, f)
		} else if grave {
			d.Others++
			d.Unrelated = append(d.Unrelated, f)
		}
	}
	slices.SortStableFunc(d.Findings, func(x, y advise.Finding) int {
		return cmp.Or(yesFirst(d.AtRecord && x.ID == stuckRule, d.AtRecord && y.ID == stuckRule), yesFirst(sets(&x), sets(&y)), cmp.Compare(slices.Index(tied, x.ID), slices.Index(tied, y.ID)))
	})
	d.Unchecked = report.Unchecked // of this group alone
}

// sets reports whether a finding's fix is a setting.
func sets(f *advise.Finding) bool { return f.Fix != nil && len(f.Fix.Set) > 0 }

// stuckRule is the rule about one record that stops whoever gets it.
const stuckRule = "KGD210"

// Fix is the finding whose settings are offered: the first that has any; nil for none.
func (d *Diagnosis) Fix() *advise.Finding {
	for i := range d.Findings {
		if sets(&d.Findings[i]) {
			return &d.Findings[i]
		}
	}
	return nil
}

// InShort is what to do in a few words, with the rule that says so: the settings, under
// what condition. Without a rule, no setting is offered.
func (d *Diagnosis) InShort() (words, rule string) {
	if stuck := d.StuckFix(); stuck != nil {
		return "handle one record apart", stuck.ID
	}
	f := d.Fix()
	if f == nil {
		return "no setting", ""
	}
	words = strings.Join(Settings(f.Fix.Set), " and ")
	if f.Fix.If != "" {
		words += ", " + f.Fix.If
	}
	return words, f.ID
}

// StuckFix is the finding about the record that explains most of what happened: no
// timeout cures one that kills, and one that is merely slow gets by with Fix. Nil where
// the record is not the trouble.
func (d *Diagnosis) StuckFix() *advise.Finding {
	if d.AtRecord && len(d.Findings) > 0 && d.Findings[0].ID == stuckRule {
		return &d.Findings[0]
	}
	return nil
}

// Remedy is what to do where no setting is offered, with the rule that says so, if one
// does; "" where nothing is to be done.
func (d *Diagnosis) Remedy() (words, rule string) {
	for _, f := range d.Findings {
		if f.Fix != nil && f.Fix.Summary != "" {
			return f.Fix.Summary, f.ID
		}
	}
	switch {
	case d.endCure() != "":
		return d.endCure(), ""
	case d.Cause == inspect.SessionExpired && d.fate() == inspect.FateLivedOn:
		return ranOn, ""
	case d.ended():
		return d.findTheEnd(), ""
	}
	if info := d.Cause.Info(); info.Acts {
		return info.Do, ""
	}
	return "", ""
}

// ended reports that the process of each member that sent no heartbeat is gone: it did
// not come back, a new one came in its place, or the platform says so.
func (d *Diagnosis) ended() bool {
	return d.Cause == inspect.SessionExpired && len(d.Occurrences) > 0 && !slices.ContainsFunc(d.Occurrences, func(oc Occurrence) bool {
		return oc.Departure == nil || oc.Departure.Returned != inspect.ReturnedNo && oc.Departure.Returned != inspect.ReturnedNewProcess
	})
}

// findTheEnd says where a process tells why it ended: no setting keeps one that is gone.
func (d *Diagnosis) findTheEnd() string {
	if d.Basis == inspect.Stated || d.given(inspect.FilePods) {
		return "nothing to set: find out why it ended (kubectl logs --previous)"
	}
	return "nothing to set: find out why it ended: kubectl logs --previous, or kgdiag why with --pods FILE"
}

// Avoided is what the fix of a finding would have prevented in the window.
type Avoided struct {
	Sure       int  // evictions that would not have been
	Perhaps    int  // those that depend on whether the process lived on
	Tight      bool // of Perhaps, the age of a last heartbeat may decide as well
	Unmeasured int  // those of which it is not known how long the member needed: it is not back
	Of         int  // evictions in all
	Open       bool // the evidence leaves another cause open, or is no more than likely
}

// Avoided replays the window with a finding's settings.
func (d *Diagnosis) Avoided(f *advise.Finding) Avoided { return AvoidedOf(d.Rebalances, f) }

// AvoidedOf replays a group's rebalances with a finding's settings; the zero Avoided where
// nothing of them can be replayed, or nothing was to be prevented.
func AvoidedOf(list []inspect.Rebalance, f *advise.Finding) Avoided {
	var o inspect.Overrides
	for key, value := range f.Fix.Set {
		_ = o.Set(key, value) // of what cannot be replayed nothing is claimed
	}
	if o == (inspect.Overrides{}) {
		return Avoided{}
	}
	r := inspect.WhatIf(inspect.Timeline{Rebalances: list}, o)
	if r.Evictions == 0 && len(r.Avoided) == 0 {
		return Avoided{}
	}
	a := Avoided{Sure: len(r.Avoided), Open: slices.ContainsFunc(r.Avoided, func(e inspect.ReplayEvent) bool { return e.Open })}
	for _, u := range r.Undecided {
		switch {
		case u.Need > 0:
			a.Perhaps++
			a.Tight, a.Open = a.Tight || u.Tight, a.Open || u.Open
		case u.Cause.Eviction():
			a.Unmeasured++
		}
	}
	a.Open = a.Open || slices.ContainsFunc(list, func(r inspect.Rebalance) bool {
		return slices.ContainsFunc(r.Members.Left, func(l inspect.Departure) bool { return l.Cause.Eviction() && l.Confidence.Rank() < inspect.High.Rank() })
	})
	if a.Sure+a.Perhaps == 0 && len(r.Undecided) > 0 {
		return Avoided{} // how much longer each would have needed is not known
	}
	a.Of = max(r.Evictions, a.Sure+a.Perhaps)
	return a
}

// Step is a command of kgdiag to run next.
type Step struct {
	Command string // "watch"
	Options string // what follows the group: "--for 20m"; "" for nothing
	Why     string
}

// Next are the steps that follow from a diagnosis, none where nothing is to be done.
// Kept says that the evidence lies in a file already.
func (d *Diagnosis) Next(kept bool) []Step {
	watch := Step{Command: "watch"}
	switch {
	case d.NoHistory != "" && !kept && !d.looked:
		watch.Why = "from now on, a line each"
		return []Step{{"why", "--for 5m", "looks, then answers"}, watch}
	case d.NoHistory != "":
		watch.Why = "from now on"
		return []Step{watch}
	case d.State == "Empty" && d.Verdict == Unstable:
		watch.Why = "once its consumers run again"
	case d.Verdict == Stuck && d.Fix() == nil:
		watch.Why = "shows who comes last"
	case d.Verdict != Unstable && d.Verdict != Stuck:
		return nil
	case d.Fix() == nil:
		watch.Options, watch.Why = d.watchFor()+" --fail-on eviction", "shows the next one"
	default:
		watch.Options, watch.Why = d.watchFor()+" --fail-on eviction", "tests the fix"
	}
	if kept {
		return []Step{watch}
	}
	return []Step{watch, {"record", "--to " + CaseFile(d.Group), "keeps the evidence"}}
}

// leastWatch is for how long to watch at least (policy).
const leastWatch = 20 * time.Minute

// watchFor is for how long to watch for the next occurrence: twice the longest time
// between two of them, since a shorter quiet time proves nothing.
func (d *Diagnosis) watchFor() string {
	long := leastWatch
	if _, _, gaps := d.When(); len(gaps) > 0 {
		long = max(long, 2*gaps[len(gaps)-1])
	}
	step := 10 * time.Minute
	switch {
	case long > 6*time.Hour:
		step = time.Hour
	case long > 2*time.Hour:
		step = 30 * time.Minute
	}
	long = (long + step - 1) / step * step
	if long%time.Hour == 0 {
		return fmt.Sprintf("--for %dh", long/time.Hour)
	}
	return fmt.Sprintf("--for %dm", long/time.Minute)
}

// Given are the flags of the run that made a diagnosis, for the commands that follow from
// it; each is "" or begins with a blank.
type Given struct {
	Connect string // that name the cluster
	Live    string // the same for a command that cannot read the case file: its cluster
	Logs    string // log files, which watch takes as well
	Past    string // that say where and when to look back, logs included
	Advise  string // those of Past that advise takes
	Kept    bool   // the evidence lies in a case file already
}

// Command is a command line to run next.
type Command struct{ Line, Why string }

// Commands are the steps of Next as command lines with all flags that they need, and the
// one that shows what else was found.
func (d *Diagnosis) Commands(g Given) []Command {
	var out []Command
	add := func(command, options, why string) {
		out = append(out, Command{"kgdiag " + command + " " + prose.ShellWord(d.Group) + options, why})
	}
	for _, step := range d.Next(g.Kept) {
		options := g.Live + g.Logs
		if step.Command == "record" {
			options = g.Connect + g.Past
		}
		if step.Options != "" {
			options += " " + step.Options
		}
		add(step.Command, options, step.Why)
	}
	if d.Others > 0 {
		add("advise", g.Connect+g.Advise, d.others())
	}
	return out
}

// others says which rules have found something else, and whether the same setting is their
// cure.
func (d *Diagnosis) others() string {
	fix, same := d.Fix(), true
	var ids []string
	for i := range d.Unrelated {
		f := &d.Unrelated[i]
		if !slices.Contains(ids, f.ID) {
			ids = append(ids, f.ID)
		}
		same = same && fix != nil && sets(f) && maps.Equal(f.Fix.Set, fix.Fix.Set)
	}
	text := prose.Plural(d.Others, "other finding") + ": " + prose.Few(ids, 2)
	if same {
		text += ", same fix"
	}
	return text
}

// CaseFile is the name of a case file for a group.
func CaseFile(group string) string {
	s := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
			return r
		}
		return '-'
	}, group)
	return strings.TrimLeft(s, "-.") + ".kgcase"
}
