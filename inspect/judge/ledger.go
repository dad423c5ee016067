package judge

import (
	"cmp"
	"encoding/binary"
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/membership"
)

// How much a Ledger keeps of a partition between two changes of members, beside what
// a Thinner keeps after the one and before the other.
const (
	ledgerFull = 256        // commits from which on they are thinned
	ledgerFew  = 32         // spread over the whole time
	ledgerGaps = mostPauses // longest pauses of which both ends are kept
)

// Ledger keeps the offset commits of one group as they come: all while they are few,
// and of many what Build needs, so that memory depends on partitions and changes of
// members and not on how long it goes on. Between two changes a partition takes about
// 2 kB. Dropped commits are counted in the next one (OffsetCommit.Thinned). What clients
// attach to a commit, and when it expires, is not kept: no verdict reads it.
//
// The zero Ledger is ready.
type Ledger struct {
	parts   map[membership.TopicPartition]*page
	forms   []form
	changed int64 // when members changed last, in milliseconds
	group   string
}

// form is what the commits of a partition have in common.
type form struct {
	kind             inspect.RecordType
	version          int16
	partition, epoch int32 // of the offsets log
	leaderEpoch      int32
	topicID          string
}

// entry is one commit; times are in milliseconds, 0 unknown.
type entry struct {
	log, at, offset, made, after, thinned int64
	form                                  int
}

// page is what is kept of one partition: entries, each written as the difference from the
// one before it.
type page struct {
	data    []byte
	from    int // where those since the last change begin, n of them
	n       int
	last    entry
	changed int64 // the change that they came after
}

// Add keeps an offset commit, in the order of its partition. It reports false for any
// other record, a tombstone included.
func (l *Ledger) Add(r *inspect.Record) bool {
	if r.Commit == nil || r.Type > inspect.RecOffsetCommit {
		return false
	}
	key := membership.TopicPartition{Topic: r.Topic, Partition: r.TopicPartition}
	p := l.parts[key]
	if p == nil {
		if l.parts == nil {
			l.parts = map[membership.TopicPartition]*page{}
		}
		p = &page{changed: l.changed}
		l.parts[key] = p
	}
	if p.changed != l.changed {
		p.from, p.n, p.changed = len(p.data), 0, l.changed
	}
	l.group = r.Group
	c := r.Commit
	p.add(entry{r.Offset, millis(r.Time), c.Offset, millis(c.Time), millis(c.After), c.Thinned,
		l.formOf(form{r.Type, r.Version, r.Partition, r.LeaderEpoch, c.LeaderEpoch, c.TopicID}, p.last.form)})
	if p.n >= ledgerFull {
		p.rewrite(thinPage(p.since(), p.changed))
	}
	return true
}

// Change tells that members came or went: the commits before it and after it are kept.
func (l *Ledger) Change(at time.Time) { l.changed = at.UnixMilli() }

// Records are the commits that are kept, those of each partition in order.
func (l *Ledger) Records() []inspect.Record {
	var out []inspect.Record
	for k, p := range l.parts {
		read(p.data, func(e entry) {
			f := l.forms[e.form]
			out = append(out, inspect.Record{Type: f.kind, Version: f.version, Partition: f.partition, LeaderEpoch: f.epoch, Offset: e.log, Time: inspect.AtMillis(e.at),
				Group: l.group, Topic: k.Topic, TopicPartition: k.Partition,
				Commit: &inspect.OffsetCommit{Offset: e.offset, LeaderEpoch: f.leaderEpoch, TopicID: f.topicID, Time: inspect.AtMillis(e.made), After: inspect.AtMillis(e.after), Thinned: e.thinned}})
		})
	}
	return out
}

// Forget drops what is older than a moment, but for the newest of each partition.
func (l *Ledger) Forget(before time.Time) {
	cut := before.UnixMilli()
	for _, p := range l.parts {
		old := -1 // entries before the cut
		read(p.data, func(e entry) {
			if e.at < cut {
				old++
			}
		})
		if old < 1 {
			continue
		}
		fresh := page{changed: p.changed}
		i, start := 0, p.from
		readAt(p.data, func(at int, e entry) {
			if at == start {
				fresh.from, fresh.n = len(fresh.data), 0
			}
			if i >= old {
				fresh.add(e)
			}
			i++
		})
		if start == len(p.data) {
			fresh.from, fresh.n = len(fresh.data), 0
		}
		*p = fresh
	}
}

