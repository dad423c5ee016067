package show

import (
	"testing"

	"github.com/kgdiag/kgdiag/inspect"
)

// The rebalance timeout of a Java or librdkafka member is its max.poll.interval.ms; of
// others, and of those that are only guessed at, it is no more than what it is called.
func TestRebalanceColumn(t *testing.T) {
	of := func(family inspect.Family, sure inspect.Confidence) inspect.Member {
		return inspect.Member{Client: inspect.ClientGuess{Family: family, Confidence: sure}, Rebalance: inspect.Ms(5e9)}
	}
	joining := inspect.Member{Client: inspect.ClientGuess{Family: inspect.Unknown, Confidence: inspect.Low}}
	for _, c := range []struct {
		members []inspect.Member
		want    string
	}{
		{[]inspect.Member{of(inspect.Java, inspect.High), of(inspect.Librdkafka, inspect.Medium)}, "MAX POLL"},
		{[]inspect.Member{of(inspect.Java, inspect.High), of(inspect.Sarama, inspect.High)}, "REBALANCE TIMEOUT"},
		{[]inspect.Member{of(inspect.Java, inspect.Low)}, "REBALANCE TIMEOUT"},
		{[]inspect.Member{of(inspect.Java, inspect.High), joining}, "MAX POLL"},
		{[]inspect.Member{joining}, "REBALANCE TIMEOUT"},
	} {
		if got := RebalanceColumn(&inspect.Group{Members: c.members}); got != c.want {
			t.Errorf("%+v: %q, want %q", c.members, got, c.want)
		}
	}
}

func TestOverviewNamesWhatIsNotKnown(t *testing.T) {
	five, ten := inspect.Ms(5e9), inspect.Ms(10e9)
	groups := []inspect.Group{
		{ID: "a", State: "Stable", Members: []inspect.Member{{Session: five, Assignment: []inspect.TopicPartitions{{Topic: "t", Partitions: []int32{0, 1}}}}, {Session: ten, Assignment: []inspect.TopicPartitions{}}}},
		{ID: "b", State: "PreparingRebalance", Members: []inspect.Member{{}}},
		{ID: "c"},
	}
	got := Overviews(groups, []inspect.Gap{{Group: "c", What: "state and members", Why: "denied"}})
	if *got[0].Assigned != 2 || *got[0].Members != 2 || spread(got[0].Session) != "5000-10000" || got[0].Rebalance != nil {
		t.Errorf("%+v", got[0])
	}
	if got[1].Assigned != nil || *got[1].Members != 1 {
		t.Errorf("an assignment that nobody named: %+v", got[1])
	}
	if got[2].Members != nil || len(got[2].NotRead) != 1 || States(got) != "1 PreparingRebalance, 1 Stable, 1 of unknown state" {
		t.Errorf("%+v, %s", got[2], States(got))
	}
}
