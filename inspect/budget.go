package inspect

import (
	"errors"
	"fmt"
	"io"
)

// The bounds of what reading a case file may cost: memory is estimated while the text
// streams by, before anything of it is decoded. A real case of n bytes, packed, costs
// about 200 n; a hostile one packs a thousand times better and is all small objects.
const (
	freeBudget   = 96 << 20 // that any file may cost, in bytes
	packedBudget = 512      // more for each byte of the file
	textBudget   = 24       // and for each byte of text, whichever is less

	byteCost   = 3    // a byte of text: it is buffered, and the buffer grows by doubling
	stringCost = 32   // a string, key or value
	arrayCost  = 64   // an array
	objectCost = 1024 // an object, or an element that is null: the largest type that a list holds
)

var (
	errCostly = errors.New("holds more small objects, or longer texts, than a case does")
	errLarge  = fmt.Errorf("unpacks to over %d MiB: not read", MaxCaseSize>>20)
)

// budget is a reader of JSON text that fails as soon as the text costs more to decode
// than its file may cost.
type budget struct {
	r      io.Reader // text
	packed *counter  // what has been read of the file

	text, cost int64
	inString   bool
	escaped    bool
	last       byte // structural byte before
}

// counter counts what is read from a file.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

// Read passes the text on.
func (g *budget) Read(b []byte) (int, error) {
	n, err := g.r.Read(b)
	for _, c := range b[:n] {
		g.see(c)
	}
	g.text += int64(n)
	switch {
	case g.text > MaxCaseSize:
		return 0, errLarge
	case g.cost+byteCost*g.text > freeBudget+min(packedBudget*g.packed.n, textBudget*g.text):
		return 0, fmt.Errorf("%w (after %d MiB of text): not read", errCostly, g.text>>20)
	}
	return n, err
}

// see counts what a byte begins. What is no JSON is counted wrongly and refused later.
func (g *budget) see(c byte) {
	if g.inString {
		switch {
		case g.escaped:
			g.escaped = false
		case c == '\\':
			g.escaped = true
		case c == '"':
			g.inString = false
		}
		return
	}
	switch c {
	case '"':
		g.inString = true
		g.cost += stringCost
	case '{':
		g.cost += objectCost
	case '[':
		g.cost += arrayCost
	case 'n':
		if g.last == '[' || g.last == ',' { // a value of a key comes after a colon
			g.cost += objectCost
		}
		return
	case ',', ':', ']', '}':
	default:
		return
	}
	g.last = c
}
