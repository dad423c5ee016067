package notify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"
)

const (
	// queued is how many documents may wait; of more, the newest are dropped.
	queued = 100
	// tryTime bounds one try.
	tryTime = 10 * time.Second
)

// waits are the pauses before the tries after the first.
var waits = []time.Duration{time.Second, 5 * time.Second}

// Sender posts documents to one address. Close it.
type Sender struct {
	address *url.URL
	client  *http.Client
	warn    func(string)
	waits   []time.Duration

	ctx   context.Context
	stop  context.CancelFunc
	queue chan []byte
	done  chan struct{}

	mu     sync.Mutex
	counts Counts
}

// Counts are what became of the documents.
type Counts struct {
	Sent, Failed int // Failed: not delivered for any reason
}

// Check says what is wrong with an address, without quoting it; nil for nothing.
func Check(address string) error {
	_, err := parse(address)
	return err
}

func parse(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, errors.New("not a URL; want https://HOST/PATH")
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return nil, errors.New("want a URL that begins with https:// or http:// and names a host")
	}
	return u, nil
}

// New makes a sender to an address that Check finds nothing wrong with. warn is called
// once, from another goroutine, when the first document could not be delivered.
func New(address string, warn func(string)) (*Sender, error) {
	u, err := parse(address)
	if err != nil {
		return nil, err
	}
	s := &Sender{address: u, warn: warn, waits: waits, queue: make(chan []byte, queued), done: make(chan struct{}),
		client: &http.Client{Timeout: tryTime, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	go s.run()
	return s, nil
}

// Send takes a document and returns at once. Do not call it after Close.
func (s *Sender) Send(document []byte) {
	select {
	case s.queue <- document:
	default:
		s.failed(fmt.Errorf("%d documents wait already", queued))
	}
}

// Close waits at most so long for what is under way, and says what became of all.
func (s *Sender) Close(wait time.Duration) Counts {
	close(s.queue)
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-s.done:
	case <-t.C:
	}
	s.stop()
	<-s.done
	s.client.CloseIdleConnections()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts
}

// run posts what is queued.
func (s *Sender) run() {
	defer close(s.done)
	for document := range s.queue {
		if err := s.deliver(document); err != nil {
			s.failed(err)
			continue
		}
		s.mu.Lock()
		s.counts.Sent++
		s.mu.Unlock()
	}
}

// failed counts a failure, and tells of the first.
func (s *Sender) failed(err error) {
	s.mu.Lock()
	s.counts.Failed++
	first := s.counts.Failed == 1
	s.mu.Unlock()
	if first {
		s.warn(fmt.Sprintf("%s: %v", s.address.Host, err))
	}
}

// deliver tries a document until it is taken, refused for good, or tried often enough.
func (s *Sender) deliver(document []byte) error {
	for i := 0; ; i++ {
		again, err := s.try(document)
		switch {
		case err == nil:
			return nil
		case !again:
			return err
		case i == len(s.waits):
			return fmt.Errorf("%w (tried %d times)", err, i+1)
		}
		t := time.NewTimer(s.waits[i])
		select {
		case <-t.C:
		case <-s.ctx.Done():
			t.Stop()
			return fmt.Errorf("%w (the watch ended before it was tried again)", err)
		}
	}
}

// try posts a document once; again says whether another try may help.
func (s *Sender) try(document []byte) (again bool, err error) {
	r, err := http.NewRequestWithContext(s.ctx, http.MethodPost, s.address.String(), bytes.NewReader(document))
	if err != nil {
		return false, errors.New("the request could not be made")
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "kgdiag")
	answer, err := s.client.Do(r)
	if err != nil {
		var quoting *url.Error // its text holds the whole address
		if errors.As(err, &quoting) {
			err = quoting.Err
		}
		return s.ctx.Err() == nil, err
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10)) // so that the connection can be used again
	switch code := answer.StatusCode; {
	case code >= 200 && code < 300:
		return false, nil
	case code >= 300 && code < 400:
		return false, fmt.Errorf("HTTP %d: a redirection, which is not followed", code)
	default:
		return code == http.StatusTooManyRequests || code == http.StatusRequestTimeout || code >= 500, fmt.Errorf("HTTP %d", code)
	}
}
