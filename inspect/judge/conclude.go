package judge

import (
	"slices"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/membership"
	"github.com/kgdiag/kgdiag/internal/prose"
)

// stepCause is one cause that a rebalance as a whole can have.
type stepCause struct {
	fits  func(s *step) bool
	cause inspect.Cause
	conf  inspect.Confidence
	basis inspect.Basis
	says  func(s *step) []string
}

// stepCauses are the causes in which nobody went and no place changed hands, in order;
// but for the first three, which come before all others.
var (
	firstCauses = []stepCause{
		{func(s *step) bool { return s.Migrated }, inspect.ProtocolChanged, inspect.High, inspect.Stated,
			func(s *step) []string { return []string{"from " + s.ProtocolFrom + " to " + s.ProtocolTo} }},
		{func(s *step) bool { return s.Deleted }, inspect.GroupDeleted, inspect.High, inspect.Stated,
			saying("tombstone of the group: deleted, or all its offsets expired")},
		{func(s *step) bool { return s.Base }, inspect.UnknownCause, inspect.Low, inspect.Inferred,
			saying("what was before it was not read, or is compacted away")},
	}
	stepCauses = []stepCause{
		{func(s *step) bool { return len(s.Joined) > 0 }, inspect.MemberJoined, inspect.High, inspect.Stated, joinedText},
		{func(s *step) bool { return s.Doubt != "" }, inspect.UnknownCause, inspect.Low, inspect.Inferred,
			func(s *step) []string { return []string{s.Doubt} }},
		{func(s *step) bool { return len(s.Subscriptions) > 0 }, inspect.SubscriptionChanged, inspect.High, inspect.Stated,
			func(s *step) []string { return s.Subscriptions }},
		{func(s *step) bool { return s.Topics != "" }, inspect.TopicMetadataChanged, inspect.High, inspect.Inferred,
			func(s *step) []string { return []string{s.Topics} }},
		{func(s *step) bool {
			return s.ProtocolFrom != s.ProtocolTo && s.ProtocolFrom != "" && s.ProtocolTo != ""
		}, inspect.AssignorChanged, inspect.High, inspect.Stated,
			func(s *step) []string {
				return []string{"assignor " + s.ProtocolFrom + " became " + s.ProtocolTo}
			}},
		{func(s *step) bool { return len(s.Grown) > 0 }, inspect.TopicMetadataChanged, inspect.High, inspect.Inferred,
			func(s *step) []string {
				return []string{"nobody had " + partitions(s.Grown) + " before: partitions were added, or a topic came"}
			}},
		{func(s *step) bool { return s.moved }, inspect.CoordinatorMoved, inspect.Medium, inspect.Inferred,
			saying("the coordinator moved since the last commit before it, and nothing else changed")},
		{func(s *step) bool { return s.Skipped > 0 }, inspect.AssignmentFailed, inspect.Medium, inspect.Inferred,
			saying("nothing changed, and generations before it never reached the log: the leader did not sync, or the append failed")},
		{func(*step) bool { return true }, inspect.UnknownCause, inspect.Low, inspect.Inferred,
			saying("nothing changed: a member asked to rejoin (enforceRebalance, or a member that came and went within one join)")},
	}
)

func saying(text string) func(*step) []string { return func(*step) []string { return []string{text} } }

// conclude is the cause of a step as a whole, out of the verdicts on those who went in it
// and the deploy that it is a part of, if it is.
func conclude(s *step, in *deploy) inspect.Rebalance {
	out := inspect.Rebalance{Rivals: []inspect.Rival{}, Evidence: []string{}, Basis: inspect.Inferred}
	is := func(c stepCause) bool { return c.fits(s) }
	if i := slices.IndexFunc(firstCauses, is); i >= 0 {
		firstCauses[i].set(&out, s)
	} else if len(s.left) > 0 {
		concludeLeft(&out, s)
	} else if len(s.replaced) > 0 {
		concludeSwap(&out, s)
	} else {
		stepCauses[slices.IndexFunc(stepCauses, is)].set(&out, s)
	}
	if s.Skipped > 0 {
		out.Evidence = append(out.Evidence, itoa(s.Skipped)+" join round(s) before it ended without a sync")
	}
	for _, d := range s.left {
		if d.v.seenHeld != "" {
			out.Evidence = append(out.Evidence, d.v.seenHeld)
		}
	}
	if s.Compacted {
		out.Confidence = inspect.Low
		out.Notes = append(out.Notes, "earlier generations are compacted away")
	}
	if in != nil {
		in.set(&out)
	}
	return out
}

