package cmd

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"github.com/kgdiag/kgdiag/inspect/past"
	"github.com/kgdiag/kgdiag/internal/delay"
	"github.com/kgdiag/kgdiag/internal/fakecluster"
	"github.com/kgdiag/kgdiag/internal/term"
)

// trip is the round trip of the simulated distance; only its being longer than what
// computes is of importance, and nothing that computes takes time in a bubble.
const trip = 50 * time.Millisecond

// distant is a simulated cluster at a distance, in a bubble of testing/synctest.
type distant struct {
	*fakecluster.Cluster
	t      *testing.T
	near   delay.Dial // how the commands reach it
	args   []string   // what they need beside its address
	client []kgo.Opt  // the same of a client of the test
}

// at runs f in a bubble with a cluster of three brokers of Kafka 4.1.
func at(t *testing.T, f func(d *distant), opts ...fakecluster.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c, err := fakecluster.New(append([]fakecluster.Option{fakecluster.Enclosed(), fakecluster.Brokers(3), fakecluster.Topic("work", 6), fakecluster.MinSession(time.Second),
			fakecluster.Kfake(kfake.MaxVersions(kversion.V4_1_0()))}, opts...)...)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		f(&distant{Cluster: c, t: t, near: c.Dial})
	})
}

// secure has the commands reach the cluster by TLS, as a user with a password.
func (d *distant) secure(srv *httptest.Server, name, password string) {
	d.t.Helper()
	ca := filepath.Join(d.t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}), 0o600); err != nil {
		d.t.Fatal(err)
	}
	d.args = []string{"-X", "security.protocol=SASL_SSL", "-X", "ssl.ca.location=" + ca, "-X", "sasl.mechanism=PLAIN", "-X", "sasl.username=" + name, "-X", "sasl.password=" + password}
	d.client = []kgo.Opt{kgo.SASL(plain.Auth{User: name, Pass: password}.AsMechanism())}
	cfg := &tls.Config{Certificates: srv.TLS.Certificates}
	d.near = func(ctx context.Context, network, addr string) (net.Conn, error) {
		far, err := d.Dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		ours, theirs := net.Pipe()
		go func() {
			defer far.Close()
			end := tls.Server(theirs, cfg)
			defer end.Close()
			if end.HandshakeContext(context.WithoutCancel(ctx)) != nil { // before both ways use it: time stands still while one waits for a lock
				return
			}
			go func() {
				_, _ = io.Copy(end, far) // the end of one is that of both
				theirs.Close()
			}()
			_, _ = io.Copy(far, end)
		}()
		return ours, nil
	}
}

// join starts a member and waits until the group has n.
func (d *distant) join(group, client string, n int) *fakecluster.Member {
	d.t.Helper()
	m, err := d.Join(fakecluster.MemberConfig{Group: group, Topics: []string{"work"}, ClientID: client, Session: 10 * time.Second})
	if err != nil {
		d.t.Fatal(err)
	}
	if err := d.WaitStable(d.t.Context(), group, n); err != nil {
		d.t.Fatal(err)
	}
	return m
}

// groups makes n groups that have committed.
func (d *distant) groups(n int) {
	d.t.Helper()
	cl, err := kgo.NewClient(append(d.client, kgo.SeedBrokers(d.Addrs()...), kgo.Dialer(d.Dial), kgo.DisableClientMetrics())...)
	if err != nil {
		d.t.Fatal(err)
	}
	defer cl.Close()
	adm, offsets := kadm.NewClient(cl), kadm.Offsets{}
	offsets.AddOffset("work", 0, 1, -1)
	for i := range n {
		if err := adm.CommitAllOffsets(d.t.Context(), fmt.Sprintf("group-%04d", i), offsets); err != nil {
			d.t.Fatal(err)
		}
	}
}

// run runs a command line over a link of its own and gives its round trips.
func (d *distant) run(args ...string) (trips int, counted delay.Count) {
	d.t.Helper()
	link := delay.New(d.near, trip)
	var stdout, stderr bytes.Buffer
	a := &app{streams: &term.Streams{In: strings.NewReader(""), Out: &stdout, Err: &stderr},
		now: time.Now, getenv: func(string) string { return "" }, dial: link.Dial}
	start := time.Now()
	code := a.run(context.Background(), slices.Concat(args, d.args, []string{"-b", d.Addrs()[0]}))
	took := time.Since(start)
	time.Sleep(10 * trip) // of the bubble: what is still under way arrives, for time ends with the test
	if code != exitOK {
		d.t.Fatalf("%v: exit %d: %s", args, code, stderr.String())
	}
	return link.Trips(took), link.Count()
}

