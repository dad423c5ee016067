package offsetlog

import (
	"encoding/base64"
	"encoding/binary"
)

// wire reads Kafka's primitive types from b. The first read that does not fit
// makes it bad; every later read then answers the zero value, so that a decoder
// checks once, at its end. It never allocates by a length that b has not got.
type wire struct {
	b    []byte
	flex bool // compact lengths and tagged fields
	bad  bool
	in   *interner // nil: every string is its own copy
}

func (w *wire) fail() {
	w.bad = true
	w.b = nil
}

// take cuts n bytes off the front, or fails.
func (w *wire) take(n int) []byte {
	if n < 0 || n > len(w.b) {
		w.fail()
		return nil
	}
	out := w.b[:n:n]
	w.b = w.b[n:]
	return out
}

func (w *wire) int8() int8 {
	if b := w.take(1); b != nil {
		return int8(b[0])
	}
	return 0
}

func (w *wire) int16() int16 {
	if b := w.take(2); b != nil {
		return int16(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (w *wire) int32() int32 {
	if b := w.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (w *wire) int64() int64 {
	if b := w.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

// uvarint reads an unsigned varint of at most 32 bits, the only width that Kafka's
// compact lengths and tags have.
func (w *wire) uvarint() uint32 {
	v, n := binary.Uvarint(w.b)
	if n <= 0 || n > 5 || v > 1<<32-1 {
		w.fail()
		return 0
	}
	w.b = w.b[n:]
	return uint32(v)
}

// length reads the length of a string (wide false) or of bytes or an array (wide
// true); -1 is null.
func (w *wire) length(wide bool) int {
	switch {
	case w.flex:
		return int(int64(w.uvarint()) - 1)
	case wide:
		return int(w.int32())
	default:
		return int(w.int16())
	}
}

// null reads a nullable string; nil is null.
func (w *wire) null() *string {
	n := w.length(false)
	if n < -1 {
		w.fail()
	}
	if n < 0 || w.bad {
		return nil
	}
	b := w.take(n)
	if w.bad {
		return nil
	}
	s := w.in.string(b)
	return &s
}

// str reads a string that must not be null.
func (w *wire) str() string {
	b := w.take(w.length(false))
	return w.in.string(b)
}

// bytes reads a byte array that must not be null, as a copy.
func (w *wire) bytes() []byte {
	b := w.take(w.length(true))
	if len(b) == 0 {
		return nil
	}
	return append([]byte(nil), b...)
}

// count reads the length of an array that must not be null, of elements that take
// at least size bytes each. More elements than bytes are left is malformed, so
// the caller may allocate by the answer.
func (w *wire) count(size int) int {
	n := w.length(true)
	if n < 0 || n > len(w.b)/size {
		w.fail()
		return 0
	}
	return n
}

// strs reads an array of strings; never nil unless bad.
func (w *wire) strs() []string {
	return list(w, 1, (*wire).str)
}

// ints reads an array of int32; never nil unless bad.
func (w *wire) ints() []int32 {
	n := w.count(4)
	if w.bad {
		return nil
	}
	out := make([]int32, n)
	for i := range out {
		out[i] = w.int32()
	}
	return out
}

// uuid reads a topic id and prints it as Kafka does: base64url without padding.
func (w *wire) uuid() string {
	b := w.take(16)
	if b == nil {
		return ""
	}
	var buf [22]byte
	base64.RawURLEncoding.Encode(buf[:], b)
	return w.in.string(buf[:])
}

// tags reads the tagged fields that close a flexible structure. Fields that the
// caller knows are handed to known with w narrowed to the field; unknown tags are
// passed over, as KIP-482 wants. Non-flexible structures have none.
func (w *wire) tags(known func(tag uint32, field *wire)) {
	if !w.flex {
		return
	}
	for n := w.uvarint(); n > 0 && !w.bad; n-- {
		tag := w.uvarint()
		size := w.uvarint()
		if int64(size) > int64(len(w.b)) {
			w.fail()
			return
		}
		rest := w.b[size:]
		if known != nil {
			w.b = w.b[:size]
			known(tag, w)
		}
		if !w.bad {
			w.b = rest
		}
	}
}

// end closes a structure without known tagged fields.
func (w *wire) end() { w.tags(nil) }

// list reads an array whose elements take at least size bytes each.
func list[T any](w *wire, size int, one func(*wire) T) []T {
	n := w.count(size)
	if w.bad {
		return nil
	}
	out := make([]T, 0, n)
	for ; n > 0 && !w.bad; n-- {
		out = append(out, one(w))
	}
	return out
}

// interner keeps one copy of each string that repeats from record to record:
// groups, topics, members, hosts. It holds a bounded number, so that a hostile or
// very wide log does not make it grow without end.
type interner struct{ m map[string]string }

// maxInterned bounds the strings of an interner, maxInternedLen the length of each.
const (
	maxInterned    = 1 << 14
	maxInternedLen = 256
)

func newInterner() *interner { return &interner{m: make(map[string]string)} }

// string is b as a string, shared with earlier equal ones where possible. A nil
// interner copies.
func (in *interner) string(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if in == nil || len(b) > maxInternedLen {
		return string(b)
	}
	if s, ok := in.m[string(b)]; ok {
		return s
	}
	s := string(b)
	if len(in.m) < maxInterned {
		in.m[s] = s
	}
	return s
}
