package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// maxFrame bounds a frame in either direction, as socket.request.max.bytes does.
const maxFrame = 100 << 20

// Request is one request as it went over the wire.
type Request struct {
	Broker  int // index of the broker that was asked
	Key     int16
	Version int16
	// Body is the decoded request; nil where it does not decode, which Err then says.
	Body kmsg.Request
	Err  error
}

// Name is the name of the request kind.
func (r Request) Name() string { return kmsg.NameForKey(r.Key) }

// Action says what becomes of a request. The zero Action passes it.
type Action struct {
	Hang bool // it is never passed on, and nothing after it is answered
	Cut  bool // the connection is closed instead
	// Answer is called with the broker's answer, which it may change or replace; nil
	// leaves the bytes as they are.
	Answer func(kmsg.Response) kmsg.Response
	// Frame is called with the whole frame of the answer, length included, and gives
	// the bytes that the client gets. The connection is closed after them if it says so.
	Frame func(frame []byte) (bytes []byte, cut bool)
	// Delay is the wait before the answer is passed; 0 for none.
	Delay time.Duration
	// Pace is the wait after each byte of the answer; 0 for none.
	Pace time.Duration
}

// Rule decides on requests. It is called from several connections at once.
type Rule func(Request) Action

// Proxy is one listener before each broker.
type Proxy struct {
	listeners []net.Listener
	stop      chan struct{}
	wg        sync.WaitGroup

	mu      sync.Mutex
	targets []string
	rule    Rule
	seen    []Request
	conns   map[net.Conn]struct{}
}

// New listens on the loopback for so many brokers. Close ends it.
func New(brokers int) (*Proxy, error) {
	p := &Proxy{stop: make(chan struct{}), conns: map[net.Conn]struct{}{}}
	for i := range brokers {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			p.Close()
			return nil, fmt.Errorf("proxy: %w", err)
		}
		p.listeners = append(p.listeners, l)
		p.wg.Go(func() { p.accept(i, l) })
	}
	return p, nil
}

// Close ends all connections and waits for what served them.
func (p *Proxy) Close() {
	p.mu.Lock()
	select {
	case <-p.stop:
	default:
		close(p.stop)
	}
	for _, l := range p.listeners {
		l.Close()
	}
	for c := range p.conns {
		c.Close()
	}
	p.mu.Unlock()
	p.wg.Wait()
}

// Addrs are the proxy's own addresses, in the order of the brokers.
func (p *Proxy) Addrs() []string {
	out := make([]string, len(p.listeners))
	for i, l := range p.listeners {
		out[i] = l.Addr().String()
	}
	return out
}

// Advertise is the address by which a broker has to call itself (an option of package
// fakecluster takes it), so that clients stay on this side.
func (p *Proxy) Advertise(broker int32) (string, int32) {
	host, port, _ := net.SplitHostPort(p.listeners[broker].Addr().String())
	n, _ := strconv.Atoi(port)
	return host, int32(n)
}

// Serve names the brokers behind, in order. Until then connections wait.
func (p *Proxy) Serve(targets []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.targets = targets
}

// Rule sets what becomes of requests from now on; nil passes all.
func (p *Proxy) Rule(r Rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rule = r
}

// Requests are those that came so far.
func (p *Proxy) Requests() []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.seen)
}

// Reset forgets the requests.
func (p *Proxy) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = nil
}

func (p *Proxy) accept(broker int, l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		p.wg.Go(func() { p.serve(broker, c) })
	}
}

// keep has Close close a connection; false where that has happened.
func (p *Proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.stop:
		c.Close()
		return false
	default:
	}
	p.conns[c] = struct{}{}
	return true
}

func (p *Proxy) drop(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		c.Close()
		delete(p.conns, c)
	}
}

// pending is a request that waits for its answer.
type pending struct {
	Request
	Action
}

func (p *Proxy) serve(broker int, client net.Conn) {
	if !p.keep(client) {
		return
	}
	defer p.drop(client)
	p.mu.Lock()
	target := ""
	if broker < len(p.targets) {
		target = p.targets[broker]
	}
	p.mu.Unlock()
	if target == "" {
		return
	}
	server, err := net.Dial("tcp", target)
	if err != nil || !p.keep(server) {
		return
	}
	defer p.drop(server)
	waiting := make(chan pending, 1024)
	p.wg.Go(func() {
		defer p.drop(client, server)
		p.answer(client, server, waiting)
	})
	p.forward(broker, client, server, waiting)
	close(waiting)
}

