package kconn

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The client opens a connection when it has a request for it, and whatever else it has
// for that broker waits until the connection stands. At a distance that is what a run
// takes its time for. So connections that will be needed are opened beforehand, and
// ApiVersions, with which the client begins each, is asked on them already.

const (
	// mostPrepared is up to how many brokers a cluster may have for a connection to be
	// opened to each of them as soon as Metadata names them.
	mostPrepared = 12
	// freshFor is how long a connection that nobody has used yet is trusted.
	freshFor = 30 * time.Second
)

// promise is a connection that is being opened.
type promise struct {
	done chan struct{}
	conn net.Conn
	err  error
	at   time.Time // when it stood
}

// prepare opens a connection that the next dial of the address will get.
func (d *dialer) prepare(addr string) {
	p := &promise{done: make(chan struct{})}
	d.mu.Lock()
	if d.over {
		d.mu.Unlock()
		return
	}
	d.ready[addr] = append(d.ready[addr], p)
	d.mu.Unlock()
	go func() {
		defer close(p.done)
		p.conn, p.err = d.establish(d.life, addr)
		p.at = time.Now()
	}()
}

// logIn has the client take the connection to a broker into use before it has anything to
// ask: it logs in with the first request only, and that takes two round trips or more.
// Without a login it does nothing.
func (d *dialer) logIn(cl *kgo.Client, broker int32) {
	if d.c.login.Mechanisms == nil {
		return
	}
	req := kmsg.NewPtrApiVersionsRequest()
	req.ClientSoftwareName, req.ClientSoftwareVersion = softwareName, softwareVersion(d.c.version)
	go func() { _, _ = cl.Broker(int(broker)).Request(d.life, req) }() // whoever asks in earnest is told what is wrong
}

// Warm opens a connection to a broker that a client will fetch from before long.
func (c Config) Warm(broker int32) {
	d := newDialer(c)
	d.mu.Lock()
	addr := ""
	for a, id := range d.ids {
		if id == broker {
			addr = a
		}
	}
	d.mu.Unlock()
	if addr != "" {
		d.prepare(addr)
	}
}

// take is the connection that was prepared first, once it stands; ok is false where
// there is none, or none that is fresh.
func (d *dialer) take(ctx context.Context, addr string) (conn net.Conn, ok bool, err error) {
	d.mu.Lock()
	if len(d.ready[addr]) == 0 {
		d.mu.Unlock()
		return nil, false, nil
	}
	p := d.ready[addr][0]
	d.ready[addr] = d.ready[addr][1:]
	d.mu.Unlock()
	select {
	case <-p.done:
	case <-ctx.Done():
		go p.discard()
		return nil, true, ctx.Err()
	}
	if p.err == nil && time.Since(p.at) > freshFor {
		p.discard()
		return nil, false, nil
	}
	return p.conn, true, p.err
}

// discard closes what nobody wants.
func (p *promise) discard() {
	if <-p.done; p.err == nil {
		p.conn.Close()
	}
}

// end closes the connections that nobody has asked for, and opens no more.
func (b *book) end() {
	b.mu.Lock()
	ready := b.ready
	b.ready, b.over = map[string][]*promise{}, true
	b.mu.Unlock()
	b.cancel()
	for _, list := range ready {
		for _, p := range list {
			go p.discard()
		}
	}
}

// establish opens a connection and asks ApiVersions on it as the client would.
func (d *dialer) establish(ctx context.Context, addr string) (net.Conn, error) {
	conn, err := d.connect(ctx, addr)
	frame := d.c.greeting()
	d.mu.Lock()
	shy := d.shy[addr]
	d.mu.Unlock()
	if err != nil || shy || frame == nil {
		return conn, err
	}
	asked := time.Now()
	g := &greeted{Conn: conn, frame: frame}
	g.answer, g.err = exchange(ctx, conn, frame, d.timeout)
	d.wire.note(crossing{what: kmsg.ApiVersions.Name(), broker: d.label(addr), sent: asked, answered: time.Now(),
		wrote: len(frame), read: len(g.answer), failed: g.err != nil})
	if g.err != nil {
		d.mu.Lock()
		d.shy[addr] = true // the client has ways of its own to deal with it
		d.mu.Unlock()
	}
	return g, nil
}

// greeting is the request with which the client will begin each connection, with the
// correlation id 0; nil where it is not the same for every broker.
func (c Config) greeting() []byte {
	version, _ := c.readOnlyVersions().LookupMaxKeyVersion(int16(kmsg.ApiVersions))
	if version > sameForAll {
		return nil
	}
	req := kmsg.NewPtrApiVersionsRequest()
	req.Version = version
	req.ClientSoftwareName, req.ClientSoftwareVersion = softwareName, softwareVersion(c.version)
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID(c.clientID())).AppendRequest(nil, req, 0)
}

// exchange sends a frame and reads the one that answers, or what there is of it. Where
// something else than Kafka answers, it gives the beginning: the client will say so.
func exchange(ctx context.Context, conn net.Conn, frame []byte, within time.Duration) ([]byte, error) {
	if err := conn.SetDeadline(time.Now().Add(within)); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })
	defer func() {
		if stop() {
			_ = conn.SetDeadline(time.Time{})
		}
	}()
	if _, err := conn.Write(frame); err != nil {
		return nil, err
	}
	answer := make([]byte, 8)
	n, err := io.ReadFull(conn, answer)
	size := int(int32(binary.BigEndian.Uint32(answer)))
	if err != nil || size < 4 || size > 1<<20 || !bytes.Equal(answer[4:], frame[8:12]) {
		return answer[:n], err
	}
	answer = append(answer, make([]byte, size-4)...)
	n, err = io.ReadFull(conn, answer[8:])
	return answer[:8+n], err
}

// greeted is a connection on which ApiVersions has been asked. The client, which begins
// with the same, gets the answer of before; then it is a connection as any other.
type greeted struct {
	net.Conn
	frame  []byte // that was sent; nil once the client has begun
	answer []byte // to it, or what is left of it to be read
	err    error  // after it
	replay bool   // the client may have the answer
}

// Write takes the client's request for that which was sent before, if it is the same
// but for its correlation id.
func (g *greeted) Write(b []byte) (int, error) {
	frame := g.frame
	g.frame = nil
	if frame == nil || len(b) != len(frame) || !bytes.Equal(b[:8], frame[:8]) || !bytes.Equal(b[12:], frame[12:]) {
		return g.Conn.Write(b)
	}
	g.replay = true
	if len(g.answer) >= 8 && bytes.Equal(g.answer[4:8], frame[8:12]) {
		copy(g.answer[4:8], b[8:12])
	}
	return len(b), nil
}

// Read gives the answer of before, once it has been asked for.
func (g *greeted) Read(b []byte) (int, error) {
	switch {
	case !g.replay:
	case len(g.answer) > 0:
		n := copy(b, g.answer)
		g.answer = g.answer[n:]
		return n, nil
	case g.err != nil:
		return 0, g.err
	}
	return g.Conn.Read(b)
}
