package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kgdiag/kgdiag/inspect/collect"
	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/locate"
)

var _ = command(20, newLocateCmd)

// unset is the value of a broker or partition flag that was not given.
const unset = -1

// locateCmd is kgdiag locate.
type locateCmd struct {
	*app
	sel           selection
	transactional bool
	offline       bool
	count         int32 // --partitions
	partition     int32
	broker        int32
	ifDown        int32
}

func newLocateCmd(a *app) *cobra.Command {
	o := &locateCmd{app: a}
	c := &cobra.Command{
		Use:   "locate GROUP…|-",
		Short: "show the offsets partition, coordinator, replicas, and whether the brokers agree",
		Long: `locate computes the __consumer_offsets partition of each group as Kafka does, reads
who leads it, and compares that with what several brokers answer. An id that no
group has is a fair question. With - the ids come from standard input, one a line.`,
		Example: `  kgdiag locate orders billing
  kgdiag locate --broker 2                     which groups does broker 2 coordinate?
  kgdiag locate --partition 31                 which groups live in __consumer_offsets-31?
  kgdiag locate orders --if-down 2             who takes over when broker 2 goes?
  kgdiag locate --transactional-id tx-1        the same for __transaction_state
  kgdiag locate --offline --partitions 50 -    no cluster: the arithmetic alone`,
		RunE: o.run,
	}
	f := c.Flags()
	o.sel.addFlags(c)
	f.BoolVar(&o.transactional, "transactional-id", false, "the ids are transactional ids, in __transaction_state")
	f.Int32Var(&o.partition, "partition", unset, "the inverse: ids in this partition")
	f.Int32Var(&o.broker, "broker", unset, "the inverse: ids that this broker coordinates")
	f.Int32Var(&o.ifDown, "if-down", unset, "who takes over when this broker goes")
	f.BoolVar(&o.offline, "offline", false, "ask no cluster; needs --partitions")
	f.Int32Var(&o.count, "partitions", 0, "partitions of the topic, for --offline")
	a.addStrict(c, unread)
	return c
}

