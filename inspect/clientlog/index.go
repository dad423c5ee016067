package clientlog

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// window is how many bytes of a text are compared at once, and stride how far apart
// the windows are that the first look takes: a text of window+stride-1 bytes is met
// at any offset.
const (
	window = 8
	stride = 4
	least  = window + stride - 1 // bytes that a text needs to be found by the first look
)

// index finds which of many texts may stand in a line, in one pass over it.
type index struct {
	sieve []uint64           // a bit for each hash of a window that some text has
	met   map[uint64]bool    // those windows, since the sieve alone lets some lines of others pass
	at    map[uint64][]int32 // by the window that stands for a text: the texts
}

const sieveBits = 20

func newIndex() *index {
	return &index{sieve: make([]uint64, 1<<sieveBits/64), met: map[uint64]bool{}, at: map[uint64][]int32{}}
}

func hash8(w uint64) uint64 { return w * 0x9e3779b97f4a7c15 >> (64 - sieveBits) }

// add enters a text under an id. It is found by least of its bytes, those whose
// windows the fewest other texts have.
func (x *index) add(id int32, text string, seen map[uint64]int) {
	best, cost := 0, -1
	for o := 0; o+least <= len(text); o++ {
		c := 0
		for i := range stride {
			c += seen[word(text[o+i:])]
		}
		if cost < 0 || c < cost {
			best, cost = o, c
		}
	}
	for i := range stride {
		h := hash8(word(text[best+i:]))
		x.met[word(text[best+i:])] = true
		x.sieve[h/64] |= 1 << (h % 64)
	}
	x.at[word(text[best:])] = append(x.at[word(text[best:])], id)
}

func word(s string) uint64 {
	return binary.LittleEndian.Uint64([]byte(s[:window]))
}

// countWindows counts in how many places each window stands.
func countWindows(seen map[uint64]int, text string) {
	for o := 0; o+window <= len(text); o++ {
		seen[word(text[o:])]++
	}
}

// may reports whether any text may stand in the line. It errs on one side alone.
func (x *index) may(line []byte) bool {
	for i := 0; i+window <= len(line); i += stride {
		w := binary.LittleEndian.Uint64(line[i:])
		h := hash8(w)
		if x.sieve[h/64]&(1<<(h%64)) != 0 && x.met[w] {
			return true
		}
	}
	return false
}

// candidates are the texts whose window stands in s, each once, in the order of s.
func (x *index) candidates(s string, into []int32) []int32 {
	for i := 0; i+window <= len(s); i++ {
		w := word(s[i:])
		h := hash8(w)
		if x.sieve[h/64]&(1<<(h%64)) == 0 {
			continue
		}
	next:
		for _, id := range x.at[w] {
			for _, had := range into {
				if had == id {
					continue next
				}
			}
			into = append(into, id)
		}
	}
	return into
}

// collector tells what a JVM's log of collections looks like; its lines are too
// short and too many for the index.
func collector(line []byte) bool {
	head := line[:min(len(line), 96)]
	return bytes.Contains(head, []byte("[GC")) || bytes.Contains(head, []byte("[Full GC")) || bytes.Contains(head, []byte("[gc"))
}

// load is how full the sieve is, in parts of a thousand, for the tests.
func (x *index) load() int {
	n := 0
	for _, w := range x.sieve {
		n += bits.OnesCount64(w)
	}
	return n * 1000 >> sieveBits
}

// longest is the longest of some literals.
func longest(literals []string) string {
	out := ""
	for _, l := range literals {
		if len(l) > len(out) {
			out = l
		}
	}
	return out
}
