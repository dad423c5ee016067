package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

// keyBlocks is franz-go's BlockRebalanceOnPoll, which has no name in Java.
const keyBlocks = "block.rebalance.on.poll"

var _ = register(Rule{
	ID: "KGD112", Name: "rebalance-timeout-below-processing", Severity: Warning, Since: "v0.1.0", Scope: PerClient, Member: true,
	Needs:     []inspect.Fact{inspect.FactTimeouts, inspect.FactPollTime},
	SymptomOf: []string{"KGD108", "KGD113"},
	Doc: Doc{
		Summary: "The work on a batch takes longer than the coordinator waits for the member in a rebalance.",
		Why: "These clients have no poll check; their rebalance timeout is a setting of its own. A member that is still at work when a rebalance " +
			"begins rejoins only after its batch. If the rebalance timeout passes before, the others go on without it, and its rejoin triggers the next rebalance: after a deployment the group may never become stable.",
		Fix:   "Raise the rebalance timeout above the longest work, or make batches smaller.",
		Price: "a rebalance may wait for a slow member that long",
		Refs:  []string{"JoinGroupRequest RebalanceTimeoutMs", "sarama config.go", "kafkajs consumer/index.js"},
	},
	Check: func(s *Subject, report func(Finding)) {
		rebalance, ok := s.Sane(keyRebalance)
		need, _ := s.PollNeed()
		if !ok || need.D <= 0 || s.Polls() || s.Worker() || inspect.WithMargin(need.D) <= rebalance.D {
			return
		}
		sev := Info
		what := "leaves little room"
		if need.D >= rebalance.D {
			what = "then rejoins too late"
			blocks, _ := s.Get(keyBlocks)
			switch {
			case blocks.Text == "true":
				sev, what = Warning, "then rejoins too late: BlockRebalanceOnPoll holds the rebalance up until its work is done"
			case s.Family == inspect.FranzGo || s.Family == inspect.KafkaGo:
				what = "then rejoins too late if it blocks rebalances while it works (BlockRebalanceOnPoll, or work in the revoke callback)"
			default:
				sev = Warning
			}
		}
		f := s.Finding(sev, fmt.Sprintf("%s is %s; %s: a member at work %s", rebalance.Spelled, span(rebalance.D), need.Text, what), rebalance)
		to := inspect.PollIntervalFor(need.D, s.DefaultOf(keyRebalance), rebalance.D)
		f.Fix = &Fix{}
		if to <= mostAdvised {
			f.Fix.Set = map[string]string{keyRebalance: ms(to)}
			f.Fix.Notes = notesFor(keyRebalance, marginNote(need.D, to))
			f.Fix.Price = fmt.Sprintf("a rebalance may wait %s for a slow member", span(to))
		}
		report(f)
	},
})
