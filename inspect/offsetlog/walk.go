package offsetlog

import (
	"encoding/binary"
	"errors"
	"sync"
	"time"
	"unsafe"

	"github.com/kgdiag/kgdiag/inspect"
)

// Filter says which records a scan hands out. What it leaves out is passed over
// after a look at the key, before anything is decoded.
type Filter struct {
	// Groups are the groups wanted; nil means all.
	Groups map[string]bool
	// Commits asks for offset commits (types 0 and 1) too.
	Commits bool
	// CommitsOf narrows the commits to these groups; nil means those of Groups.
	CommitsOf map[string]bool
	// CommitsSince leaves out commits written before it; zero means none.
	CommitsSince time.Time
}

// wants looks at a key only. Keys that cannot be read are wanted, so that they are
// decoded and counted as malformed.
func (f *Filter) wants(key []byte, at int64) bool {
	t, group, ok := PeekKey(key)
	if !ok {
		return true
	}
	if t == inspect.RecOffsetCommit || t == inspect.RecLegacyOffsetCommit {
		if !f.Commits || (f.CommitsOf != nil && !f.CommitsOf[string(group)]) {
			return false
		}
		if !f.CommitsSince.IsZero() && at < f.CommitsSince.UnixMilli() {
			return false
		}
	}
	return f.Groups == nil || f.Groups[string(group)]
}

// itemKind says what an item means for the transaction of its producer.
type itemKind uint8

const (
	plain       itemKind = iota // counts at once
	provisional                 // counts if its transaction commits
	committed                   // a commit marker: no record
	aborted                     // an abort marker: no record
)

// item is what a walk hands on: a record that the filter wants, or the marker that
// ends a transaction.
type item struct {
	kind     itemKind
	producer int64
	rec      inspect.Record
}

// itemBytes is what an item takes while it waits to be handed on.
const itemBytes = int64(unsafe.Sizeof(item{}))

// span is the stretch of a partition that a walk is to take: batches that start in
// [from, to), and of them the records in [low, high).
type span struct{ from, to, low, high int64 }

// found is what a walk over one span has seen.
type found struct {
	items     []item
	records   int64
	bytes     int64
	unknown   int64
	malformed int64
	corrupt   int64 // batches

	batches   int64
	first     int64 // base offset of the first batch; -1 none
	firstTime int64
	next      int64 // where the walk has got to: one past its last batch
	beyond    int64 // base offset of the first batch at or past the span's end; -1 not seen

	// completeFrom is where the log goes on after the last hole inside the walk, -1
	// without one; hole means that it is still to be found by the next batch.
	completeFrom int64
	completeTime int64
	hole         bool

	newest, later stamp // of the walk; of the first batch past the scan's range
	last          stamp // of the walk's last batch
	back          jump  // the farthest
}

// time notes the time of a batch.
func (f *found) time(s stamp) {
	if j := s.from(f.last); j.by > f.back.by {
		f.back = j
	}
	if f.last = s; s.millis > f.newest.millis {
		f.newest = s
	}
}

// itemPool keeps the item lists of chunks that have been delivered.
var itemPool = sync.Pool{New: func() any { return new([]item) }}

func newFound(from int64) *found {
	return &found{items: *itemPool.Get().(*[]item), first: -1, next: from, beyond: -1, completeFrom: -1}
}

// recycle gives the items back; f must not be used after it.
func (f *found) recycle() {
	clear(f.items)
	items := f.items[:0]
	f.items = nil
	itemPool.Put(&items)
}

// walker walks fetched batches in place. One goroutine owns it.
type walker struct {
	filter  *Filter
	few     *sieve // lets the filter's groups through; nil: there are too many for it
	inflate inflater
	dec     decoder
}

func newWalker(f *Filter) *walker {
	return &walker{filter: f, few: newSieve(f.Groups), dec: decoder{in: newInterner()}}
}

// sieve says of most groups that are not wanted that they are not, without looking them up.
type sieve [1024]bool

// fewGroups is up to how many groups a sieve is worth its while.
const fewGroups = len(sieve{}) / 4

func newSieve(groups map[string]bool) *sieve {
	if groups == nil || len(groups) > fewGroups {
		return nil
	}
	s := new(sieve)
	for id := range groups {
		s[meshOf([]byte(id))] = true
	}
	return s
}

// meshOf is where a group would fall through: ids differ at their end, and in their length.
func meshOf(group []byte) int {
	n := len(group)
	if n < 2 {
		return n
	}
	return (n + 31*int(group[n-1]) + 67*int(group[n-2])) % len(sieve{})
}

// passes reports a commit that nobody wants, by its key alone.
func (w *walker) passes(rec []byte) bool {
	group, ok := commitOf(rec)
	if !ok {
		return false
	}
	return !w.filter.Commits || w.few != nil && !w.few[meshOf(group)]
}

