package advise

import (
	"fmt"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

var _ = register(Rule{
	ID: "KGD426", Name: "versions-apart-logged", Severity: Error, Since: "v0.2.0", Scope: PerLog,
	Needs:     []inspect.Fact{inspect.FactClientLog},
	SymptomOf: []string{"KGD409", "KGD412", "KGD419", "KGD420"},
	Doc: Doc{
		Summary: "Client and broker share no version of a request, as a log says.",
		Why: "Kafka 4.0 no longer accepts requests of clients from before Kafka 2.1 (KIP-896); the other way round, an old broker does not know what KIP-848 or static membership ask for. Either way the " +
			"request is answered by UNSUPPORTED_VERSION or never sent.",
		Fix:   "Upgrade the client library where it is too old for Kafka 4.0 (KIP-896); where the broker is the older one, upgrade it or turn off what it does not know.",
		Price: "an upgrade",
		Refs:  []string{"UNSUPPORTED_VERSION (35)", "KIP-896"},
	},
	Check: func(s *Subject, report func(Finding)) {
		es := s.Logged(func(e inspect.LogEvent) bool {
			return e.Error == "UNSUPPORTED_VERSION" && e.Sign != "unsupported" && e.Sign != "consumer_protocol" && !hasText(e, "CONSUMER group protocol") && !hasText(e, "roupInstanceId") && !hasText(e, "usage of config group.instance.id")
		})
		if len(es) == 0 {
			return
		}
		what, do := "client and broker share no version of a request of the group", ""
		for _, e := range es {
			if w, d := versionsApart(e); w != "" {
				what, do = w, d
				break
			}
		}
		f := s.logged(Error, what, es)
		f.Fix = &Fix{Summary: do}
		report(f)
	},
})

var (
	rangesApart  = pattern.New(`does not support (\w+) with version in range \[(\d+),(\d+)\]\. The supported range is \[(\d+),(\d+)\]`)
	introducedIn = pattern.New(`introduced in Apache Kafka v(\d[\d.]*\d)`)
	refusedByAPI = pattern.New(`apiKey: (\w+), apiVersion: (\d+)|api with key \d+ \((\w+)\) and unsupported version (\d+)`)
)

// versionsApart says which side of a request is the older one, where a line tells.
func versionsApart(e inspect.LogEvent) (what, do string) {
	const upgradeClient = "Upgrade that client: it is older than what the brokers still take."
	switch m := introducedIn.FindStringSubmatch(e.Text); {
	case e.Sign == inspect.SignVersionDropped:
		return fmt.Sprintf("a client sends a version of %s that this broker no longer supports: Kafka 4.0 dropped those of old clients (KIP-896); upgrade that client", e.API), ""
	case e.Sign == inspect.SignUnsupportedRange:
		return fmt.Sprintf("the client is too old for this broker: %s (%s); Kafka 4.0 no longer supports its request versions (KIP-896)", e.Reason, e.API), ""
	case m != nil:
		what := "a request of the group"
		if hasText(e, "share group") || hasText(e, "Share") {
			what = "the share group protocol"
		}
		return fmt.Sprintf("the broker is older than the client: %s in the version that the client speaks came with Kafka %s", what, m[1]), fmt.Sprintf("Upgrade the brokers to Kafka %s or later, or use the client of the brokers' version.", m[1])
	}
	if m := rangesApart.FindStringSubmatch(e.Text); m != nil {
		api := apiWords(m[1])
		if number(m[5]) < number(m[2]) {
			return fmt.Sprintf("the broker is older than the client: it has %s up to version %s, the client needs %s", api, m[5], m[2]), "Upgrade the brokers, or use a client of their version."
		}
		return fmt.Sprintf("the client is older than what the broker takes: it has %s up to version %s, the broker from %s on (KIP-896)", api, m[3], m[4]), upgradeClient
	}
	if m := refusedByAPI.FindStringSubmatch(e.Text); m != nil {
		api, version := apiWords(m[1]+m[3]), m[2]+m[4]
		what := fmt.Sprintf("this broker does not take version %s of %s, which a client sends: Kafka 4.0 dropped the versions of old clients (KIP-896)", version, api)
		if api == "JoinGroup" && number(version) < 2 {
			return what, "Upgrade the brokers to 4.0.1 or later, which take JoinGroup 0 and 1 again, or upgrade the client."
		}
		return what, upgradeClient
	}
	return "", ""
}

// apiWords is "JoinGroup" for "JOIN_GROUP".
func apiWords(api string) string {
	if strings.ToUpper(api) != api {
		return api
	}
	var b strings.Builder
	for _, w := range strings.Split(strings.ToLower(api), "_") {
		if w != "" {
			b.WriteString(strings.ToUpper(w[:1]) + w[1:])
		}
	}
	return b.String()
}
