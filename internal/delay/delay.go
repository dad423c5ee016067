package delay

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"time"

	"github.com/kgdiag/kgdiag/internal/pause"
)

// Dial opens a connection, as net.Dialer.DialContext does.
type Dial func(ctx context.Context, network, addr string) (net.Conn, error)

// Link is the way to a cluster. The zero value is not ready: use New.
type Link struct {
	near Dial
	trip time.Duration

	mu    sync.Mutex
	count Count
}

// Count is what has gone over a Link.
type Count struct {
	Connections int
	Requests    map[int16]int // by key
	Sent, Read  int64         // bytes, as the client sees them
}

// New makes a Link over near whose round trip takes trip.
func New(near Dial, trip time.Duration) *Link {
	return &Link{near: near, trip: trip, count: Count{Requests: map[int16]int{}}}
}

// Trips is d in round trips, rounded to the nearest.
func (l *Link) Trips(d time.Duration) int { return int((d + l.trip/2) / l.trip) }

// Count is what has gone over the link so far.
func (l *Link) Count() Count {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.count
	c.Requests = make(map[int16]int, len(l.count.Requests))
	for k, n := range l.count.Requests {
		c.Requests[k] = n
	}
	return c
}

// Dial takes one round trip, as the TCP handshake does.
func (l *Link) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if err := pause.For(ctx, l.trip); err != nil {
		return nil, err
	}
	far, err := l.near(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.count.Connections++
	l.mu.Unlock()
	ours, theirs := net.Pipe()
	go l.carry(far, theirs, l.noteSent())
	go l.carry(theirs, far, func(b []byte) {
		l.mu.Lock()
		l.count.Read += int64(len(b))
		l.mu.Unlock()
	})
	return ours, nil
}

// parcel is what was read at once, and when it arrives.
type parcel struct {
	bytes []byte
	at    time.Time
}

// carry moves bytes from one end to the other, each half a round trip later. When
// one end closes, what is under way arrives, and then the other one closes.
func (l *Link) carry(to io.WriteCloser, from io.Reader, note func([]byte)) {
	way := make(chan parcel, 1<<14)
	go func() {
		defer close(way)
		for {
			buf := make([]byte, 64<<10)
			n, err := from.Read(buf)
			if n > 0 {
				note(buf[:n])
				way <- parcel{buf[:n], time.Now().Add(l.trip / 2)}
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range way {
		_ = pause.For(context.Background(), time.Until(p.at)) // ends by itself
		if _, err := to.Write(p.bytes); err != nil {
			break
		}
	}
	to.Close()
	for range way { //nolint:revive // lets the reader end
	}
}

// noteSent counts bytes and the requests in them; one function a connection.
func (l *Link) noteSent() func([]byte) {
	var head []byte // of the frame under way
	left := 0       // bytes of it that are still to come
	return func(b []byte) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.count.Sent += int64(len(b))
		for len(b) > 0 {
			if left > 0 {
				n := min(left, len(b))
				b, left = b[n:], left-n
				continue
			}
			n := min(6-len(head), len(b))
			head, b = append(head, b[:n]...), b[n:]
			if len(head) == 6 {
				left = int(binary.BigEndian.Uint32(head)) - 2
				l.count.Requests[int16(binary.BigEndian.Uint16(head[4:]))]++
				head = head[:0]
			}
		}
	}
}
