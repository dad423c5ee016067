package notify

import (
	"sync"
	"time"

	"github.com/kgdiag/kgdiag/inspect/watch"
)

// Causes sends the causes of a watch as they settle. Close it.
type Causes struct {
	sender *Sender
	now    func() time.Time
	encode func(watch.Settled) []byte

	mu      sync.Mutex
	settler watch.Settler
	stop    chan struct{}
	stopped chan struct{}
}

// settleEvery is how often it is looked whether a cause is settled.
const settleEvery = time.Second

// NewCauses sends through a sender. encode makes the document of a cause; nil leaves it
// out. It is called by one goroutine at a time.
func NewCauses(s *Sender, now func() time.Time, encode func(watch.Settled) []byte) *Causes {
	c := &Causes{sender: s, now: now, encode: encode, stop: make(chan struct{}), stopped: make(chan struct{})}
	go func() {
		defer close(c.stopped)
		t := time.NewTicker(settleEvery)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				c.send(false)
			case <-c.stop:
				return
			}
		}
	}()
	return c
}

// Event takes an event of the watch.
func (c *Causes) Event(e *watch.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settler.Add(e, c.now())
}

// send hands on what is settled; everything where the watch is over.
func (c *Causes) send(over bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.settler.Due(c.now(), over) {
		if b := c.encode(s); b != nil {
			c.sender.Send(b)
		}
	}
}

// Close sends what is held back, and closes the sender.
func (c *Causes) Close(wait time.Duration) Counts {
	close(c.stop)
	<-c.stopped
	c.send(true)
	return c.sender.Close(wait)
}
