package advise

import (
	"fmt"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD416", Name: "remote-assignor-unknown", Severity: Error, Since: "v0.1.0", Scope: PerClient,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Uses:  []inspect.Fact{inspect.FactBrokerConfig},
	Doc: Doc{
		Summary: "The brokers do not have the assignor that group.remote.assignor names.",
		Why: "Brokers offer the assignors of group.consumer.assignors, by default uniform and range. A member that asks for another is refused with " +
			"UNSUPPORTED_ASSIGNOR, which ends the consumer.",
		Fix:   "Name an assignor that the brokers have, or let the brokers choose.",
		Price: "none",
		Refs:  []string{"KIP-848", "UNSUPPORTED_ASSIGNOR (112)"},
	},
	Check: func(s *Subject, report func(Finding)) {
		v, ok := s.Set(keyRemote)
		if !ok || !s.ServerSide() || placeholder(v.Text) {
			return
		}
		offered, where, sure := "uniform,range", "brokers by default", inspect.Medium
		for _, b := range s.Case.Brokers {
			if a := b.Config["group.consumer.assignors"]; a != "" {
				offered, where, sure = a, fmt.Sprintf("broker %d", b.ID), inspect.High
			}
		}
		for _, a := range strings.Split(offered, ",") {
			if strings.TrimSpace(a) == v.Text || strings.Contains(a, ".") {
				return // a class of the broker's own may have any name
			}
		}
		f := s.Finding(Error, fmt.Sprintf("%s=%s, but %s offer %s", v.Spelled, v.Text, where, offered), v)
		f.Confidence = sure
		f.Fix = &Fix{Delete: []string{keyRemote}}
		report(f)
	},
})
