package credentials

import "encoding/binary"

// soundCache reports whether a credential cache's counts fit into its bytes (the file
// format is MIT krb5's, doc/formats/ccache_file_format): the library's reader makes room
// for as many addresses as the file says, 27 GB of a damaged one.
func soundCache(b []byte) bool {
	if len(b) < 4 || b[0] != 5 || b[1] < 1 || b[1] > 4 {
		return false
	}
	c := cacheBytes{rest: b[2:], version: b[1], order: binary.BigEndian}
	if c.version < 3 {
		c.order = binary.NativeEndian
	}
	if c.version == 4 {
		c.skip(c.short())
	}
	c.principal()
	for !c.torn && len(c.rest) > 0 {
		c.credential()
	}
	return !c.torn
}

// cacheBytes are the bytes of a cache that are still to be walked over.
type cacheBytes struct {
	rest    []byte
	version byte
	order   binary.ByteOrder
	torn    bool // there were fewer than a count said
}

func (c *cacheBytes) skip(n int) []byte {
	if n < 0 || n > len(c.rest) {
		c.torn, c.rest = true, nil
		return nil
	}
	b := c.rest[:n]
	c.rest = c.rest[n:]
	return b
}

func (c *cacheBytes) short() int {
	if b := c.skip(2); b != nil {
		return int(c.order.Uint16(b))
	}
	return 0
}

func (c *cacheBytes) long() int {
	if b := c.skip(4); b != nil {
		return int(int32(c.order.Uint32(b)))
	}
	return 0
}

func (c *cacheBytes) data() { c.skip(c.long()) }

// many walks over as many entries as the next count says, each of at least so many bytes.
func (c *cacheBytes) many(n, least int, entry func()) {
	if n < 0 || n > len(c.rest)/least {
		c.skip(-1)
		return
	}
	for range n {
		entry()
	}
}

func (c *cacheBytes) principal() {
	if c.version != 1 {
		c.long() // name type
	}
	n := c.long()
	if c.version == 1 { // the realm is counted
		n--
	}
	c.data()
	c.many(n, 4, c.data)
}

func (c *cacheBytes) credential() {
	c.principal()
	c.principal()
	c.short() // key type, twice in version 3
	if c.version == 3 {
		c.short()
	}
	c.data()
	c.skip(4*4 + 1 + 4) // times, is a session key, flags
	tagged := func() { c.short(); c.data() }
	c.many(c.long(), 6, tagged) // addresses
	c.many(c.long(), 6, tagged) // authorization data
	c.data()
	c.data()
}
