package judge

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/membership"
)

// hidden is what is left of a group where the offsets topic may not be read: what polls
// saw of it, and the commits as polls of the committed offsets would have seen them.
func hidden(l labelled) *inspect.Case {
	c := l.Watched()
	c.Groups = nil
	since := time.Time{}
	for i := range c.Records {
		if r := &c.Records[i]; r.Commit == nil && len(c.Observations) > 0 && r.Time.Before(c.Observations[0].From.Time) && r.Time.After(since) {
			since = r.Time.Time
		}
	}
	if at := since.Add(time.Second); !since.IsZero() && c.Observations[0].Error == "" && at.Before(c.Observations[0].From.Time) {
		c.Observations[0].From = inspect.At(at) // as if it had been watched since the members came
	}
	if len(c.Observations) == 0 {
		c.Records = nil
		return c
	}
	began, ended := c.Observations[0].From, c.Observations[len(c.Observations)-1].To
	c.OffsetPolls = []inspect.OffsetPolls{{Group: l.Group, From: began, To: ended}}
	c.Records = sampled(c.Records, began.Time, ended.Time)
	return c
}

// pollsEvery is the pace of the polls, and pollTakes the time from a question to its answer.
const (
	pollsEvery = 250 * time.Millisecond
	pollTakes  = 5 * time.Millisecond
)

// sampled are the commits that polls of the committed offsets show.
func sampled(records []inspect.Record, began, ended time.Time) []inspect.Record {
	commits := slices.DeleteFunc(slices.Clone(records), func(r inspect.Record) bool { return r.Commit == nil })
	slices.SortStableFunc(commits, func(a, b inspect.Record) int { return a.Time.Compare(b.Time.Time) })
	at, before := map[membership.TopicPartition]inspect.Record{}, map[membership.TopicPartition]int64{}
	var out []inspect.Record
	asked := time.Time{}
	for now := began; !now.After(ended); now = now.Add(pollsEvery) {
		for len(commits) > 0 && !commits[0].Time.After(now) {
			at[membership.TopicPartition{Topic: commits[0].Topic, Partition: commits[0].TopicPartition}] = commits[0]
			commits = commits[1:]
		}
		for k, r := range at {
			was, had := before[k]
			before[k] = r.Commit.Offset
			if asked.IsZero() || had && was == r.Commit.Offset {
				continue
			}
			when := inspect.At(now.Add(pollTakes))
			out = append(out, inspect.Record{Type: inspect.RecOffsetCommit, Partition: -1, Offset: int64(len(out)), Time: when, LeaderEpoch: -1, Version: -1,
				Group: r.Group, Topic: r.Topic, TopicPartition: r.TopicPartition,
				Commit: &inspect.OffsetCommit{Offset: r.Commit.Offset, LeaderEpoch: -1, Time: when, After: inspect.At(asked)}})
		}
		asked = now
	}
	return out
}

// given is hidden with the timeouts that -f would have told.
func given(l labelled) *inspect.Case {
	c := hidden(l)
	told := map[string]bool{}
	add := func(client string, session, poll *inspect.Millis) {
		if told[client] {
			return
		}
		told[client] = true
		cfg := inspect.ClientConfig{Group: l.Group, Family: inspect.Java, Where: inspect.Position{File: client + ".properties"}, Settings: []inspect.Setting{{Key: "client.id", Value: client}}}
		set := func(key string, v *inspect.Millis) {
			if v != nil {
				cfg.Settings = append(cfg.Settings, inspect.Setting{Key: key, Value: fmt.Sprint(v.Duration().Milliseconds()), Millis: v, Where: cfg.Where})
			}
		}
		set("session.timeout.ms", session)
		set("consumer.session.timeout.ms", session)
		set("max.poll.interval.ms", poll)
		c.Configs = append(c.Configs, cfg)
	}
	whole := l.Read()
	for i := range whole.Records {
		r := &whole.Records[i]
		if r.Metadata != nil {
			for j := range r.Metadata.Members {
				m := &r.Metadata.Members[j]
				add(m.ClientID, &m.Session, &m.Rebalance)
			}
		}
		if r.MemberOf != nil {
			add(r.MemberOf.ClientID, whole.Groups[0].Limits.Session, r.MemberOf.Rebalance)
		}
	}
	return c
}

// hiddenViews are the ways to look at a group whose records may not be read.
var hiddenViews = []view{
	{"the clients' defaults assumed", "-hidden", hidden},
	{"timeouts given", "-hidden-given", given},
	{"and where partitions ended", "-hidden-asked", asked(given)},
}

// TestHiddenTopic holds the verdicts on clusters that hide the offsets topic: of the groups
// of hold-outs of which polls were kept, with their records taken away. None may be wrong
// with high confidence.
func TestHiddenTopic(t *testing.T) {
	for _, h := range holdouts {
		if !h.seen {
			continue
		}
		for _, v := range hiddenViews {
			total, _, lines := scoreAll(readFile(t, h.file), v.read, byClient)
			sound(t, h.file+v.suffix, total, h.wrongHidden)
			compare(t, "testdata/"+h.file+v.suffix+".golden", strings.Join(lines, "\n")+"\n")
		}
	}
}

// TestTopicThatPollsDoNotShow: a user who may not describe a topic is shown no offset of
// it, without a word. What its owners committed is then not known, and so no cause that
// rests on their silence is told with confidence.
func TestTopicThatPollsDoNotShow(t *testing.T) {
	told := func(c *inspect.Case) (silent, said int) {
		for _, tl := range Build(c, Options{}) {
			for i := range tl.Rebalances {
				for _, d := range tl.Rebalances[i].Members.Left {
					if (d.Cause == inspect.SessionExpired || d.Cause == inspect.PollIntervalExceeded) && d.Confidence != inspect.Low && d.Returned != inspect.ReturnedNewProcess { // its successor was seen beside it
						silent++
					}
				}
				said += strings.Count(strings.Join(tl.Rebalances[i].Evidence, "\n"), "polls show no committed offset of its topic ")
			}
		}
		return silent, said
	}
	before, after, reasons := 0, 0, 0
	for _, l := range readFile(t, holdouts[0].file) {
		c := given(l)
		n, said := told(c)
		if said > 0 {
			t.Errorf("%s: polls that say nothing of topics are taken to show none", l.Group)
		}
		before += n
		for i := range c.OffsetPolls {
			c.OffsetPolls[i].Topics = []string{"another"}
		}
		n, said = told(c)
		after, reasons = after+n, reasons+said
	}
	if before < 10 || after > 0 || reasons == 0 {
		t.Errorf("by silence: %d where its topic is shown, %d where it is not (%d times said)", before, after, reasons)
	}
}
