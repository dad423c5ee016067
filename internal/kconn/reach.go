package kconn

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/internal/kconn/credentials"
	"github.com/kgdiag/kgdiag/internal/kconn/fault"
	"github.com/kgdiag/kgdiag/internal/release"
)

// Broker is what reaching one address has shown.
type Broker struct {
	NodeID    int32 // -1 for a bootstrap address
	Addr      string
	Target    string   // where it was dialled: Addr, unless the broker map says otherwise
	Addresses []string // IP addresses of the host
	Rack      string

	TLS      string            // "TLS 1.3"; "" for plaintext
	Cert     *x509.Certificate // the broker's; nil for plaintext
	Release  string            // Kafka release by the requests that it knows (ApiVersions), "v4.1"; "" unknown
	Features map[string]int16  // finalized features (KIP-584): group.version, metadata.version, …
	Took     time.Duration     // until a connection was open and TLS was agreed
	Err      *fault.Error      // nil where it was reached and, with a client, authenticated
}

// maxReach bounds how many brokers are dialled at a time.
const maxReach = 16

// Reach dials every bootstrap address, or, with a client from Dial, every broker of the
// cluster under its advertised name, and authenticates there. It never fails as a
// whole: each Broker carries its own error.
func (c Config) Reach(ctx context.Context, cl *kgo.Client) []Broker {
	d := newDialer(c)
	var list []Broker
	if cl == nil {
		for _, s := range c.seeds {
			list = append(list, Broker{NodeID: -1, Addr: s})
		}
	} else if m := c.Met(); m != nil {
		for _, b := range m.Brokers {
			r := Broker{NodeID: b.NodeID, Addr: net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port)))}
			if b.Rack != nil {
				r.Rack = *b.Rack
			}
			list = append(list, r)
		}
		slices.SortFunc(list, func(a, b Broker) int { return int(a.NodeID) - int(b.NodeID) })
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, maxReach)
	for i := range list {
		wg.Add(1)
		go func() {
			defer wg.Done()
			slots <- struct{}{}
			defer func() { <-slots }()
			d.reach(ctx, cl, &list[i])
		}()
	}
	wg.Wait()
	return list
}

func (d *dialer) reach(ctx context.Context, cl *kgo.Client, b *Broker) {
	ctx, cancel := context.WithTimeout(ctx, 2*d.timeout)
	defer cancel()
	b.Target = d.targetOf(b.Addr)
	host, _, _ := net.SplitHostPort(b.Target)
	if d.c.proxy == nil {
		b.Addresses, _ = net.DefaultResolver.LookupHost(ctx, host) // the dial says what is wrong with it
	}
	start := time.Now()
	conn, err := d.connect(ctx, b.Addr)
	b.Took = time.Since(start)
	if err != nil {
		b.Err = d.explain(ctx, b.Addr, err)
		return
	}
	defer conn.Close()
	if tc, ok := conn.(*tls.Conn); ok {
		state := tc.ConnectionState()
		b.TLS = tls.VersionName(state.Version)
		b.Cert = state.PeerCertificates[0]
	}
	b.askVersions(ctx, conn)
	if cl == nil || b.NodeID < 0 {
		return
	}
	if _, err := cl.Broker(int(b.NodeID)).Request(ctx, metadataOf(nil)); err != nil {
		b.Err = d.explain(ctx, b.Addr, err)
	}
}

// askVersions sends ApiVersions, which needs no authentication, and guesses the
// release from the answer.
func (b *Broker) askVersions(ctx context.Context, conn net.Conn) {
	within := probeTime
	if end, ok := ctx.Deadline(); ok {
		within = min(within, time.Until(end)/2)
	}
	if conn.SetDeadline(time.Now().Add(within)) != nil {
		return
	}
	req := kmsg.NewPtrApiVersionsRequest()
	req.Version = 3 // from here on with features
	req.ClientSoftwareName, req.ClientSoftwareVersion = "kgdiag", "probe"
	raw, err := roundTrip(conn, req, 1)
	if err != nil {
		return
	}
	resp := kmsg.NewPtrApiVersionsResponse()
	resp.Version = 3
	if err := resp.ReadFrom(raw); err != nil || resp.ErrorCode != 0 {
		return // before 2.4; the release is not worth a second connection
	}
	b.Release = release.Guess(resp)
	b.Features = make(map[string]int16)
	for _, f := range resp.FinalizedFeatures {
		b.Features[f.Name] = f.MaxVersionLevel
	}
}

// Principal is the name that ACLs for this connection have to carry, as far as the
// client can tell: brokers may map names (ssl.principal.mapping.rules,
// sasl.kerberos.principal.to.local.rules). "" where only the broker knows it.
func (c Config) Principal() string {
	switch {
	case c.Mechanism == credentials.GSSAPI:
		name, _, _ := strings.Cut(c.User, "@")
		name, _, _ = strings.Cut(name, "/")
		return "User:" + name
	case c.Mechanism == credentials.OAuthBearer && c.login.Subject != nil && c.login.Subject() != "":
		return "User:" + c.login.Subject()
	case c.Mechanism == credentials.OAuthBearer || c.Mechanism == credentials.MSKIAM:
		return ""
	case c.Mechanism != "":
		return "User:" + c.User
	case c.Protocol == "SSL":
		if cert := (&dialer{c: c}).ownLeaf(); cert != nil {
			return "User:" + cert.Subject.String()
		}
	}
	return "User:ANONYMOUS"
}

// ClientCertificate is the certificate that is shown to brokers, or nil.
func (c Config) ClientCertificate() *x509.Certificate { return (&dialer{c: c}).ownLeaf() }

// Seeds are the bootstrap addresses, each host:port.
func (c Config) Seeds() []string { return slices.Clone(c.seeds) }
