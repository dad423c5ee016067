package cmd

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/collect"
	"github.com/kgdiag/kgdiag/inspect/offsetlog"
	"github.com/kgdiag/kgdiag/inspect/past"
	"github.com/kgdiag/kgdiag/internal/kconn"
	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/internal/render"
	"github.com/kgdiag/kgdiag/internal/term"
)

// session is a connection with what reads through it.
type session struct {
	client    *kgo.Client
	conn      kconn.Config
	collector *collect.Collector
	scanner   *offsetlog.Scanner
	began     time.Time // of the run, from which --timeout counts
}

// within is the context with what --timeout leaves of the run.
func (s *session) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithDeadline(ctx, s.began.Add(s.conn.Timeout()))
}

// open connects and prepares the readers; the caller closes the session.
func (a *app) open(ctx context.Context) (*session, error) {
	began := time.Now()
	client, conn, err := a.connect(ctx)
	if err != nil {
		return nil, err
	}
	s := &session{client: client, conn: conn, began: began}
	s.scanner = &offsetlog.Scanner{Client: client, Rate: int64(a.flags.rateLimit), Warm: conn.Warm, Dial: func() (*kgo.Client, error) { return kgo.NewClient(conn.Options()...) }}
	s.scanner.Learn(conn.Met())
	s.collector = collect.New(client, collect.Options{PerBroker: conn.BrokerTimeout(), Now: a.now, Log: s.scanner, Met: conn.Met(),
		Bootstrap: conn.Bootstrap, Context: conn.Context, Version: Version()})
	return s, nil
}

// reader reads the past through it.
func (s *session) reader() past.Reader {
	return past.Reader{Collector: s.collector, Scanner: s.scanner}
}

// close ends the connection.
func (s *session) close() { s.client.Close() }

// cluster is the head of a document about what a Metadata answer showed.
func (s *session) cluster(m *collect.Metadata) inspect.Cluster {
	return inspect.Cluster{ID: m.ClusterID, Context: s.conn.Context, Bootstrap: s.conn.Bootstrap,
		Brokers: len(m.Brokers), OffsetsPartitions: m.OffsetsPartitions()}
}

// strictly is --strict: exit 3 where something could not be read.
func (a *app) strictly(gaps []inspect.Gap) error {
	if !a.flags.strict || len(gaps) == 0 {
		return nil
	}
	var what []string
	for _, g := range gaps {
		what = append(what, strings.TrimPrefix(g.Group+": ", ": ")+g.What)
	}
	return incomplete(fmt.Errorf("--strict: not read: %s", prose.Few(what, 3)), "")
}

// addStrict adds --strict to a command that heeds it, with what it asks for there.
func (a *app) addStrict(c *cobra.Command, unless string) {
	c.Flags().BoolVar(&a.flags.strict, "strict", false, "exit 3 "+unless)
}

// unread is when --strict of the commands that read a cluster trips.
const unread = "if something of the cluster or the log could not be read"

// gapLines tell people what could not be read, why, and what would allow it.
func gapLines(gaps []inspect.Gap) []render.Line {
	out := make([]render.Line, 0, len(gaps))
	for _, g := range gaps {
		text := g.What + ": " + g.Why
		if g.Group != "" {
			text = g.Group + ": " + text
		}
		if g.Needs != "" {
			text += "; needs " + g.Needs
		}
		out = append(out, render.Line{render.S(term.Warn, "%s", g.Label()), render.P("  %s", text)})
	}
	return out
}
