package advise

import (
	"fmt"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/settings"
)

var _ = register(Rule{
	ID: "KGD506", Name: "key-not-of-client", Severity: Error, Since: "v0.1.0", Scope: PerFile,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "A setting belongs to another client library, or to a later version of this one.",
		Why: "Client libraries share many names, but not all. librdkafka refuses to start with a key that it does not know (max.poll.records is one: it returns " +
			"records one at a time); the Java client ignores such keys, so that the default applies.",
		Fix:   "Delete the key, or use what this client has for it.",
		Price: "none: the setting has no effect now",
		Refs:  []string{"librdkafka CONFIGURATION.md", "ConsumerConfig"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if s.dumped() {
			return
		}
		for _, set := range s.Config.Settings {
			sev, why := s.foreign(set)
			if why == "" {
				continue
			}
			where := set.Where
			f := s.Finding(sev, fmt.Sprintf("%s %s", set.Spelled, why), Value{Where: &where})
			if s.Assumed {
				f.Confidence = inspect.Medium
				f.Evidence = append(f.Evidence, "assumed to be "+s.client()+"; name yours with --client NAME@VERSION")
			}
			f.Fix = &Fix{Delete: []string{set.Key}}
			report(f)
		}
	},
})

// foreign says why a setting is not this client's; "" where it is.
func (s *Subject) foreign(set inspect.Setting) (Severity, string) {
	if set.Origin == inspect.OriginDefault || s.Config.Framework != "" {
		return Info, ""
	}
	strict := s.Family == inspect.Librdkafka // refuses what it does not know; Java goes on without it
	if !strict && s.Family != inspect.Java && s.Family != inspect.StreamsLib {
		return Info, ""
	}
	since, ok := settings.Has(s.Family, set.Key)
	switch {
	case !ok && strict && has(inspect.Java, set.Key):
		return s.refuses("is no setting of librdkafka")
	case !ok && !strict && has(inspect.Librdkafka, set.Key):
		return Warning, "is a setting of librdkafka, the Java client ignores it"
	case ok && since != "" && s.before(since):
		return s.tooNew(set.Key, since, strict)
	case strict && set.Key == keyFetchWait && strings.HasPrefix(set.Spelled, "fetch.max"):
		return s.refuses("is Java's name, librdkafka calls it fetch.wait.max.ms")
	case !strict && set.Key == keyFetchWait && strings.HasPrefix(set.Spelled, "fetch.wait"):
		return Warning, "is librdkafka's name, the Java client ignores it: fetch.max.wait.ms"
	case strict && set.Key == keyRecords && s.Version == "":
		return Error, fmt.Sprintf("exists from librdkafka %s on, and only for share consumers: an older one refuses to start", since)
	}
	return Info, ""
}

// refuses ends a reason with what librdkafka does with such a key.
func (s *Subject) refuses(why string) (Severity, string) {
	sev, then := s.refusal()
	return sev, why + ": " + then
}

func has(f inspect.Family, key string) bool { _, ok := settings.Has(f, key); return ok }

// tooNew says what a client does with a setting of a later version.
func (s *Subject) tooNew(key, since string, strict bool) (Severity, string) {
	switch {
	case strict:
		return s.refuses(fmt.Sprintf("exists from librdkafka %s on", since))
	case key == keyPoll:
		return Warning, fmt.Sprintf("exists from Java %s on: in %s the session timeout bounds the work", since, s.Version)
	}
	return Info, fmt.Sprintf("exists from Java %s on: %s ignores it", since, s.Version)
}