// formOf is the number of a form; last is that of the commit before, most often the same.
func (l *Ledger) formOf(f form, last int) int {
	if last < len(l.forms) && l.forms[last] == f {
		return last
	}
	i := slices.Index(l.forms, f)
	if i < 0 {
		i = len(l.forms)
		l.forms = append(l.forms, f)
	}
	return i
}

// millis is a time in milliseconds; 0 unknown.
func millis(t inspect.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// The flags of an entry, below the number of those thinned out before it.
const (
	entryWhole = 1 << iota // no difference: the first since a change
	entryAfter
	entryForm
	entryFlags = iota
)

// add writes an entry.
func (p *page) add(e entry) {
	flags := uint64(e.thinned) << entryFlags
	last := p.last
	if p.n == 0 {
		flags, last = flags|entryWhole, entry{}
	}
	if e.after != 0 {
		flags |= entryAfter
	}
	if e.form != last.form {
		flags |= entryForm
	}
	b := binary.AppendUvarint(p.data, flags)
	b = binary.AppendVarint(b, e.log-last.log)
	b = binary.AppendVarint(b, e.at-last.at)
	b = binary.AppendVarint(b, e.offset-last.offset)
	b = binary.AppendVarint(b, e.made-e.at)
	if e.after != 0 {
		b = binary.AppendVarint(b, e.after-e.at)
	}
	if e.form != last.form {
		b = binary.AppendUvarint(b, uint64(e.form))
	}
	p.data, p.last = b, e
	p.n++
}

// read gives the entries that add has written.
func read(data []byte, f func(entry)) { readAt(data, func(_ int, e entry) { f(e) }) }

// readAt gives them with where each begins.
func readAt(data []byte, f func(at int, e entry)) {
	var e entry
	at := 0
	signed := func() int64 {
		v, n := binary.Varint(data[at:])
		at += n
		return v
	}
	unsigned := func() uint64 {
		v, n := binary.Uvarint(data[at:])
		at += n
		return v
	}
	for at < len(data) {
		begin, flags := at, unsigned()
		if flags&entryWhole != 0 {
			e = entry{}
		}
		e.thinned = int64(flags >> entryFlags)
		e.log += signed()
		e.at += signed()
		e.offset += signed()
		e.made, e.after = e.at+signed(), 0
		if flags&entryAfter != 0 {
			e.after = e.at + signed()
		}
		if flags&entryForm != 0 {
			e.form = int(unsigned())
		}
		f(begin, e)
	}
}

// since are the entries since the last change.
func (p *page) since() []entry {
	out := make([]entry, 0, p.n)
	read(p.data[p.from:], func(e entry) { out = append(out, e) })
	return out
}

// rewrite puts others in their place.
func (p *page) rewrite(list []entry) {
	p.data, p.n = p.data[:p.from], 0
	for _, e := range list {
		p.add(e)
	}
}

// thinPage keeps of the commits since a change what Build needs.
func thinPage(in []entry, changed int64) []entry {
	keep := make([]bool, len(in))
	last := int64(0)
	every := max(sparseEvery.Milliseconds(), (in[len(in)-1].at-in[0].at)/ledgerFew)
	for i, e := range in {
		soon := e.at-changed <= freshFor.Milliseconds() && e.at-last >= freshEvery.Milliseconds()
		if keep[i] = i < freshCount || soon || e.at-last >= every || i >= len(in)-ringSize; keep[i] {
			last = e.at
		}
	}
	for _, i := range longestGaps(in) {
		keep[i-1], keep[i] = true, true
	}
	for i := len(in) - 1; i > 0; i-- { // the pace up to the last one that moved an offset
		if in[i].offset != in[i-1].offset {
			for k := max(0, i-recent); k <= i; k++ {
				keep[k] = true
			}
			break
		}
	}
	out := in[:0]
	missing := int64(0)
	for i, e := range in {
		if !keep[i] {
			missing += 1 + e.thinned
			continue
		}
		e.thinned, missing = e.thinned+missing, 0
		out = append(out, e)
	}
	return out
}

// longestGaps are the commits that end the longest pauses, none that thinning made.
func longestGaps(in []entry) []int {
	var ends []int
	for i := 1; i < len(in); i++ {
		if in[i].thinned == 0 && in[i].at-in[i-1].at >= gapKept.Milliseconds() {
			ends = append(ends, i)
		}
	}
	slices.SortFunc(ends, func(a, b int) int {
		return cmp.Or(cmp.Compare(in[b].at-in[b-1].at, in[a].at-in[a-1].at), cmp.Compare(b, a))
	})
	return ends[:min(len(ends), ledgerGaps)]
}
