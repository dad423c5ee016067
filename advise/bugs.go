package advise

import (
	"fmt"
	"slices"

	"github.com/kgdiag/kgdiag/inspect"
)

// bug is a fault of some versions of a client that shows as rebalances.
type bug struct {
	family        inspect.Family
	since, before string // versions that have it: since inclusive, before exclusive
	severity      Severity
	what          string // continues "librdkafka 1.0.1 "
	fixed         string
	// when narrows the bug to configurations that meet it; nil is all.
	when func(s *Subject) bool
}

// check reports the first of some bugs that the client's version has. Nothing is
// reported where the version is not known.
func (s *Subject) checkBugs(bugs []bug, report func(Finding)) {
	if s.Version == "" {
		return
	}
	for _, b := range bugs {
		if s.Family != b.family || !atLeast(s.Version, b.since) || b.before != "" && atLeast(s.Version, b.before) || b.when != nil && !b.when(s) {
			continue
		}
		f := s.Finding(b.severity, fmt.Sprintf("%s %s %s", s.Family, s.Version, b.what))
		f.Fix = &Fix{Summary: fmt.Sprintf("Upgrade to %s %s or later.", s.Family, b.fixed)}
		report(f)
		return
	}
}

// anyLogged reports whether a log of the consumer has a line for which want holds;
// a line that names no group and no client may be its own.
func (s *Subject) anyLogged(want func(inspect.LogEvent) bool) bool {
	return slices.ContainsFunc(s.Case.LogEvents, func(e inspect.LogEvent) bool {
		return e.Broker == nil && want(e) && (e.Group == "" && e.ClientID == "" || s.logsOf(e))
	})
}

// versionUnknown makes the reason for which a rule on versions of these families
// cannot tell.
func versionUnknown(families ...inspect.Family) func(*Subject) string {
	return func(s *Subject) string {
		if s.Version == "" && slices.Contains(families, s.Family) {
			return "the version of the client is not known (add --client NAME@VERSION)"
		}
		return ""
	}
}
