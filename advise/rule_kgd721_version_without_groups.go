package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD721", Name: "version-without-groups", Severity: Error, Since: "v0.3.0", Scope: PerClient,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "sarama is set to speak a version of Kafka with which it has no groups, or no static members.",
		Why:     "sarama's Config.Version bounds the requests that it sends. NewConsumerGroup refuses one below V0_10_2_0, and Config.Validate an InstanceId with one below V2_3_0_0.",
		Fix:     "Set Version to V0_10_2_0 or later, up to the version of the brokers.",
		Price:   "brokers older than that refuse the requests",
		Refs:    []string{"sarama consumer_group.go NewConsumerGroupFromClient"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if a, found := s.firstAct(inspect.ActOldVersion); found {
			f := s.acted(Error, fmt.Sprintf("Version is %s, and consumer groups of sarama need V0_10_2_0 or later: NewConsumerGroup is refused", a.Call), a)
			f.Fix.Summary = "Set Version to V0_10_2_0 or later, up to the version of the brokers."
			report(f)
		}
		if a, found := s.firstAct(inspect.ActStaticVersion); found {
			f := s.acted(Error, fmt.Sprintf("Version is %s: sarama refuses Consumer.Group.InstanceId with a Version below V2_3_0_0 (Config.Validate), and the consumer does not start", a.Call), a)
			f.Fix.Summary = "Set Version to V2_3_0_0 or later, up to the version of the brokers, or leave InstanceId out."
			report(f)
		}
	},
})
