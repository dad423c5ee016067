package offsetlog

import (
	"encoding/binary"
	"hash/crc32"
	"math"

	"github.com/kgdiag/kgdiag/inspect"
)

// The layout of a record batch, magic 2 (KIP-98): the first 12 bytes say where it
// starts and how long it is, the checksum covers everything from the attributes.
const (
	batchPrefix = 12 // base offset, length
	batchMagic  = 16
	batchCRC    = 17
	batchAttrs  = 21
	batchHeader = 61
)

// The attributes of a batch.
const (
	attrCodec         = 0x07
	attrLogAppendTime = 0x08
	attrTransactional = 0x10
	attrControl       = 0x20
	attrDeleteHorizon = 0x40 // baseTimestamp is not the first record's time
)

// maxDelta is more records than any batch of the coordinator holds: a last offset
// beyond it is damage, and must not make a scan skip what follows.
const maxDelta = 1 << 24

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// batch is the header of one record batch, and its records as they came.
type batch struct {
	base, last int64 // offsets; last also counts records that compaction removed
	size       int   // bytes in all
	epoch      int32 // partition leader epoch
	attrs      int16
	baseTime   int64
	maxTime    int64
	producer   int64
	count      int32 // records that are left
	body       []byte
}

// batchState says what batch.next found.
type batchState int

const (
	batchGood    batchState = iota
	batchEnd                // nothing more, or a batch that is cut off
	batchCorrupt            // the checksum or a length does not hold: only base and size are to be trusted
	batchOld                // a message of magic 0 or 1, from before Kafka 0.11
)

// next reads the batch at the front of b into out and answers what follows it.
func (out *batch) next(b []byte) ([]byte, batchState) {
	if len(b) <= batchMagic {
		return nil, batchEnd
	}
	base := int64(binary.BigEndian.Uint64(b))
	length := int(int32(binary.BigEndian.Uint32(b[8:])))
	if base < 0 || base > math.MaxInt64-maxDelta || length <= batchMagic-batchPrefix || length > len(b)-batchPrefix {
		return nil, batchEnd
	}
	raw, rest := b[:batchPrefix+length], b[batchPrefix+length:]
	*out = batch{base: base, last: base, size: len(raw)}
	if raw[batchMagic] < 2 {
		return rest, batchOld
	}
	if len(raw) < batchHeader || raw[batchMagic] != 2 {
		return rest, batchCorrupt
	}
	out.epoch = int32(binary.BigEndian.Uint32(raw[12:]))
	out.attrs = int16(binary.BigEndian.Uint16(raw[batchAttrs:]))
	delta := int32(binary.BigEndian.Uint32(raw[23:]))
	out.baseTime = int64(binary.BigEndian.Uint64(raw[27:]))
	out.maxTime = int64(binary.BigEndian.Uint64(raw[35:]))
	out.producer = int64(binary.BigEndian.Uint64(raw[43:]))
	out.count = int32(binary.BigEndian.Uint32(raw[57:]))
	out.body = raw[batchHeader:]
	if delta >= 0 && delta < maxDelta {
		out.last = base + int64(delta)
	}
	if crc32.Checksum(raw[batchAttrs:], castagnoli) != binary.BigEndian.Uint32(raw[batchCRC:]) || out.last-base != int64(delta) || out.count < 0 || int64(out.count) > int64(delta)+1 {
		return rest, batchCorrupt
	}
	return rest, batchGood
}

// firstTime is the time of the batch's first record in milliseconds; the newest
// record's where compaction has put its own mark in the place (KIP-534).
func (b *batch) firstTime() int64 {
	if b.attrs&(attrDeleteHorizon|attrLogAppendTime) != 0 {
		return b.maxTime
	}
	return b.baseTime
}

// entry is one record of a batch. Key and value are parts of the batch.
type entry struct {
	offset int64
	time   int64 // milliseconds
	key    []byte
	value  []byte // nil: tombstone
}

// varint is binary.Varint with a short way for the one and two bytes that nearly
// all lengths and deltas take.
func varint(b []byte) (int64, int) {
	if len(b) > 1 {
		if b[0] < 0x80 {
			return int64(b[0]>>1) ^ -int64(b[0]&1), 1
		}
		if b[1] < 0x80 {
			u := uint64(b[0]&0x7f) | uint64(b[1])<<7
			return int64(u>>1) ^ -int64(u&1), 2
		}
	}
	return binary.Varint(b)
}

// cut splits the record at the front of body from the rest; ok is false where the
// bytes do not hold together.
func cut(body []byte) (rec, rest []byte, ok bool) {
	n, w := varint(body)
	if w <= 0 || n < 0 || n > int64(len(body)-w) {
		return nil, nil, false
	}
	return body[w : w+int(n)], body[w+int(n):], true
}

// readEntry reads offset, time and key of a record that cut has split off, and
// answers what follows the key: the value is left for readValue, since most
// records are passed over by their key.
func (b *batch) readEntry(rec []byte) (e entry, after []byte, ok bool) {
	if len(rec) < 4 {
		return e, nil, false
	}
	rec = rec[1:] // attributes, unused
	time, w1 := varint(rec)
	if w1 <= 0 {
		return e, nil, false
	}
	offset, w2 := varint(rec[w1:])
	if w2 <= 0 {
		return e, nil, false
	}
	e.offset, e.time = b.base+offset, b.baseTime+time
	if b.attrs&attrLogAppendTime != 0 {
		e.time = b.maxTime
	}
	e.key, after, ok = blob(rec[w1+w2:])
	return e, after, ok
}

// commitOf is the group of a record that cut has split off, if it is an offset commit, by
// the shortest way there. What does not hold together is none, and left to readEntry.
func commitOf(rec []byte) (group []byte, ok bool) {
	if len(rec) < 8 {
		return nil, false
	}
	at := 1       // past the attributes
	for range 3 { // time, offset, length of the key
		end := min(at+5, len(rec))
		for at < end && rec[at] >= 0x80 {
			at++
		}
		at++
	}
	if at+4 > len(rec) || rec[at] != 0 || rec[at+1] > byte(inspect.RecOffsetCommit) {
		return nil, false
	}
	n := int(rec[at+2])<<8 | int(rec[at+3])
	if at += 4; at+n > len(rec) {
		return nil, false
	}
	return rec[at : at+n], true
}

// blob reads bytes behind a varint length; -1 is null.
func blob(b []byte) (out, rest []byte, ok bool) {
	n, w := varint(b)
	switch {
	case w <= 0 || n > int64(len(b)-w) || n < -1:
		return nil, nil, false
	case n < 0:
		return nil, b[w:], true
	}
	return b[w : w+int(n) : w+int(n)], b[w+int(n):], true
}
