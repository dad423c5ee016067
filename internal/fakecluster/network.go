package fakecluster

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// maxRequest is socket.request.max.bytes of a broker. A TLS greeting on a plaintext
// listener reads as a far larger request, and is answered by closing, as Kafka does.
const maxRequest = 100 << 20

var errDown = errors.New("connection refused: the simulated broker is down")

// hook sees the traffic of all brokers.
type hook interface {
	// request runs before the broker sees r.
	request(c *conn, r *request)
	// response runs before the client sees the answer to r and may replace it: a
	// nil result leaves it as it is.
	response(c *conn, r *request, resp kmsg.Response) kmsg.Response
}

// network holds the listeners of all brokers. Outsiders come in over TCP, members
// and the mirror over pipes, which can pose as any host.
type network struct {
	hook     hook
	tls      *tls.Config
	enclosed bool // no TCP
	dialect  *dialect

	mu    sync.Mutex
	nodes []*node
}

// node is the network side of one broker.
type node struct {
	nw     *network
	id     int32
	addr   string
	accept chan net.Conn
	done   chan struct{} // closed with the cluster
	gate   *gate         // shut while the broker is silent

	mu    sync.Mutex
	tcp   net.Listener // nil while the broker is down
	down  bool
	conns map[*conn]struct{}
	once  sync.Once
}

// listen is kfake's ListenFn: called once a broker, in the order of their ids.
func (nw *network) listen(network, address string) (net.Listener, error) {
	if nw.enclosed {
		return nw.enclose(), nil
	}
	ln, err := net.Listen(network, address)
	if err != nil {
		return nil, err
	}
	nw.mu.Lock()
	defer nw.mu.Unlock()
	n := &node{
		nw: nw, id: int32(len(nw.nodes)), addr: ln.Addr().String(),
		accept: make(chan net.Conn), done: make(chan struct{}), gate: newGate(),
		tcp: ln, conns: map[*conn]struct{}{},
	}
	nw.nodes = append(nw.nodes, n)
	go n.serve(ln)
	return nodeListener{n, ln.Addr()}, nil
}

// enclose makes a broker that only pipes lead to.
func (nw *network) enclose() net.Listener {
	nw.mu.Lock()
	defer nw.mu.Unlock()
	at := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9092 + len(nw.nodes)}
	n := &node{nw: nw, id: int32(len(nw.nodes)), addr: at.String(),
		accept: make(chan net.Conn), done: make(chan struct{}), gate: newGate(), conns: map[*conn]struct{}{}}
	nw.nodes = append(nw.nodes, n)
	return nodeListener{n, at}
}

// Dial opens a connection to a broker as an outsider's, by a pipe instead of TCP.
func (c *Cluster) Dial(ctx context.Context, _, addr string) (net.Conn, error) {
	n := c.nw.byAddr(addr)
	if n == nil {
		return nil, fmt.Errorf("dial %s: no simulated broker listens there", addr)
	}
	server, client := net.Pipe()
	out := n.newConn(server, "/127.0.0.1", false)
	select {
	case n.accept <- out:
		return client, nil
	case <-n.done:
	case <-ctx.Done():
	}
	out.Close()
	return nil, fmt.Errorf("dial %s: %w", addr, errDown)
}

func (nw *network) byAddr(addr string) *node {
	nw.mu.Lock()
	defer nw.mu.Unlock()
	for _, n := range nw.nodes {
		if n.addr == addr {
			return n
		}
	}
	return nil
}

func (nw *network) byID(id int32) (*node, error) {
	nw.mu.Lock()
	defer nw.mu.Unlock()
	if id < 0 || int(id) >= len(nw.nodes) {
		return nil, fmt.Errorf("broker %d: not in the simulated cluster", id)
	}
	return nw.nodes[id], nil
}

func (nw *network) close() {
	nw.mu.Lock()
	defer nw.mu.Unlock()
	for _, n := range nw.nodes {
		n.close()
	}
}

func (n *node) serve(ln net.Listener) {
	for {
		raw, err := ln.Accept()
		if err != nil {
			return
		}
		host, _, _ := net.SplitHostPort(raw.RemoteAddr().String())
		if n.nw.tls != nil {
			raw = tls.Server(raw, n.nw.tls)
		}
		c := n.newConn(raw, "/"+host, false)
		select {
		case n.accept <- c:
		case <-n.done:
			c.Close()
			return
		}
	}
}