func (o *locateCmd) run(c *cobra.Command, args []string) error {
	ctx := c.Context()
	sel, err := o.sel.choose(o.app, args)
	if err != nil {
		return err
	}
	sel.Groups = distinct(sel.Groups)
	if err := o.validate(c, sel.Groups); err != nil {
		return err
	}
	if o.offline {
		return o.runOffline(sel.Groups)
	}
	s, err := o.open(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	limited, cancel := s.within(ctx)
	defer cancel()
	l, err := o.ask(limited, s.collector, sel)
	if err != nil {
		return err
	}
	if err := o.refuse(l); err != nil {
		return err
	}
	if err := o.show(o.view(s.cluster(l.Metadata), l)); err != nil {
		return err
	}
	return o.strictly(l.Gaps)
}

// validate finds usage errors: flags that contradict each other, or nothing asked.
func (o *locateCmd) validate(c *cobra.Command, ids []string) error {
	f := c.Flags()
	for _, name := range []string{"partition", "broker", "if-down"} {
		if v, _ := f.GetInt32(name); f.Changed(name) && v < 0 {
			return usagef("--%s %d: want a number from 0", name, v)
		}
	}
	if err := o.contradiction(f, ids); err != nil {
		return err
	}
	for _, id := range ids {
		if err := locate.Validate(id); err != nil {
			return usagef("id %.40q %w", id, err)
		}
	}
	return nil
}

// contradiction finds flags that do not go together, and a question that is none.
func (o *locateCmd) contradiction(f *pflag.FlagSet, ids []string) error {
	inverse := f.Changed("partition") || f.Changed("broker")
	switch {
	case o.offline && (inverse || f.Changed("if-down") || o.sel.any()):
		return usage("locate --offline asks no cluster, so it takes only ids and --partitions", "leave out --offline")
	case o.offline && !f.Changed("partitions"):
		return usage("locate --offline: how many partitions does the topic have?",
			"--partitions 50 is what Kafka makes by default; the topic itself may have another number")
	case o.offline && o.count < 1:
		return usagef("--partitions %d: want at least 1", o.count)
	case !o.offline && f.Changed("partitions"):
		return usage("--partitions goes with --offline only", "online the partitions of the topic itself are counted")
	case f.Changed("partition") && f.Changed("broker"):
		return usage("--partition and --broker: want one of them", "")
	case inverse && len(ids) > 0:
		return usage("--partition and --broker list ids, so they take none", "for who coordinates an id: kgdiag locate "+prose.ShellWord(ids[0]))
	case o.sel.any() && len(ids) > 0:
		return usage("ids, and also --all-groups, --regex, --state or --type: want one or the other", "")
	case o.transactional && (len(o.sel.states) > 0 || len(o.sel.types) > 0):
		return usage("--state and --type are about groups, not about transactional ids", "")
	case len(ids) == 0 && !inverse && !o.sel.any() && !f.Changed("if-down"):
		return usage("locate: which group?", "kgdiag locate GROUP…, - for ids on standard input, or --all-groups")
	}
	return nil
}

// ask asks the cluster what the flags ask.
func (o *locateCmd) ask(ctx context.Context, c *collect.Collector, sel collect.Selection) (*collect.Located, error) {
	limit, err := o.timeout()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	q := collect.LocateQuery{IDs: sel.Groups, Transactional: o.transactional, AskAll: o.flags.verbose}
	if len(sel.Groups) > 0 {
		return c.Locate(ctx, q)
	}
	sel.All = true // as far as the filters keep them
	inv := collect.InverseQuery{Selection: sel, Transactional: o.transactional, Partition: given(o.partition), Broker: given(o.broker)}
	if inv.Partition == nil && inv.Broker == nil && !o.sel.any() {
		inv.Broker = given(o.ifDown) // all that would feel it
	}
	listed, err := c.LocateListed(ctx, inv)
	if err != nil || listed.Topic == nil || inv.Partition != nil || inv.Broker != nil {
		return listed, err
	}
	for _, loc := range listed.Locations {
		q.IDs = append(q.IDs, loc.ID)
	}
	asked, err := c.Locate(ctx, q)
	if err != nil {
		return nil, err
	}
	asked.Listing, asked.Gaps = listed.Listing, append(listed.Gaps, asked.Gaps...)
	return asked, nil
}

// refuse finds what makes a result impossible: no topic, or a partition or broker
// that does not exist.
func (o *locateCmd) refuse(l *collect.Located) error {
	switch err := l.TopicErr; {
	case errors.Is(err, collect.ErrNoOffsetsTopic), errors.Is(err, collect.ErrNoTransactionsTopic):
		return notFound(err, "nothing was created; is it the right cluster? For the arithmetic alone: kgdiag locate --offline --partitions N")
	case errors.Is(err, kerr.TopicAuthorizationFailed):
		return incomplete(fmt.Errorf("%s: DESCRIBE denied", o.topic()),
			"kafka-acls --add --operation Describe --topic "+o.topic()+"\nwithout it: kgdiag locate --offline --partitions N")
	case err != nil:
		return incomplete(fmt.Errorf("%s: %w", o.topic(), err), "")
	}
	if n := int32(len(l.Topic.Partitions)); o.partition >= n {
		return notFound(fmt.Errorf("partition %d: %s has %d partitions, 0 to %d", o.partition, l.Topic.Topic, n, n-1), "")
	}
	for _, id := range []int32{o.broker, o.ifDown} {
		if id != unset && !l.Topic.Known(id) {
			return notFound(fmt.Errorf("broker %d: not in the cluster (%s)", id, brokerList(l)), "")
		}
	}
	return nil
}

// topic is the topic behind the coordinators.
func (o *locateCmd) topic() string {
	if o.transactional {
		return locate.TransactionsTopic
	}
	return locate.OffsetsTopic
}

// brokerList names the living brokers, the first twenty of them.
func brokerList(l *collect.Located) string {
	var ids []int32
	for _, b := range l.Topic.Brokers {
		ids = append(ids, b.ID)
	}
	slices.Sort(ids)
	text := "brokers " + joinIDs(ids[:min(len(ids), 20)])
	if len(ids) > 20 {
		text += fmt.Sprintf(" and %d more", len(ids)-20)
	}
	return text
}

// given is a pointer to a flag's value; nil if it was not given.
func given(v int32) *int32 {
	if v == unset {
		return nil
	}
	return &v
}

// distinct drops repeated ids and keeps the order.
func distinct(ids []string) []string {
	seen := make(map[string]bool, len(ids))
	return slices.DeleteFunc(ids, func(id string) bool {
		if seen[id] {
			return true
		}
		seen[id] = true
		return false
	})
}
