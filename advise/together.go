package advise

import (
	"slices"

	"github.com/kgdiag/kgdiag/internal/prose"
)

// Shared is a finding as it is told once for all whom it concerns.
type Shared struct {
	Finding
	// Also names the other groups, files or consumers with a finding of the same rule and
	// severity that is not told in full; nil where all are.
	Also []string
	// Symptoms are the findings that go away with this one's fix.
	Symptoms []Finding
}

// mostInFull is how many findings of one rule and severity are told in full: a reader
// compares three, and skips the fourth.
const mostInFull = 3

// Together tells findings of one rule and severity once where there are more than a few:
// the first in full, of the others whom they concern. all keeps each of them. Findings
// are ordered as Evaluate orders them, symptoms behind their causes.
func Together(fs []Finding, all bool) []Shared {
	type kind struct {
		id       string
		severity Severity
	}
	counts := map[kind]int{}
	for _, f := range fs {
		if f.BecauseOf == "" {
			counts[kind{f.ID, f.Severity}]++
		}
	}
	first := map[kind]int{} // index into out
	var out []Shared
	last := -1                    // the entry that a symptom belongs to; -1 where its cause is not told in full
	var explained map[string]bool // the rules of the last finding and of its symptoms
	for _, f := range fs {
		if f.BecauseOf != "" && explained[f.BecauseOf] { // its cause may have been left out by severity
			explained[f.ID] = true
			if last >= 0 {
				out[last].Symptoms = append(out[last].Symptoms, f)
			}
			continue
		}
		explained = map[string]bool{f.ID: true}
		k := kind{f.ID, f.Severity}
		if at, told := first[k]; told && !all && counts[k] > mostInFull {
			if who := concerned(f); !slices.Contains(out[at].Also, who) {
				out[at].Also = append(out[at].Also, who)
			}
			last = -1
			continue
		}
		out = append(out, Shared{Finding: f})
		last = len(out) - 1
		if _, told := first[k]; !told {
			first[k] = last
		}
	}
	return out
}

// concerned names whom a finding concerns: the group, else the file or the consumer.
func concerned(f Finding) string {
	switch {
	case f.Group != "":
		return f.Group
	case f.Subject != "":
		return f.Subject
	case f.Where != nil:
		return f.Where.File
	}
	return ""
}

// Others says whom else a finding concerns: "36 others: a, b, c and 33 more"; "" nobody.
func (s Shared) Others() string {
	if len(s.Also) == 0 {
		return ""
	}
	return count(len(s.Also), "other") + ": " + prose.Few(s.Also, 5)
}

// Trip reports whether findings reach a severity as a reader sees them: a symptom counts as
// the finding that it is shown under, what is below floor as itself, and nothing of low
// confidence. Nothing reaches "".
func Trip(fs []Finding, floor, at Severity) bool {
	shown, hidden := make([]Finding, 0, len(fs)), false
	for i := range fs {
		if fs[i].Severity.Rank() >= floor.Rank() {
			shown = append(shown, fs[i])
		} else if fs[i].BecauseOf == "" {
			hidden = hidden || fs[i].Trips(at)
		}
	}
	return hidden || slices.ContainsFunc(Together(shown, true), func(s Shared) bool { return s.Trips(at) })
}