// dial opens a pipe to the broker at addr. A privileged connection is the
// mirror's: it gets through although the broker is down or silent, for the log
// must not lose what the group did before.
func (nw *network) dial(ctx context.Context, addr, host string, privileged bool) (net.Conn, error) {
	n := nw.byAddr(addr)
	if n == nil {
		return nil, fmt.Errorf("dial %s: no simulated broker listens there", addr)
	}
	n.mu.Lock()
	down := n.down
	n.mu.Unlock()
	if down && !privileged {
		return nil, fmt.Errorf("dial %s: %w", addr, errDown)
	}
	server, client := net.Pipe()
	c := n.newConn(server, "/"+host, privileged)
	c.member = true
	select {
	case n.accept <- c:
		return client, nil
	case <-n.done:
	case <-ctx.Done():
	}
	c.Close()
	return nil, fmt.Errorf("dial %s: %w", addr, errDown)
}

// setDown refuses connections and cuts those that stand, as a killed broker does.
func (n *node) setDown() {
	n.mu.Lock()
	n.down = true
	if n.tcp != nil {
		n.tcp.Close()
		n.tcp = nil
	}
	var cut []*conn
	for c := range n.conns {
		if !c.privileged {
			cut = append(cut, c)
		}
	}
	n.mu.Unlock()
	for _, c := range cut {
		c.Close()
	}
}

// setUp listens again on the address of before.
func (n *node) setUp() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.down {
		return nil
	}
	ln, err := net.Listen("tcp", n.addr)
	if err != nil {
		return fmt.Errorf("broker %d: %w", n.id, err)
	}
	n.tcp, n.down = ln, false
	go n.serve(ln)
	return nil
}

func (n *node) close() {
	n.once.Do(func() { close(n.done) })
	n.mu.Lock()
	if n.tcp != nil {
		n.tcp.Close()
	}
	cut := make([]*conn, 0, len(n.conns))
	for c := range n.conns {
		cut = append(cut, c)
	}
	n.mu.Unlock()
	for _, c := range cut {
		c.Close()
	}
}

// nodeListener is what kfake accepts connections from.
type nodeListener struct {
	n    *node
	addr net.Addr
}

func (l nodeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.n.accept:
		return c, nil
	case <-l.n.done:
		return nil, net.ErrClosed
	}
}

func (l nodeListener) Close() error   { l.n.close(); return nil }
func (l nodeListener) Addr() net.Addr { return l.addr }

// request is one request on its way to a broker.
type request struct {
	key      int16
	version  int16
	clientID string
	body     kmsg.Request // decoded; nil for kinds that nobody watches
}

// conn is the broker's side of a connection: it cuts the stream into requests and
// answers and shows them to the hook.
type conn struct {
	net.Conn
	n          *node
	host       hostAddr
	privileged bool
	member     bool // of the simulated workload
	done       chan struct{}
	once       sync.Once
	buf        []byte // of the request being read, what kfake has not taken yet

	mu      sync.Mutex
	pending map[int32]*request // by correlation id
}

// hostAddr is a remote address that prints as Kafka prints a member's host. kfake
// takes the text of the address for it.
type hostAddr string

func (hostAddr) Network() string  { return "tcp" }
func (h hostAddr) String() string { return string(h) }

func (n *node) newConn(raw net.Conn, host string, privileged bool) *conn {
	c := &conn{Conn: raw, n: n, host: hostAddr(host), privileged: privileged,
		done: make(chan struct{}), pending: map[int32]*request{}}
	n.mu.Lock()
	n.conns[c] = struct{}{}
	n.mu.Unlock()
	return c
}

func (c *conn) RemoteAddr() net.Addr { return c.host }

func (c *conn) Close() error {
	c.once.Do(func() {
		close(c.done)
		c.n.mu.Lock()
		delete(c.n.conns, c)
		c.n.mu.Unlock()
	})
	return c.Conn.Close()
}

