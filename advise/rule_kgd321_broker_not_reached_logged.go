package advise

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

var _ = register(Rule{
	ID: "KGD321", Name: "broker-not-reached-logged", Severity: Error, Since: "v0.2.0", Scope: PerLog,
	Needs: []inspect.Fact{inspect.FactClientLog},
	Doc: Doc{
		Summary: "A client cannot connect to the address of a broker, as its log says.",
		Why: "A client first connects to bootstrap.servers, and from then on to the addresses that the brokers announce (advertised.listeners). Where such an address is localhost, it leads to the client's own host " +
			"or container; the coordinator is then found and never reached, and the group is never joined.",
		Fix:   "Set advertised.listeners of the brokers to addresses that the clients can reach, one listener for each network; kgdiag check from the client's host tries them.",
		Price: "brokers restart one by one",
		Refs:  []string{"advertised.listeners", "bootstrap.servers", "KIP-103"},
	},
	Check: func(s *Subject, report func(Finding)) {
		failed := s.Logged(func(e inspect.LogEvent) bool {
			return e.Sign == inspect.SignUnreachable || e.Sign == inspect.SignConnectFailed || hasText(e, "no such host") && e.Family == inspect.FranzGo
		})
		if len(failed) == 0 || slices.ContainsFunc(s.logs, joined) {
			return
		}
		seed, own, noName := 0, "", ""
		for _, e := range failed {
			if m := loopback.FindString(e.Text); m != "" {
				own = m
			}
			if strings.Contains(e.Text, "bootstrap") || strings.Contains(e.Text, "node -1 ") || strings.Contains(e.Text, "id: -1 ") {
				seed++
			}
			if m := unresolved.FindStringSubmatch(e.Text); m != nil {
				noName = m[1] + m[2] + m[3] + m[4]
			}
		}
		few := len(failed) <= fewErrors
		if few && !s.neverJoined(failed) {
			return
		}
		switch {
		case noName != "":
			f := s.logged(Warning, fmt.Sprintf("the name of a broker, %s, does not resolve on the client's host, so the coordinator is not reached", noName), failed)
			switch {
			case !tellsSeeds(failed[0].Family):
				f = s.logged(Warning, fmt.Sprintf("the name of a broker, %s, does not resolve on the client's host, so the coordinator is not reached: the name stands in the client's own list of brokers, or the broker announces itself by it (advertised.listeners)", noName), failed)
			case seed < len(failed):
				f = s.logged(Warning, fmt.Sprintf("the name of a broker, %s, as it announces itself (advertised.listeners), does not resolve on the client's host, so the coordinator is not reached", noName), failed)
			}
			report(f)
		case own != "" && !tellsSeeds(failed[0].Family):
			f := s.logged(Warning, fmt.Sprintf("the client cannot connect to %s, which is its own host or container: its list of brokers says so, or the broker announces itself so (advertised.listeners); or a broker that runs there is down", own), failed)
			f.Confidence = inspect.Medium
			report(f)
		case own != "" && seed == len(failed):
			f := s.logged(Error, "no broker answers at the address of bootstrap.servers, "+own+", which is the client's own host or container", failed)
			f.Fix = &Fix{Summary: "Set bootstrap.servers to the broker's address as it is seen from the client, or start the broker if it runs on this host."}
			report(f)
		case own != "":
			f := s.logged(Error, fmt.Sprintf("the broker announces itself as %s (advertised.listeners), which is the client's own host or container: no broker listens there, and the coordinator is never reached", own), failed)
			if few {
				f.Confidence = inspect.Medium // it may just be down
			}
			report(f)
		case signsOnly(failed, inspect.SignConnectFailed) && !few:
			report(s.logged(Warning, "connections to a broker fail, and the group is never joined", failed))
		case few && seed == len(failed) && signsOnly(failed, inspect.SignUnreachable):
			f := s.logged(Warning, "no broker answers at the address of bootstrap.servers, so no coordinator is found: no broker listens there, it is down, or the way to it is closed", failed)
			f.Confidence = inspect.Medium
			f.Fix = &Fix{Summary: "See whether that address is reached from the client's host (kgdiag check), and correct bootstrap.servers, or start the broker."}
			report(f)
		}
	},
})

// tellsSeeds reports whether a client's log tells the brokers of its own list from those that
// were announced to it.
func tellsSeeds(f inspect.Family) bool {
	return f == inspect.Java || f == inspect.Librdkafka || f == inspect.StreamsLib || f == inspect.Connect || f == inspect.KafkaPython || f == inspect.AIOKafka
}

// unresolved are the forms in which libraries say that a name does not resolve.
var unresolved = pattern.New(`Failed to resolve '([^']+)'|UnknownHostException: ([\w.-]+)|resolve server ([\w.:-]+)|(?:connect to|dial tcp:? lookup|ENOTFOUND) ([\w.-]+)(?::\d+)?(?:: getaddrinfo|.*no such host|\s*$)`)

var loopback = pattern.New(`\b(?:localhost|127\.0\.0\.1)\b(?:/127\.0\.0\.1)?(?::\d+)?`)

func signsOnly(es []inspect.LogEvent, sign inspect.Sign) bool {
	for _, e := range es {
		if e.Sign != sign {
			return false
		}
	}
	return true
}