// TestRoundTrips holds what waits for what, to the table of docs/roundtrips.md. A command
// that gets one more round trip has a request that waits for an answer which it does not
// need, or a real reason: then the table says so.
func TestRoundTrips(t *testing.T) {
	holdTrips(t, 0, func(*distant) {})
}

// TestSecuredRoundTrips holds that TLS and SASL add their handshakes to each row of
// connections, and nothing else.
func TestSecuredRoundTrips(t *testing.T) {
	srv := httptest.NewUnstartedServer(nil)
	srv.StartTLS() // for its certificate of 127.0.0.1
	defer srv.Close()
	holdTrips(t, 1, func(d *distant) { d.secure(srv, "sre", "secret") }, fakecluster.Superuser("PLAIN", "sre", "secret"))
}

// holdTrips holds the commands to a column of the table of docs/roundtrips.md.
func holdTrips(t *testing.T, column int, setUp func(*distant), opts ...fakecluster.Option) {
	t.Helper()
	written, err := os.ReadFile("../docs/roundtrips.md")
	if err != nil {
		t.Fatal(err)
	}
	at(t, func(d *distant) {
		setUp(d)
		if err := d.Feed("work", 6, 20*time.Second); err != nil {
			d.t.Fatal(err)
		}
		d.join("orders", "a", 1)
		time.Sleep(95 * time.Minute) // the next rebalances have their beginning before the window
		d.groups(2000)
		for range 2 {
			b := d.join("orders", "b", 2)
			time.Sleep(3 * time.Minute)
			b.Kill()
			time.Sleep(time.Minute)
		}
		for _, c := range []string{"locate orders", "describe orders", "history orders", "why orders", "why", "check"} {
			trips, count := d.run(strings.Fields(c)...)
			d.t.Logf("%s: %d round trips, %+v", c, trips, count)
			// Which broker a group or a topic has is left to chance, so that it may be fewer.
			if most := heldTrips(d.t, string(written), c, column); trips > most {
				d.t.Errorf("%s: %d round trips, docs/roundtrips.md says at most %d", c, trips, most)
			}
		}
	}, opts...)
}

// What a command scans takes at least the time that --rate-limit leaves for it, and not
// much more: the clock is the bubble's.
func TestRateLimit(t *testing.T) {
	const rate = 20_000
	at(t, func(d *distant) {
		if err := d.Feed("work", 6, time.Second); err != nil {
			d.t.Fatal(err)
		}
		d.join("orders", "a", 1)
		time.Sleep(20 * time.Minute)
		file := filepath.Join(d.t.TempDir(), "orders.kgcase")
		began := time.Now()
		_, count := d.run("record", "orders", "--to", file, "--rate-limit", "20kB")
		took := time.Since(began)
		held, err := past.ReadFile(d.t.Context(), file)
		if err != nil {
			d.t.Fatal(err)
		}
		scanned := held.Logs[0].Bytes
		seconds := func(bytes int64) time.Duration { return time.Duration(bytes) * time.Second / rate }
		if least, most := seconds(scanned-rate), seconds(count.Read)+2*time.Second; scanned < 3*rate || took < least || took > most {
			d.t.Errorf("%d bytes of the log of %d read in %s, want %s to %s", scanned, count.Read, took, least, most)
		}
	})
}

// A watch of a busy log gathers what is new, instead of asking for each commit: brokers are
// asked at most every 40 ms.
func TestWatchGathers(t *testing.T) {
	at(t, func(d *distant) {
		d.groups(30)
		link := delay.New(d.Dial, time.Millisecond)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() {
			defer close(done)
			for ctx.Err() == nil {
				d.groups(3)
				time.Sleep(15 * time.Millisecond) // of the bubble, in which commits take no time
			}
		}()
		var stdout, stderr bytes.Buffer
		a := &app{streams: &term.Streams{In: strings.NewReader(""), Out: &stdout, Err: &stderr},
			now: time.Now, getenv: func(string) string { return "" }, dial: link.Dial}
		code := a.run(ctx, []string{"watch", "--all-groups", "--for", "8s", "-b", d.Addrs()[0]})
		cancel()
		<-done
		time.Sleep(time.Second) // what is under way arrives
		fetches := link.Count().Requests[1]
		if most := 3 * 8 * 25 * 11 / 10; code != exitOK || fetches > most || fetches < 30 {
			d.t.Errorf("exit %d, %d fetches of three brokers in 8 s, want at most %d: %s", code, fetches, most, stderr.String())
		}
	})
}

// heldTrips is what a column of the table says of a command.
func heldTrips(t *testing.T, page, command string, column int) int {
	t.Helper()
	_, row, ok := strings.Cut(page, "| `kgdiag "+command+"` | ")
	n, err := strconv.Atoi(strings.Split(row, " | ")[column])
	if !ok || err != nil {
		t.Fatalf("docs/roundtrips.md has no row for %q", command)
	}
	return n
}
