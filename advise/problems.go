package advise

import (
	"github.com/kgdiag/kgdiag/inspect"
)

// problems lists what the reader of the file found of one kind.
func (s *Subject) problems(kind string) []inspect.ConfigProblem {
	var out []inspect.ConfigProblem
	for _, p := range s.Config.Problems {
		if p.Kind == kind {
			out = append(out, p)
		}
	}
	return out
}

// problemFinding is a finding about one place of a file.
func (s *Subject) problemFinding(sev Severity, p inspect.ConfigProblem) Finding {
	where := p.Where
	message := p.Message
	if message == "" {
		message = p.Kind + ": " + p.Key
	}
	return s.Finding(sev, message, Value{Where: &where})
}
