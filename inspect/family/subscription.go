package family

import "encoding/binary"

// subscription is the part of a ConsumerProtocolSubscription that tells libraries
// apart.
type subscription struct {
	version  int16
	topics   []string
	userData []byte  // nil null
	rack     *string // v3
	// generation is GenerationId (v2): -1 where there is none.
	generation int32
	cut        bool   // v1 that ends where its owned partitions should begin, as kafka-go writes it
	assignor   string // selected in the group; not in the bytes
}

// readSubscription reads the bytes of a member's subscription; false where they are
// missing or of another form.
func readSubscription(b []byte) (subscription, bool) {
	r := reader{b: b}
	s := subscription{version: r.int16(), generation: -1}
	n := r.int32()
	if r.bad || s.version < 0 || n < 0 || int(n) > len(b) {
		return s, false
	}
	for range n {
		s.topics = append(s.topics, r.text())
	}
	s.userData = r.bytes()
	if r.bad {
		return s, false
	}
	if s.version == 0 {
		return s, true
	}
	if len(r.b) == 0 {
		s.cut = true
		return s, true
	}
	r.assignment()
	if s.version >= 2 {
		s.generation = r.int32()
	}
	if s.version >= 3 {
		s.rack = r.nullableText()
	}
	return s, !r.bad
}

// reader takes big-endian fields off a slice; bad is set for good once it is short.
type reader struct {
	b   []byte
	bad bool
}

// take is the next n bytes, nil where there are fewer.
func (r *reader) take(n int) []byte {
	if r.bad || n < 0 || n > len(r.b) {
		r.bad = true
		return nil
	}
	out := r.b[:n:n]
	r.b = r.b[n:]
	return out
}

// int16 is the next two bytes.
func (r *reader) int16() int16 {
	if b := r.take(2); b != nil {
		return int16(binary.BigEndian.Uint16(b))
	}
	return 0
}

// int32 is the next four bytes.
func (r *reader) int32() int32 {
	if b := r.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

// assignment passes over topics with their partitions.
func (r *reader) assignment() {
	for n := r.int32(); n > 0 && !r.bad; n-- {
		r.text()
		for k := r.int32(); k > 0 && !r.bad; k-- {
			r.int32()
		}
	}
}

// text is a string with an int16 length.
func (r *reader) text() string { return string(r.take(int(r.int16()))) }

// nullableText is a string with an int16 length, nil for -1.
func (r *reader) nullableText() *string {
	n := r.int16()
	if n == -1 {
		return nil
	}
	s := string(r.take(int(n)))
	return &s
}

// bytes is a byte string with an int32 length, nil for -1.
func (r *reader) bytes() []byte {
	n := r.int32()
	if n == -1 {
		return nil
	}
	b := r.take(int(n))
	if b == nil && !r.bad {
		b = []byte{}
	}
	return b
}
