package offsetlog

import (
	"encoding/binary"
	"testing"
)

func FuzzVarint(f *testing.F) {
	for _, b := range [][]byte{{}, {0}, {0, 0}, {0x80}, {0x81, 1}, {0xff, 0x7f, 1}, {0xff, 0xff, 0x7f}, {0x7f, 0x80}} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, n := varint(b)
		if wv, wn := binary.Varint(b); v != wv || n != wn {
			t.Errorf("% x: %d in %d bytes, want %d in %d", b, v, n, wv, wn)
		}
	})
}