func (c *conn) Read(b []byte) (int, error) {
	if len(c.buf) == 0 {
		if err := c.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(b, c.buf)
	c.buf = c.buf[n:]
	return n, nil
}

// fill reads one whole request and shows it to the hook.
func (c *conn) fill() error {
	var size [4]byte
	if _, err := io.ReadFull(c.Conn, size[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n < 8 || n > maxRequest {
		return fmt.Errorf("request of %d bytes: not Kafka's protocol", n)
	}
	frame := make([]byte, 4+n)
	copy(frame, size[:])
	if _, err := io.ReadFull(c.Conn, frame[4:]); err != nil {
		return err
	}
	r, corr, err := parseRequest(frame[4:])
	if err != nil {
		return err
	}
	if !c.privileged && !c.n.gate.wait(c.done) {
		return net.ErrClosed
	}
	if d := c.n.nw.dialect; d != nil && !c.member && !d.takes(r.key, r.version) {
		return fmt.Errorf("%s version %d: not offered", kmsg.Key(r.key).Name(), r.version)
	}
	if r.body != nil && !c.privileged {
		c.n.nw.hook.request(c, r)
		c.mu.Lock()
		c.pending[corr] = r
		c.mu.Unlock()
	}
	c.buf = frame
	return nil
}

// parseRequest reads the header, and the body of the kinds that are watched.
func parseRequest(frame []byte) (*request, int32, error) {
	rd := kbin.Reader{Src: frame}
	r := &request{key: rd.Int16(), version: rd.Int16()}
	corr := rd.Int32()
	if id := rd.NullableString(); id != nil {
		r.clientID = *id
	}
	body := kmsg.RequestForKey(r.key)
	if body == nil {
		return nil, 0, fmt.Errorf("request key %d: unknown", r.key)
	}
	if !watched(kmsg.Key(r.key)) {
		return r, corr, nil
	}
	body.SetVersion(r.version)
	if body.IsFlexible() {
		kmsg.SkipTags(&rd)
	}
	if err := body.ReadFrom(rd.Src); err != nil {
		return nil, 0, fmt.Errorf("request key %d version %d: %w", r.key, r.version, err)
	}
	r.body = body
	return r, corr, nil
}

// Write gets whole answers from kfake.
func (c *conn) Write(b []byte) (int, error) {
	out := b
	if r := c.take(b); r != nil {
		if changed := c.answer(r, b); changed != nil {
			out = changed
		}
	}
	if !c.privileged && !c.n.gate.wait(c.done) {
		return 0, net.ErrClosed
	}
	if _, err := c.Conn.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// take finds the watched request that b answers.
func (c *conn) take(b []byte) *request {
	if len(b) < 8 {
		return nil
	}
	corr := int32(binary.BigEndian.Uint32(b[4:8]))
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.pending[corr]
	delete(c.pending, corr)
	return r
}

// answer shows the answer to the hook and encodes it anew if the hook changed it.
func (c *conn) answer(r *request, b []byte) []byte {
	resp := r.body.ResponseKind()
	rd := kbin.Reader{Src: b[8:]}
	flexible := resp.IsFlexible() && r.key != int16(kmsg.ApiVersions)
	if flexible {
		kmsg.SkipTags(&rd)
	}
	if err := resp.ReadFrom(rd.Src); err != nil {
		return nil
	}
	changed := c.n.nw.hook.response(c, r, resp)
	if changed == nil {
		return nil
	}
	out := append([]byte{0, 0, 0, 0}, b[4:8]...)
	if flexible {
		out = append(out, 0)
	}
	out = changed.AppendTo(out)
	binary.BigEndian.PutUint32(out, uint32(len(out)-4))
	return out
}

// gate is a door that stands open until it is shut.
type gate struct {
	mu   sync.Mutex
	open chan struct{} // closed while the gate is open
}

func newGate() *gate {
	g := &gate{open: make(chan struct{})}
	close(g.open)
	return g
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-g.open:
		g.open = make(chan struct{})
	default:
	}
}

func (g *gate) unshut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-g.open:
	default:
		close(g.open)
	}
}

// wait returns true as soon as the gate is open, false when done is closed first.
func (g *gate) wait(done <-chan struct{}) bool {
	g.mu.Lock()
	open := g.open
	g.mu.Unlock()
	select {
	case <-open:
		return true
	default:
	}
	select {
	case <-open:
		return true
	case <-done:
		return false
	}
}
