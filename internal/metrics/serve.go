package metrics

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Address is where to listen for an address as users write it. A port alone, "9188" or
// ":9188", means this machine alone: what a watch sees is not for everybody on the
// network, and there is no password.
func Address(s string) (string, error) {
	address := s
	if !strings.Contains(address, ":") {
		address = ":" + address
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", fmt.Errorf("%q: want PORT or HOST:PORT", s)
	}
	n, err := net.LookupPort("tcp", port)
	if err != nil || port == "" {
		return "", fmt.Errorf("%q: %q is no port; want PORT or HOST:PORT", s, port)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, fmt.Sprint(n)), nil
}

// Handler answers GET /metrics, and nothing else.
func (m *Metrics) Handler() http.Handler {
	h := promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{EnableOpenMetrics: true})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		m.settle()
		h.ServeHTTP(w, r)
	})
	return mux
}

// Serve answers on a listener until ctx ends, and closes it. The error is nil where ctx
// ended it.
func (m *Metrics) Serve(ctx context.Context, l net.Listener) error {
	s := &http.Server{Handler: m.Handler(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, MaxHeaderBytes: 16 << 10}
	stop := context.AfterFunc(ctx, func() { _ = s.Close() }) // nobody waits for a last answer
	defer stop()
	if err := s.Serve(l); ctx.Err() == nil {
		return fmt.Errorf("metrics: %w", err)
	}
	return nil
}
