package kconn

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/internal/kconn/fault"
)

// authority is a CA of a test.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  string
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	a := &authority{}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	a.cert, a.key = sign(t, tmpl, nil)
	a.pem = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw}))
	return a
}

func sign(t *testing.T, tmpl *x509.Certificate, by *authority) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	parent, signer := tmpl, key
	if by != nil {
		parent, signer = by.cert, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, parent, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert, key
}

// leaf is a certificate of this authority, and its PEM forms.
func (a *authority) leaf(t *testing.T, name string, from, to time.Time) (tls.Certificate, string, string) {
	t.Helper()
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "broker"}, NotBefore: from, NotAfter: to,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	if ip := net.ParseIP(name); ip != nil {
		tmpl.IPAddresses = []net.IP{ip}
	} else {
		tmpl.DNSNames = []string{name}
	}
	cert, key := sign(t, tmpl, a)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key},
		string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

func (a *authority) server(t *testing.T) *tls.Config {
	cert, _, _ := a.leaf(t, "127.0.0.1", time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	return &tls.Config{Certificates: []tls.Certificate{cert}}
}

func fake(t *testing.T, opts ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// listens makes kfake answer SaslHandshake as a real listener with these
// mechanisms does; none means a listener without SASL.
func listens(c *kfake.Cluster, mechanisms ...string) string {
	c.ControlKey(17, func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		hs := req.(*kmsg.SASLHandshakeRequest)
		if slices.Contains(mechanisms, hs.Mechanism) {
			return nil, nil, false
		}
		resp := req.ResponseKind().(*kmsg.SASLHandshakeResponse)
		resp.ErrorCode, resp.SupportedMechanisms = kerr.UnsupportedSaslMechanism.Code, mechanisms
		if len(mechanisms) == 0 {
			resp.ErrorCode = kerr.IllegalSaslState.Code
		}
		return resp, nil, true
	})
	return c.ListenAddrs()[0]
}

func dial(t *testing.T, opt Options) (*kgo.Client, error) {
	t.Helper()
	c, _, err := Resolve(opt)
	if err != nil {
		t.Fatalf("resolve: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cl, err := c.Dial(ctx)
	if cl != nil {
		t.Cleanup(cl.Close)
	}
	return cl, err
}

func TestWaysIn(t *testing.T) {
	ca := newAuthority(t, "test CA")
	caFile := write(t, "ca.pem", ca.pem)
	_, certPEM, keyPEM := ca.leaf(t, "client", time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	clientAuth := ca.server(t)
	clientAuth.ClientAuth = tls.RequireAndVerifyClientCert
	clientAuth.ClientCAs = x509.NewCertPool()
	clientAuth.ClientCAs.AddCert(ca.cert)
	esc := func(s string) string { return strings.ReplaceAll(s, "\n", `\n`) }
	jaas := func(module, user, pass string) string {
		return "sasl.jaas.config=org.apache.kafka.common.security." + module + " required username=\"" + user + "\" password=\"" + pass + "\";\n"
	}
	for _, tt := range []struct {
		name  string
		fake  []kfake.Opt
		props string
	}{
		{"PLAINTEXT", nil, ""},
		{"SSL, CA file", []kfake.Opt{kfake.TLS(ca.server(t))}, "security.protocol=SSL\nssl.ca.location=" + caFile},
		{"SSL, PEM truststore", []kfake.Opt{kfake.TLS(ca.server(t))}, "security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.location=" + caFile},
		{"SSL, PEM in the properties", []kfake.Opt{kfake.TLS(ca.server(t))}, "security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.certificates=" + esc(ca.pem)},
		{"SSL, PEM continued over lines", []kfake.Opt{kfake.TLS(ca.server(t))}, "security.protocol=SSL\nssl.truststore.certificates=" + strings.ReplaceAll(strings.TrimSpace(ca.pem), "\n", " \\\n ")},
		{"mutual TLS, PEM in the properties", []kfake.Opt{kfake.TLS(clientAuth)}, "security.protocol=SSL\nssl.truststore.certificates=" + esc(ca.pem) + "\nssl.keystore.type=PEM\nssl.keystore.certificate.chain=" + esc(certPEM) + "\nssl.keystore.key=" + esc(keyPEM)},
		{"mutual TLS, one PEM file", []kfake.Opt{kfake.TLS(clientAuth)}, "security.protocol=SSL\nssl.ca.location=" + caFile + "\nssl.keystore.type=PEM\nssl.keystore.location=" + write(t, "both.pem", keyPEM+certPEM)},
		{"mutual TLS, librdkafka's two files", []kfake.Opt{kfake.TLS(clientAuth)}, "security.protocol=ssl\nssl.ca.location=" + caFile + "\nssl.certificate.location=" + write(t, "c.pem", certPEM) + "\nssl.key.location=" + write(t, "k.pem", keyPEM)},
		{"SASL_PLAINTEXT PLAIN", []kfake.Opt{kfake.EnableSASL(), kfake.Superuser("PLAIN", "u", "p")}, "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n" + jaas("plain.PlainLoginModule", "u", "p")},
		{"SASL_SSL SCRAM-SHA-256", []kfake.Opt{kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-256", "u", "p"), kfake.TLS(ca.server(t))}, "security.protocol=SASL_SSL\nssl.ca.location=" + caFile + "\nsasl.mechanism=SCRAM-SHA-256\n" + jaas("scram.ScramLoginModule", "u", "p")},
		{"SASL_SSL SCRAM-SHA-512", []kfake.Opt{kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-512", "u", "p"), kfake.TLS(ca.server(t))}, "security.protocol=SASL_SSL\nssl.ca.location=" + caFile + "\nsasl.mechanism=SCRAM-SHA-512\n" + jaas("scram.ScramLoginModule", "u", "p")},
		{"SCRAM without a mechanism", []kfake.Opt{kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-256", "u", "p")}, "security.protocol=SASL_PLAINTEXT\n" + jaas("scram.ScramLoginModule", "u", "p")},
		{"librdkafka PLAIN", []kfake.Opt{kfake.EnableSASL(), kfake.Superuser("PLAIN", "u", "p")}, "security.protocol=sasl_plaintext\nsasl.mechanisms=PLAIN\nsasl.username=u\nsasl.password=p"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := fake(t, tt.fake...)
			if tt.name == "SCRAM without a mechanism" {
				listens(c, "SCRAM-SHA-256")
			}
			cl, err := dial(t, Options{Bootstrap: strings.Join(c.ListenAddrs(), ","), CommandConfig: write(t, "client.properties", tt.props)})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := kadm.NewClient(cl).BrokerMetadata(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestNameIsNotCheckedWhenTold(t *testing.T) {
	ca := newAuthority(t, "test CA")
	cert, _, _ := ca.leaf(t, "kafka-1", time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	c := fake(t, kfake.TLS(&tls.Config{Certificates: []tls.Certificate{cert}}))
	x := []string{"security.protocol=SSL", "ssl.ca.location=" + write(t, "ca.pem", ca.pem), "ssl.endpoint.identification.algorithm="}
	if _, err := dial(t, Options{Bootstrap: c.ListenAddrs()[0], X: x}); err != nil {
		t.Fatal(err)
	}
	// The chain still counts.
	x[1] = "ssl.ca.location=" + write(t, "ca.pem", newAuthority(t, "other CA").pem)
	_, err := dial(t, Options{Bootstrap: c.ListenAddrs()[0], X: x})
	if e := fault.As(err); e == nil || e.Kind != fault.UnknownCA {
		t.Errorf("got %v, want unknown_ca", err)
	}
}

// serve answers every connection on a new port with fn.
func serve(t *testing.T, fn func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { defer c.Close(); fn(c) }()
		}
	}()
	return l.Addr().String()
}

func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestFaults(t *testing.T) {
	ca := newAuthority(t, "test CA")
	caX := "ssl.ca.location=" + write(t, "ca.pem", ca.pem)
	now := time.Now()
	withCert := func(name string, from, to time.Time) string {
		cert, _, _ := ca.leaf(t, name, from, to)
		return listens(fake(t, kfake.TLS(&tls.Config{Certificates: []tls.Certificate{cert}})))
	}
	plain := listens(fake(t))
	secure := listens(fake(t, kfake.TLS(ca.server(t))))
	saslAddr := listens(fake(t, kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-512", "u", "p")), "SCRAM-SHA-512")
	saslTLS := listens(fake(t, kfake.EnableSASL(), kfake.Superuser("PLAIN", "u", "p"), kfake.TLS(ca.server(t))), "PLAIN")
	needsCert := ca.server(t)
	needsCert.ClientAuth, needsCert.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
	needsCert.ClientCAs.AddCert(ca.cert)
	mutual := fake(t, kfake.TLS(needsCert)).ListenAddrs()[0]
	needsCert12 := needsCert.Clone()
	needsCert12.MaxVersion = tls.VersionTLS12
	mutual12 := fake(t, kfake.TLS(needsCert12)).ListenAddrs()[0]
	_, otherCert, otherKey := newAuthority(t, "other CA").leaf(t, "x", now.Add(-time.Hour), now.Add(time.Hour))
	_, oldCert, oldKey := ca.leaf(t, "x", now.Add(-2*time.Hour), now.Add(-time.Hour))
	pair := func(cert, key string) []string {
		return []string{"security.protocol=SSL", caX, "ssl.certificate.location=" + write(t, "c", cert), "ssl.key.location=" + write(t, "k", key)}
	}
	web := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	webAddr := web.Listener.Addr().String()
	silent := serve(t, func(c net.Conn) { io.Copy(io.Discard, c) })
	slam := serve(t, func(c net.Conn) { c.Read(make([]byte, 1)) })
	sasl := func(mech, user, pass string) []string {
		return []string{"security.protocol=SASL_PLAINTEXT", "sasl.mechanism=" + mech, "sasl.username=" + user, "sasl.password=" + pass}
	}
	for _, tt := range []struct {
		name, addr string
		x          []string
		kind       fault.Kind
		want, hint string
	}{
		{"nothing listens", closedPort(t), nil, fault.Refused, "connection refused", "is the port right"},
		{"no such host", "nowhere.invalid:9092", nil, fault.Unresolvable, "nowhere.invalid:9092: no such host", "spelled right"},
		{"plaintext to TLS", secure, nil, fault.PlaintextToTLS, "this listener speaks TLS, the connection is plaintext", "-X security.protocol=SSL, or --command-config FILE"},
		{"plaintext to TLS with SASL", saslTLS, nil, fault.PlaintextToTLS, "this listener speaks TLS, the connection is plaintext", "-X security.protocol=SASL_SSL -X sasl.mechanism=PLAIN"},
		{"TLS to plaintext", plain, []string{"security.protocol=SSL"}, fault.TLSToPlaintext, "this listener speaks plaintext, the connection is TLS", "-X security.protocol=PLAINTEXT"},
		{"TLS to SASL plaintext", saslAddr, []string{"security.protocol=SSL"}, fault.TLSToPlaintext, "this listener speaks plaintext, the connection is TLS", "-X security.protocol=SASL_PLAINTEXT -X sasl.mechanism=SCRAM-SHA-512"},
		{"unknown CA", secure, []string{"security.protocol=SSL"}, fault.UnknownCA, "the certificate is signed by CN=test CA, which is not trusted here", "the system's CAs are trusted now"},
		{"wrong CA", secure, []string{"security.protocol=SSL", "ssl.ca.location=" + write(t, "ca.pem", newAuthority(t, "other CA").pem)}, fault.UnknownCA, "signed by CN=test CA", "has to hold the CA that signed it"},
		{"wrong name", withCert("kafka-1", now.Add(-time.Hour), now.Add(time.Hour)), []string{"security.protocol=SSL", caX}, fault.Hostname, "the certificate is for kafka-1, not for 127.0.0.1", "-X ssl.endpoint.identification.algorithm="},
		{"expired", withCert("127.0.0.1", now.Add(-2*time.Hour), now.Add(-time.Hour)), []string{"security.protocol=SSL", caX}, fault.Expired, "the certificate of CN=broker expired on " + now.Add(-time.Hour).UTC().Format("2006-01-02"), "renewed on the broker"},
		{"not yet valid", withCert("127.0.0.1", now.Add(time.Hour), now.Add(2*time.Hour)), []string{"security.protocol=SSL", caX}, fault.NotYetValid, "is valid from", "clock of this machine"},
		{"client certificate missing, TLS 1.3", mutual, []string{"security.protocol=SSL", caX}, fault.ClientCert, "the broker asks for a client certificate, and none is set", "ssl.keystore.location"},
		{"client certificate missing, TLS 1.2", mutual12, []string{"security.protocol=SSL", caX}, fault.ClientCert, "the broker asks for a client certificate, and none is set", "ssl.keystore.location"},
		{"client certificate of another CA", mutual, pair(otherCert, otherKey), fault.ClientCert, "the broker refuses the client certificate", "has to trust the CA of CN=broker"},
		{"client certificate expired", mutual, pair(oldCert, oldKey), fault.ClientCert, "the broker refuses the client certificate", "CN=broker expired on"},
		{"wrong password, SCRAM", saslAddr, sasl("SCRAM-SHA-512", "u", "wrong"), fault.Credentials, "authentication of SCRAM-SHA-512 user u failed", "wrong user or password (-X: sasl.password)"},
		{"wrong password, PLAIN", saslTLS, []string{"security.protocol=SASL_SSL", caX, "sasl.mechanism=PLAIN", "sasl.username=u", "sasl.password=wrong"}, fault.Credentials, "authentication of PLAIN user u failed", "wrong user or password"},
		{"mechanism not offered", saslAddr, sasl("PLAIN", "u", "p"), fault.Mechanism, "the listener does not offer PLAIN, but SCRAM-SHA-512", "-X sasl.mechanism=SCRAM-SHA-512"},
		{"SASL to a listener without", plain, sasl("PLAIN", "u", "p"), fault.SASLUnexpected, "this listener asks for no user, and PLAIN is set", "-X security.protocol=PLAINTEXT"},
		{"HTTP", webAddr, nil, fault.NotKafka, "this port speaks HTTP, not Kafka", "9092 in most clusters"},
		{"silence", silent, nil, fault.Timeout, "connects, but does not answer as Kafka does", "--timeout"},
		{"cut off", slam, nil, fault.Connection, "the connection was closed before an answer", "port of a Kafka listener"},
		{"TLS to silence", silent, []string{"security.protocol=SSL"}, fault.TLS, "the TLS handshake was cut off: no answer", "port of a Kafka listener"},
		{"SOCKS5 proxy absent", plain, []string{"proxy.url=socks5://" + closedPort(t)}, fault.Proxy, "is not there: connection refused", "proxy.url="},
		{"SOCKS5 proxy refuses", plain, []string{"proxy.url=socks5://" + socksServer(t, 2)}, fault.Proxy, "connection not allowed by ruleset", "proxy.url="},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := dial(t, Options{Bootstrap: tt.addr, X: tt.x, Timeout: 6 * time.Second})
			e := fault.As(err)
			if e == nil {
				t.Fatalf("got %v, want an *fault.Error", err)
			}
			if e.Kind != tt.kind || !strings.Contains(e.Error(), tt.want) || !strings.Contains(e.Hint(), tt.hint) {
				t.Errorf("got %s %q\nhint %q\nwant %s %q\nhint %q\ncause %v", e.Kind, e.Error(), e.Hint(), tt.kind, tt.want, tt.hint, e.Err)
			}
			if !strings.HasPrefix(e.Error(), tt.addr+": ") || strings.Contains(e.Error(), "\n") || e.Usage() {
				t.Errorf("%q: one line that starts with the address is wanted, and no usage error", e.Error())
			}
			if strings.Contains(e.Error()+e.Hint(), "wrong\"") {
				t.Error("a password is shown")
			}
		})
	}
}

func TestSASLRequired(t *testing.T) {
	// kfake keeps a connection without SASL open and answers with errors; a real
	// broker closes it at the first request.
	inner := listens(fake(t, kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-256", "u", "p")), "SCRAM-SHA-256")
	addr := serve(t, func(c net.Conn) { closeAtMetadata(c, inner) })
	_, err := dial(t, Options{Bootstrap: addr})
	e := fault.As(err)
	if e == nil || e.Kind != fault.SASLRequired || !strings.Contains(e.Error(), "this listener asks for SASL (SCRAM-SHA-256), and none is set") {
		t.Fatalf("got %v", err)
	}
	if want := "-X security.protocol=SASL_PLAINTEXT -X sasl.mechanism=SCRAM-SHA-256"; !strings.HasPrefix(e.Hint(), want) {
		t.Errorf("hint %q, want %q", e.Hint(), want)
	}
}

// closeAtMetadata forwards to a broker until the client asks for Metadata.
func closeAtMetadata(client net.Conn, broker string) {
	server, err := net.Dial("tcp", broker)
	if err != nil {
		return
	}
	defer server.Close()
	go io.Copy(client, server)
	for {
		head := make([]byte, 6)
		if _, err := io.ReadFull(client, head); err != nil || head[5] == 3 {
			return
		}
		size := int(head[0])<<24 | int(head[1])<<16 | int(head[2])<<8 | int(head[3])
		server.Write(head)
		if _, err := io.CopyN(server, client, int64(size-2)); err != nil {
			return
		}
	}
}

// advertise makes a cluster give out other addresses than it listens on.
func advertise(c *kfake.Cluster, hosts map[int32]string) {
	c.ControlKey(3, func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		resp := req.ResponseKind().(*kmsg.MetadataResponse)
		id := "fake"
		resp.ClusterID = &id
		for n, addr := range hosts {
			host, port, _ := net.SplitHostPort(addr)
			p, _ := strconv.Atoi(port)
			b := kmsg.NewMetadataResponseBroker()
			b.NodeID, b.Host, b.Port = n, host, int32(p)
			resp.Brokers = append(resp.Brokers, b)
		}
		slices.SortFunc(resp.Brokers, func(a, b kmsg.MetadataResponseBroker) int { return int(a.NodeID - b.NodeID) })
		return resp, nil, true
	})
}

func TestAdvertisedListeners(t *testing.T) {
	c := fake(t, kfake.NumBrokers(3), kfake.ClusterID("fake"))
	addrs := c.ListenAddrs()
	advertise(c, map[int32]string{0: "kafka-0.kafka.invalid:9092", 1: "kafka-1.kafka.invalid:9092", 2: "kafka-2.kafka.invalid:9092"})
	_, err := dial(t, Options{Bootstrap: addrs[0]})
	e := fault.As(err)
	if e == nil || e.Kind != fault.Advertised {
		t.Fatalf("got %v", err)
	}
	if want := addrs[0] + " answers, but its brokers call themselves kafka-0.kafka.invalid:9092, kafka-1.kafka.invalid:9092, …: no such host"; e.Error() != want {
		t.Errorf("got  %s\nwant %s", e.Error(), want)
	}
	if want := "through a port-forward: --broker-map 0=localhost:19091,1=localhost:19092,2=localhost:19093"; e.Hint() != want {
		t.Errorf("hint %q, want %q", e.Hint(), want)
	}
	for name, m := range map[string]string{"by id": "0=" + addrs[0] + ",1=" + addrs[1] + ",2=" + addrs[2], "by name": "kafka-0.kafka.invalid=" + addrs[0], "one for all": addrs[1]} {
		t.Run(name, func(t *testing.T) {
			cl, err := dial(t, Options{Bootstrap: addrs[0], BrokerMap: m})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := cl.Broker(0).Request(t.Context(), kmsg.NewPtrApiVersionsRequest()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestFurtherClients: a client made from Options after Dial knows the broker map by
// id, and does not ask dead bootstrap addresses.
func TestFurtherClients(t *testing.T) {
	c := fake(t, kfake.NumBrokers(2), kfake.ClusterID("fake"))
	addrs := c.ListenAddrs()
	advertise(c, map[int32]string{0: "kafka-0.kafka.invalid:9092", 1: "kafka-1.kafka.invalid:9092"})
	conf, _, err := Resolve(Options{Bootstrap: closedPort(t) + "," + addrs[0], BrokerMap: "0=" + addrs[0] + ",1=" + addrs[1]})
	if err != nil {
		t.Fatal(err)
	}
	first, err := conf.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(first.Close)
	second, err := kgo.NewClient(conf.Options()...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(second.Close)
	for id := range 2 {
		req := kmsg.NewPtrMetadataRequest()
		req.Topics = []kmsg.MetadataRequestTopic{}
		if _, err := second.Broker(id).Request(t.Context(), req); err != nil {
			t.Errorf("broker %d: %v", id, err)
		}
	}
}

func TestBrokerMapMixedUp(t *testing.T) {
	c := fake(t, kfake.NumBrokers(2), kfake.ClusterID("fake"))
	addrs := c.ListenAddrs()
	advertise(c, map[int32]string{0: "kafka-0.kafka.invalid:9092", 1: "kafka-1.kafka.invalid:9092"})
	_, err := dial(t, Options{Bootstrap: addrs[0], BrokerMap: "0=" + addrs[1] + ",1=" + addrs[0]})
	e := fault.As(err)
	if e == nil || e.Kind != fault.Advertised || !strings.Contains(e.Error(), "another broker") || !strings.Contains(e.Hint(), "--broker-map") {
		t.Errorf("got %v", err)
	}
}

func TestOneBrokerAdvertises(t *testing.T) {
	c := fake(t)
	advertise(c, map[int32]string{0: "kafka-0.kafka.invalid:9092"})
	_, err := dial(t, Options{Bootstrap: c.ListenAddrs()[0]})
	if want := c.ListenAddrs()[0] + " answers, but calls itself kafka-0.kafka.invalid:9092: no such host"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestOneDeadSeedIsNoFailure(t *testing.T) {
	c := fake(t)
	start := time.Now()
	if _, err := dial(t, Options{Bootstrap: closedPort(t) + ",nowhere.invalid:1," + c.ListenAddrs()[0]}); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("took %v", d)
	}
}

func TestSeveralDeadSeedsAreNamedTogether(t *testing.T) {
	a, b := closedPort(t), closedPort(t)
	_, err := dial(t, Options{Bootstrap: a + "," + b + ",nowhere.invalid:1"})
	if want := a + ", " + b + ": connection refused; nowhere.invalid:1: no such host"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestCancelled(t *testing.T) {
	silent := serve(t, func(c net.Conn) { io.Copy(io.Discard, c) })
	c, _, err := Resolve(Options{Bootstrap: silent})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	start := time.Now()
	if _, err = c.Dial(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if d := time.Since(start); d > 3*time.Second {
		t.Errorf("took %v to give up", d)
	}
}

// socksServer is a SOCKS5 proxy that answers every CONNECT with the code; 0 connects.
func socksServer(t *testing.T, code byte) string {
	return serve(t, func(c net.Conn) {
		b := make([]byte, 262)
		if _, err := io.ReadFull(c, b[:2]); err != nil {
			return
		}
		io.ReadFull(c, b[:b[1]])
		c.Write([]byte{5, 0})
		io.ReadFull(c, b[:4])
		var host string
		switch b[3] {
		case 1:
			io.ReadFull(c, b[:4])
			host = net.IP(b[:4]).String()
		case 3:
			io.ReadFull(c, b[:1])
			n := b[0]
			io.ReadFull(c, b[:n])
			host = string(b[:n])
		}
		io.ReadFull(c, b[:2])
		port := int(b[0])<<8 | int(b[1])
		c.Write([]byte{5, code, 0, 1, 0, 0, 0, 0, 0, 0})
		if code != 0 {
			return
		}
		up, err := net.Dial("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err != nil {
			return
		}
		defer up.Close()
		go io.Copy(up, c)
		io.Copy(c, up)
	})
}

func TestThroughSOCKS5(t *testing.T) {
	c := fake(t)
	if _, err := dial(t, Options{Bootstrap: c.ListenAddrs()[0], X: []string{"proxy.url=socks5://" + socksServer(t, 0)}}); err != nil {
		t.Fatal(err)
	}
}

// TestWritesAreRefused sends every request kind that is not in ReadOnlyKeys: none
// may reach the broker.
func TestWritesAreRefused(t *testing.T) {
	c := fake(t)
	var seen []int16
	c.Control(func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		if _, ok := ReadOnlyKeys[req.Key()]; !ok {
			seen = append(seen, req.Key())
		}
		return nil, nil, false
	})
	cl, err := dial(t, Options{Bootstrap: c.ListenAddrs()[0]})
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for key := int16(0); key <= kmsg.MaxKey; key++ {
		req := kmsg.RequestForKey(key)
		if _, ok := ReadOnlyKeys[key]; ok || req == nil {
			continue
		}
		for _, b := range []*kgo.Broker{cl.Broker(0)} {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			if _, err := b.Request(ctx, req); err == nil {
				t.Errorf("%s (%d) was sent", kmsg.NameForKey(key), key)
			}
			cancel()
		}
		refused++
	}
	if err := cl.ProduceSync(t.Context(), &kgo.Record{Topic: "t", Value: []byte("v")}).FirstErr(); err == nil {
		t.Error("a record was produced")
	}
	if refused < 60 {
		t.Errorf("only %d request kinds were tried", refused)
	}
	if len(seen) > 0 {
		t.Errorf("the broker saw %v", seen)
	}
}

func TestBrokerMap(t *testing.T) {
	m, err := parseBrokerMap("1=localhost:19091, 2=:19092,kafka-3=h:1,kafka-4:9=h:2,[::1]:5")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		addr string
		id   int32
		want string
	}{{"a:1", 1, "localhost:19091"}, {"a:1", 2, "localhost:19092"}, {"kafka-3:7", 9, "h:1"}, {"kafka-4:9", -1, "h:2"}, {"kafka-4:8", -1, "[::1]:5"}} {
		if got := m.target(tt.addr, tt.id); got != tt.want {
			t.Errorf("%s of broker %d: %s, want %s", tt.addr, tt.id, got, tt.want)
		}
	}
	for _, bad := range []string{"1", "1=", "1=a", "1=a:0", "a:1,b:2", "1=a:1,1=b:1", "-1=a:1", "=a:1"} {
		if _, err := parseBrokerMap(bad); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func TestSoftwareVersion(t *testing.T) {
	for in, want := range map[string]string{"": "dev", "v0.1.0": "v0.1.0", "v0.1.0+dirty": "v0.1.0-dirty", "-x-": "x"} {
		if got := softwareVersion(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestIPv6Alone(t *testing.T) {
	d := newDialer(Config{book: newBook(), timeout: time.Second})
	kind, msg, hint := d.unreachable(t.Context(), "[2001:db8::1]:9092")
	if kind != fault.Unreachable || msg != "has IPv6 addresses alone (2001:db8::1), and no route from here leads to them" || !strings.Contains(hint, "proxy.url") {
		t.Errorf("got %s %q, hint %q", kind, msg, hint)
	}
	if _, msg, _ := d.unreachable(t.Context(), "192.0.2.1:9092"); msg != "no route to host" {
		t.Errorf("got %q", msg)
	}
}