func (c *stepCause) set(out *inspect.Rebalance, s *step) {
	set(out, c.cause, c.conf, c.basis, c.says(s)...)
}

func set(out *inspect.Rebalance, c inspect.Cause, conf inspect.Confidence, b inspect.Basis, evidence ...string) {
	out.Cause, out.Confidence, out.Basis = c, conf, b
	out.Evidence = append(out.Evidence, evidence...)
}

func joinedText(s *step) []string {
	var names []string
	for _, m := range s.Joined {
		names = append(names, m.Name())
	}
	return []string{strings.Join(names, ", ") + " joined"}
}

func partitions(list []membership.TopicPartition) string {
	var out []string
	for _, k := range list {
		out = append(out, k.String())
	}
	return strings.Join(prose.First(out, 8), ", ")
}

// weight orders the causes of departures by how much they explain: one that nobody
// knows explains nothing.
func weight(c inspect.Cause) int {
	if c == inspect.UnknownCause {
		return 0
	}
	return c.Info().Weight
}

// concludeLeft names the step after the departure that weighs most; where the
// departures are of different causes, the step is no surer than the least sure.
func concludeLeft(out *inspect.Rebalance, s *step) {
	worst := s.left[0]
	for _, d := range s.left[1:] {
		if a, b := d.v.conf.Rank(), worst.v.conf.Rank(); weight(d.v.cause) > weight(worst.v.cause) && a >= b || a > b && weight(d.v.cause) > 0 {
			worst = d
		}
	}
	v := worst.v
	set(out, v.cause, v.conf, v.basis, v.why...)
	out.Rivals = append(out.Rivals, v.rivals...)
	out.Returned = v.returned
	if s.Empty && (v.cause == inspect.MemberLeft || v.cause == inspect.UnknownCause) {
		out.Rivals = slices.DeleteFunc(out.Rivals, func(r inspect.Rival) bool { return v.cause == inspect.UnknownCause && r.WhyNot != "" })
		out.Cause, out.Basis = inspect.GroupEmptied, inspect.Stated
		out.Evidence = append([]string{"nobody is left in the group"}, out.Evidence...)
	}
	for _, d := range s.left {
		if d != worst && d.v.cause != v.cause {
			out.Notes = append(out.Notes, d.Member.Name()+": "+string(d.v.cause)+", "+string(d.v.conf))
		}
	}
}

// concludeSwap names the step after the replacement that weighs most.
func concludeSwap(out *inspect.Rebalance, s *step) {
	r := s.replaced[0]
	for _, o := range s.replaced[1:] {
		if o.v.fenced && !r.v.fenced || o.v.overran && !r.v.fenced && !r.v.overran {
			r = o
		}
	}
	nameSwap(out, s, &r)
	if r.v.process != "" {
		out.Evidence = append(out.Evidence, r.v.process)
	}
	if r.v.stated {
		out.Basis, out.Rivals = inspect.Stated, []inspect.Rival{}
	}
}

// nameSwap names the step after one replacement.
func nameSwap(out *inspect.Rebalance, s *step, r *replacement) {
	if r.v.fenced {
		text := "another process took " + r.New.Instance() + " while the old one was still committing"
		if r.New.Host != r.Old.Host {
			text = r.New.Instance() + " moved from " + r.Old.Host + " to " + r.New.Host
		}
		set(out, inspect.StaticMemberFenced, r.v.conf, inspect.Inferred, text)
		out.Rivals = append(out.Rivals, inspect.Rival{Cause: inspect.StaticMemberRestarted})
		return
	}
	if r.v.overran {
		set(out, inspect.PollIntervalExceeded, r.v.conf, inspect.Inferred, r.v.why)
		out.Rivals = append(out.Rivals, inspect.Rival{Cause: inspect.StaticMemberRestarted})
		return
	}
	set(out, inspect.StaticMemberRestarted, r.v.conf, inspect.Inferred, r.New.Instance()+" came back under a new member id in the same generation")
	if r.v.mayOverran {
		out.Rivals = append(out.Rivals, inspect.Rival{Cause: inspect.PollIntervalExceeded})
		out.Evidence = append(out.Evidence, "an overrun of its poll interval, after which the same process came back, would look the same")
	}
	if r.v.conf != inspect.High && !s.ServerSide {
		out.Rivals = append(out.Rivals, inspect.Rival{Cause: inspect.StaticMemberFenced})
	}
}
