package judge

import (
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// book writes the records of one hand-made group, in order of time.
type book struct {
	c        *inspect.Case
	offset   int64
	assignor string
	epoch    int32 // leader epoch of the batches
}

var bookStart = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func newBook() *book {
	return &book{c: &inspect.Case{Schema: inspect.CaseSchema}, assignor: "range"}
}

// clock is a moment some seconds after the start of the book.
func clock(at float64) inspect.Time {
	return inspect.At(bookStart.Add(time.Duration(at * float64(time.Second))).Round(time.Millisecond))
}

func (b *book) add(at float64, r inspect.Record) {
	r.Group, r.Partition, r.Offset, r.Time, r.LeaderEpoch = "g", 24, b.offset, clock(at), b.epoch
	b.offset++
	b.c.Records = append(b.c.Records, r)
}

// who is a member with partitions of topic t.
type who struct {
	id, client, instance, host string
	parts                      []int32
	topics                     []string
	session, rebalance         float64
}

func (b *book) generation(at float64, gen int32, members ...who) {
	proto := b.assignor
	g := &inspect.GroupMetadata{ProtocolType: "consumer", Generation: gen, Protocol: &proto, StateTime: clock(at - 0.005)}
	for _, w := range members {
		m := inspect.GroupMember{MemberID: w.id, ClientID: w.client, Host: w.host, Session: secs(or(w.session, 45)), Rebalance: secs(or(w.rebalance, 300)),
			Topics: w.topics}
		if m.Topics == nil {
			m.Topics = []string{"t"}
		}
		if m.Host == "" {
			m.Host = "10.0.0.1"
		}
		if w.instance != "" {
			m.InstanceID = &w.instance
		}
		if len(w.parts) > 0 {
			m.Assigned = []inspect.TopicPartitions{{Topic: "t", Partitions: w.parts}}
		}
		g.Members = append(g.Members, m)
	}
	if len(members) == 0 {
		g.Protocol = nil
	}
	b.add(at, inspect.Record{Type: inspect.RecGroupMetadata, Metadata: g})
}

func or(a, b float64) float64 {
	if a == 0 {
		return b
	}
	return a
}

// commits writes one commit of step records every so many seconds on a partition.
func (b *book) commits(from, to, every float64, part int32, offset, step int64) int64 {
	for at := from; at < to; at += every {
		offset += step
		b.commit(at, part, offset)
	}
	return offset
}

func (b *book) commit(at float64, part int32, offset int64) {
	b.add(at, inspect.Record{Type: inspect.RecOffsetCommit, Topic: "t", TopicPartition: part, Commit: &inspect.OffsetCommit{Offset: offset, TopicID: "T"}})
}

// interleave sorts the records by time and numbers them anew.
func (b *book) build() inspect.Timeline {
	sortBook(b)
	return Build(b.c, Options{})[0]
}
