package notify

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// hook is a server that answers with these codes in turn, the last one for ever.
type hook struct {
	*httptest.Server
	mu     sync.Mutex
	codes  []int
	bodies []string
	wrong  string
}

func newHook(t *testing.T, codes ...int) *hook {
	h := &hook{codes: codes}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		h.mu.Lock()
		defer h.mu.Unlock()
		h.bodies = append(h.bodies, string(b))
		if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
			h.wrong = r.Method + " " + r.Header.Get("Content-Type")
		}
		if h.codes[0] == http.StatusFound {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(h.codes[0])
		if len(h.codes) > 1 {
			h.codes = h.codes[1:]
		}
	}))
	t.Cleanup(h.Close)
	return h
}

// send posts documents and returns what became of them, and the warnings.
func (h *hook) send(t *testing.T, documents ...string) (Counts, []string) {
	t.Helper()
	var mu sync.Mutex
	var warnings []string
	s, err := New(h.URL+"/services/s3cret?token=s3cret", func(w string) { mu.Lock(); warnings = append(warnings, w); mu.Unlock() })
	if err != nil {
		t.Fatal(err)
	}
	s.waits = []time.Duration{time.Millisecond, time.Millisecond}
	for _, d := range documents {
		s.Send([]byte(d))
	}
	counts := s.Close(20 * time.Second)
	for _, w := range warnings {
		if strings.Contains(w, "s3cret") {
			t.Errorf("the warning holds the secret: %s", w)
		}
	}
	return counts, warnings
}

func TestDelivery(t *testing.T) {
	for name, c := range map[string]struct {
		codes  []int
		counts Counts
		tries  int
		warn   string
	}{
		"taken":            {[]int{200}, Counts{Sent: 2}, 2, ""},
		"after a failure":  {[]int{503, 429, 204}, Counts{Sent: 2}, 4, ""},
		"refused":          {[]int{404}, Counts{Failed: 2}, 2, "HTTP 404"},
		"never":            {[]int{500}, Counts{Failed: 2}, 6, "HTTP 500 (tried 3 times)"},
		"sent elsewhere":   {[]int{302}, Counts{Failed: 2}, 2, "a redirection, which is not followed"},
		"recovers in time": {[]int{500, 500, 500, 200}, Counts{Sent: 1, Failed: 1}, 4, "HTTP 500 (tried 3 times)"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHook(t, c.codes...)
			counts, warnings := h.send(t, `{"n":1}`, `{"n":2}`)
			if counts != c.counts || len(h.bodies) != c.tries || h.wrong != "" {
				t.Errorf("%+v in %d tries %s, want %+v in %d", counts, len(h.bodies), h.wrong, c.counts, c.tries)
			}
			if h.bodies[0] != `{"n":1}` || !slices.Contains(h.bodies, `{"n":2}`) {
				t.Errorf("bodies %q", h.bodies)
			}
			switch {
			case c.warn == "" && len(warnings) > 0, c.warn != "" && (len(warnings) != 1 || !strings.HasSuffix(warnings[0], c.warn)):
				t.Errorf("warnings %q, want one: %s", warnings, c.warn)
			}
		})
	}
}

// TestNobodyWaitsForAHook holds that a hook that does not answer holds up neither Send
// nor the end.
func TestNobodyWaitsForAHook(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-release }))
	defer server.Close()
	defer close(release)
	warned := make(chan string, 1)
	s, err := New(server.URL, func(w string) { warned <- w })
	if err != nil {
		t.Fatal(err)
	}
	for range queued + 50 {
		s.Send([]byte("{}"))
	}
	if w := <-warned; !strings.Contains(w, "100 documents wait already") {
		t.Errorf("warned: %s", w)
	}
	if c := s.Close(10 * time.Millisecond); c.Sent != 0 || c.Failed != queued+50 {
		t.Errorf("%+v", c)
	}
}

func TestAddress(t *testing.T) {
	for _, bad := range []string{"", "hooks.example/x", "ftp://s3cret@host", "https://", "http://[::1", "https:///s3cret"} {
		err := Check(bad)
		if err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if err := Check("https://user:word@hooks.example:8443/x?y=z"); err != nil {
		t.Error(err)
	}
}