// forward passes requests until the connection ends.
func (p *Proxy) forward(broker int, client, server net.Conn, waiting chan<- pending) {
	for {
		frame, err := readFrame(client)
		if err != nil {
			return
		}
		r := decode(frame[4:])
		r.Broker = broker
		p.mu.Lock()
		p.seen = append(p.seen, r)
		rule := p.rule
		p.mu.Unlock()
		var a Action
		if rule != nil {
			a = rule(r)
		}
		if a.Cut {
			return
		}
		waiting <- pending{r, a}
		if a.Hang {
			continue // the answering side waits for the end, this one reads on
		}
		if _, err := server.Write(frame); err != nil {
			return
		}
	}
}

// wait waits, unless the proxy is closed before.
func (p *Proxy) wait(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-p.stop:
		return false
	}
}

// answer passes the answers, in the order of the requests.
func (p *Proxy) answer(client, server net.Conn, waiting <-chan pending) {
	for w := range waiting {
		if w.Hang {
			for range waiting { // until the client has given up
			}
			return
		}
		frame, err := readFrame(server)
		if err != nil || w.Delay > 0 && !p.wait(w.Delay) {
			return
		}
		if frame, err = rewrite(frame, w); err != nil {
			return
		}
		cut := false
		if w.Frame != nil {
			frame, cut = w.Frame(frame)
		}
		if err := p.write(client, frame, w.Pace); err != nil || cut {
			return
		}
	}
}

func (p *Proxy) write(to net.Conn, b []byte, pace time.Duration) error {
	if pace == 0 {
		_, err := to.Write(b)
		return err
	}
	for i := range b {
		if _, err := to.Write(b[i : i+1]); err != nil {
			return err
		}
		if !p.wait(pace) {
			return net.ErrClosed
		}
	}
	return nil
}

// rewrite applies the Answer of an Action.
func rewrite(frame []byte, w pending) ([]byte, error) {
	if w.Answer == nil || w.Body == nil {
		return frame, nil
	}
	resp := w.Body.ResponseKind()
	body := frame[8:]
	tagged := resp.IsFlexible() && w.Key != apiVersions
	if tagged {
		body = body[1:] // no broker sends tags in the header
	}
	if err := resp.ReadFrom(body); err != nil {
		return nil, fmt.Errorf("answer to %s v%d: %w", w.Name(), w.Version, err)
	}
	out := append([]byte{0, 0, 0, 0}, frame[4:8]...)
	if tagged {
		out = append(out, 0)
	}
	out = w.Answer(resp).AppendTo(out)
	binary.BigEndian.PutUint32(out, uint32(len(out)-4))
	return out, nil
}

// readFrame reads a length and what follows it, and gives both.
func readFrame(r io.Reader) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > maxFrame {
		return nil, errors.New("frame too large")
	}
	frame := make([]byte, 4+n)
	copy(frame, size[:])
	_, err := io.ReadFull(r, frame[4:])
	return frame, err
}

// apiVersions is the one request kind whose answer never has tags in its header.
const apiVersions = 18

// decode reads a request without its length.
func decode(b []byte) Request {
	r := Request{Key: -1, Version: -1}
	if len(b) < 10 {
		r.Err = errors.New("no request header")
		return r
	}
	r.Key, r.Version = int16(binary.BigEndian.Uint16(b)), int16(binary.BigEndian.Uint16(b[2:]))
	n := int(int16(binary.BigEndian.Uint16(b[8:])))
	b = b[10:]
	if n > len(b) {
		r.Err = errors.New("the client id is longer than the request")
		return r
	}
	b = b[max(0, n):] // the client id; -1 is none
	body := kmsg.RequestForKey(r.Key)
	if body == nil {
		r.Err = fmt.Errorf("request key %d is not known", r.Key)
		return r
	}
	body.SetVersion(r.Version)
	if body.IsFlexible() {
		if len(b) == 0 {
			r.Err = errors.New("no tags in the header")
			return r
		}
		b = b[1:] // clients send none
	}
	if r.Err = body.ReadFrom(b); r.Err == nil {
		r.Body = body
	}
	return r
}
