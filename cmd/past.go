package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/collect"
	"github.com/kgdiag/kgdiag/inspect/family"
	"github.com/kgdiag/kgdiag/inspect/offsetlog"
	"github.com/kgdiag/kgdiag/inspect/timeline"
)

// readPast adds to a case what the offsets log holds of its groups since a moment,
// and the rebalances rebuilt from that. What cannot be read becomes a Gap.
func (s *session) readPast(ctx context.Context, c *inspect.Case, since time.Time) {
	var partitions []int32
	groups := map[string]bool{}
	for _, g := range c.Groups {
		groups[g.ID] = true
		if g.Partition >= 0 && !slices.Contains(partitions, g.Partition) {
			partitions = append(partitions, g.Partition)
		}
	}
	if len(partitions) == 0 {
		return
	}
	c.Window = inspect.Window{From: inspect.At(since), To: c.GeneratedAt}
	req := offsetlog.Request{
		Partitions: partitions,
		Filter:     offsetlog.Filter{Groups: groups, Commits: true},
		From:       offsetlog.AtTime(since),
	}
	logs, err := s.scanner.Scan(ctx, req, func(r inspect.Record) error {
		c.Records = append(c.Records, r)
		return nil
	})
	c.Logs = append(c.Logs, logs...)
	if err != nil {
		c.Gaps = append(c.Gaps, inspect.Gap{Fact: inspect.FactHistory, What: "history in " + collect.OffsetsTopicName,
			Why: pastError(err), Needs: "READ on the topic " + collect.OffsetsTopicName})
	}
	c.Timelines = timeline.Build(c, timeline.Options{Family: guessFamily})
}

// pastError is the first partition's reason: all of a topic fail alike.
func pastError(err error) string {
	var p *offsetlog.PartitionError
	if errors.As(err, &p) {
		return fmt.Sprint(p.Err)
	}
	return err.Error()
}

// guessFamily joins the timeline's clues with the one place that knows libraries.
func guessFamily(c timeline.Clues) inspect.ClientGuess {
	return family.Guess(family.Evidence{Type: c.Type, ProtocolType: c.ProtocolType, Protocol: c.Assignor, ClientID: c.ClientID,
		MemberID: c.MemberID, InstanceID: c.InstanceID, Subscription: c.Subscription, Session: c.Session, Rebalance: c.Rebalance})
}