// walk takes the batches of a fetch into f, and reports whether the span is done.
func (w *walker) walk(records []byte, partition int32, s span, f *found) (done bool) {
	var b batch
	for len(records) > 0 {
		rest, state := b.next(records)
		if state == batchEnd {
			break
		}
		records = rest
		if b.base >= s.to {
			f.beyond = b.base
			if b.base >= s.high && state == batchGood {
				f.later = stamp{b.maxTime, b.base, b.epoch}
			}
			return true
		}
		if b.base < s.from && s.from > s.low || b.last < s.low || b.last < f.next && f.batches > 0 {
			f.next = max(f.next, b.last+1) // of the span before, or seen before
			continue
		}
		w.take(&b, state, partition, s, f)
	}
	return f.next >= s.to
}

// take counts one batch and hands on what the filter wants of it.
func (w *walker) take(b *batch, state batchState, partition int32, s span, f *found) {
	whole := state == batchGood && int64(b.count) == b.last-b.base+1
	if state == batchGood {
		f.time(stamp{b.maxTime, b.base, b.epoch})
	}
	switch {
	case f.first < 0:
		f.first, f.firstTime = max(b.base, s.low), b.firstTime()
	case f.hole || b.base > f.next:
		f.completeFrom, f.completeTime, f.hole = b.base, b.firstTime(), false
	}
	f.batches++
	f.bytes += int64(b.size)
	inside := b.base >= s.low && b.last < s.high
	if inside && state == batchGood {
		f.records += int64(b.count)
	}
	f.next = b.last + 1
	f.hole = !whole
	switch {
	case state != batchGood:
		f.corrupt++
	case b.attrs&attrControl != 0:
		w.marker(b, f)
	default:
		w.records(b, partition, s, f, !inside)
	}
}

// marker hands on the control record that ends a transaction. Other control
// records have no meaning in this topic.
func (w *walker) marker(b *batch, f *found) {
	rec, _, ok := cut(b.body)
	if !ok {
		return
	}
	e, _, ok := b.readEntry(rec)
	if !ok || len(e.key) < 4 {
		return
	}
	switch binary.BigEndian.Uint16(e.key[2:]) {
	case 0:
		f.items = append(f.items, item{kind: aborted, producer: b.producer})
	case 1:
		f.items = append(f.items, item{kind: committed, producer: b.producer})
	}
}

// records passes over the records of a batch and hands on those that are wanted;
// count says to count those in the range, since the batch reaches beyond it.
func (w *walker) records(b *batch, partition int32, s span, f *found, count bool) {
	body := b.body
	if codec := b.attrs & attrCodec; codec != 0 {
		var err error
		if body, err = w.inflate.inflate(body, codec); err != nil {
			f.corrupt++
			f.hole = true
			return
		}
	}
	kind := plain
	if b.attrs&attrTransactional != 0 {
		kind = provisional
	}
	short := !count && (!w.filter.Commits || w.few != nil)
	for n := b.count; n > 0; n-- {
		rec, rest, ok := cut(body)
		if !ok {
			f.malformed += int64(n)
			return
		}
		if body = rest; short && w.passes(rec) {
			continue
		}
		e, after, ok := b.readEntry(rec)
		if !ok {
			f.malformed++
			continue
		}
		if e.offset < s.low || e.offset >= s.high {
			continue
		}
		if count {
			f.records++
		}
		if !w.filter.wants(e.key, e.time) {
			continue
		}
		if e.value, _, ok = blob(after); !ok {
			f.malformed++
			continue
		}
		w.hand(b, &e, kind, partition, f)
	}
}

// hand decodes a wanted record.
func (w *walker) hand(b *batch, e *entry, kind itemKind, partition int32, f *found) {
	f.items = append(f.items, item{kind: kind, producer: b.producer})
	rec := &f.items[len(f.items)-1].rec
	if err := w.dec.decode(rec, e.key, e.value); err != nil {
		f.items = f.items[:len(f.items)-1]
		if errors.Is(err, ErrMalformed) {
			f.malformed++
		} else {
			f.unknown++
		}
		return
	}
	rec.Partition, rec.Offset, rec.LeaderEpoch = partition, e.offset, b.epoch
	rec.Time = inspect.AtMillis(e.time)
}

// transactions holds records of transactions that are still open, by producer, and
// lets them go when their marker comes. Records of aborted transactions are
// dropped. The alternative, a read_committed fetch with its list of aborted
// transactions, ends at the last stable offset: one hanging transaction would hide
// every rebalance that came after it.
type transactions struct {
	open map[int64][]inspect.Record
}

// pass hands it on if it counts now, and remembers or forgets it otherwise.
func (t *transactions) pass(it *item, fn func(inspect.Record) error) error {
	switch it.kind {
	case plain:
		return fn(it.rec)
	case provisional:
		if t.open == nil {
			t.open = make(map[int64][]inspect.Record)
		}
		t.open[it.producer] = append(t.open[it.producer], it.rec)
	case aborted:
		delete(t.open, it.producer)
	case committed:
		held := t.open[it.producer]
		delete(t.open, it.producer)
		for _, rec := range held {
			if err := fn(rec); err != nil {
				return err
			}
		}
	}
	return nil
}

// held counts the records that wait for their marker.
func (t *transactions) held() (n int64) {
	for _, recs := range t.open {
		n += int64(len(recs))
	}
	return n
}
