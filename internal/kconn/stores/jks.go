package stores

import (
	"encoding/binary"
	"errors"
)

var errDamagedJKS = errors.New("damaged JKS file")

// checkJKS walks a JKS file and compares every length that it announces with what
// is there: the library reserves memory for as many certificates as a file claims.
func checkJKS(b []byte) error {
	w := jksWalker{b: b}
	w.skip(4) // magic
	version := w.number(4)
	entries := w.number(4)
	for range entries {
		tag := w.number(4)
		w.skip(w.number(2)) // alias
		w.skip(8)           // creation time
		certificates := uint32(1)
		if tag == 1 { // a private key; 2 is a trusted certificate
			w.skip(w.number(4))
			certificates = w.number(4)
		}
		for range certificates {
			if version == 2 {
				w.skip(w.number(2)) // its type, "X.509"
			}
			w.skip(w.number(4))
			if w.short {
				return errDamagedJKS
			}
		}
		if w.short {
			return errDamagedJKS
		}
	}
	if w.skip(20); w.short { // SHA-1 over all of it
		return errDamagedJKS
	}
	return nil
}

type jksWalker struct {
	b     []byte
	short bool // the file ends before what it announces
}

func (w *jksWalker) skip(n uint32) {
	if uint64(n) > uint64(len(w.b)) {
		w.short, w.b = true, nil
		return
	}
	w.b = w.b[n:]
}

// number reads a big-endian number of 2 or 4 bytes.
func (w *jksWalker) number(size int) uint32 {
	b := w.b
	if w.skip(uint32(size)); w.short {
		return 0
	}
	if size == 2 {
		return uint32(binary.BigEndian.Uint16(b))
	}
	return binary.BigEndian.Uint32(b)
}
