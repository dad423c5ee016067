package advise

import (
	"fmt"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD310", Name: "offsets-topic-not-compacted", Severity: Error, Since: "v0.1.0", Scope: PerCluster,
	Needs: []inspect.Fact{inspect.FactOffsetsTopic},
	Doc: Doc{
		Summary: "The cleanup policy of __consumer_offsets is not just compact.",
		Why: "With delete in the policy, records of __consumer_offsets go after the retention time although they are the newest of their key: groups " +
			"lose their offsets, and after a failover their metadata. Without compact the topic grows without bound and coordinators take ever longer to load it.",
		Fix:   "Set cleanup.policy=compact on __consumer_offsets (kafka-configs).",
		Price: "the log cleaner has a backlog to process",
		Refs:  []string{"GroupCoordinatorService.groupMetadataTopicConfigs"},
	},
	Unknown: func(s *Subject) string {
		if _, ok := s.Case.OffsetsTopic.Config["cleanup.policy"]; !ok {
			return "the configuration of __consumer_offsets was not read"
		}
		return ""
	},
	Check: func(s *Subject, report func(Finding)) {
		policy, ok := s.Case.OffsetsTopic.Config["cleanup.policy"]
		if !ok || strings.TrimSpace(policy) == "compact" {
			return
		}
		f := s.Finding(Error, fmt.Sprintf("__consumer_offsets has cleanup.policy=%s: committed offsets are lost, or the topic grows forever", policy))
		f.Fix = &Fix{}
		report(f)
	},
})
