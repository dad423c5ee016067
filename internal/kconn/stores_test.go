package kconn

import (
	"bytes"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	keystore "github.com/pavlo-v-chernykh/keystore-go/v4"
	"github.com/youmark/pkcs8"
	"software.sslmate.com/src/go-pkcs12"

	"github.com/kgdiag/kgdiag/internal/kconn/fault"
)

// material is a CA, a certificate and a key in every form.
type material struct {
	caPEM, certPEM, keyPEM string
	files                  map[string]string // name -> path
}

func storeFiles(t *testing.T) *material {
	t.Helper()
	ca := newAuthority(t, "test CA")
	pair, certPEM, keyPEM := ca.leaf(t, "client", time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	m := &material{caPEM: ca.pem, certPEM: certPEM, keyPEM: keyPEM, files: make(map[string]string)}
	dir := t.TempDir()
	put := func(name string, b []byte) {
		m.files[name] = filepath.Join(dir, name)
		if err := os.WriteFile(m.files[name], b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	must := func(b []byte, err error) []byte {
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	jks := func(keyPass string, trusted bool) []byte {
		ks := keystore.New()
		if trusted {
			err = ks.SetTrustedCertificateEntry("ca", keystore.TrustedCertificateEntry{CreationTime: time.Now(), Certificate: keystore.Certificate{Type: "X509", Content: ca.cert.Raw}})
		} else {
			err = ks.SetPrivateKeyEntry("me", keystore.PrivateKeyEntry{CreationTime: time.Now(), PrivateKey: der,
				CertificateChain: []keystore.Certificate{{Type: "X509", Content: leaf.Raw}, {Type: "X509", Content: ca.cert.Raw}}}, []byte(keyPass))
		}
		var b bytes.Buffer
		if err == nil {
			err = ks.Store(&b, []byte("changeit"))
		}
		return must(b.Bytes(), err)
	}
	put("trust.jks", jks("", true))
	put("key.jks", jks("changeit", false))
	put("key2.jks", jks("another", false))
	put("trust.p12", must(pkcs12.Modern.EncodeTrustStore([]*x509.Certificate{ca.cert}, "changeit")))
	put("trust-legacy.p12", must(pkcs12.Legacy.EncodeTrustStore([]*x509.Certificate{ca.cert}, "changeit")))
	put("key.p12", must(pkcs12.Modern.Encode(pair.PrivateKey, leaf, []*x509.Certificate{ca.cert}, "changeit")))
	put("key-legacy.p12", must(pkcs12.Legacy.Encode(pair.PrivateKey, leaf, []*x509.Certificate{ca.cert}, "changeit")))
	put("ca.pem", []byte(ca.pem))
	put("ca.der", ca.cert.Raw)
	put("both.pem", []byte(keyPEM+certPEM))
	enc := must(pkcs8.MarshalPrivateKey(pair.PrivateKey, []byte("another"), nil))
	put("enc.pem", append(pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: enc}), certPEM...))
	//lint:ignore SA1019 the old form is what is tested
	old, err := x509.EncryptPEMBlock(rand.Reader, "EC PRIVATE KEY", must(x509.MarshalPKCS8PrivateKey(pair.PrivateKey)), []byte("another"), x509.PEMCipherAES128) //nolint:staticcheck // likewise
	if err != nil {
		t.Fatal(err)
	}
	put("old.pem", append(pem.EncodeToMemory(old), certPEM...))
	put("junk", []byte("hello"))
	put("junk.p12", []byte("\x30\x82hello"))
	put("junk.jks", []byte("\xfe\xed\xfe\xedhello"))
	put("x.bcfks.jceks", []byte("\xce\xce\xce\xcehello"))
	_, _, strange := newAuthority(t, "x").leaf(t, "x", time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	put("mismatch.pem", []byte(strange+certPEM))
	return m
}

func TestTrustStores(t *testing.T) {
	m := storeFiles(t)
	for _, tt := range []struct{ name, file, extra, want, warning string }{
		{"JKS", "trust.jks", "ssl.truststore.password=changeit", "", ""},
		{"JKS without a password, as Java takes it", "trust.jks", "", "", ""},
		{"JKS, wrong password", "trust.jks", "ssl.truststore.password=s3cret", "trust.jks: the password is wrong", ""},
		{"PKCS12", "trust.p12", "ssl.truststore.type=PKCS12\nssl.truststore.password=changeit", "", ""},
		{"PKCS12 of the old algorithms", "trust-legacy.p12", "ssl.truststore.password=changeit", "", ""},
		{"PKCS12 that calls itself JKS, as Java takes it", "trust.p12", "ssl.truststore.type=JKS\nssl.truststore.password=changeit", "", ""},
		{"PKCS12, wrong password", "trust.p12", "ssl.truststore.password=s3cret", "trust.p12: the password is wrong", ""},
		{"a key store serves as trust store", "key.p12", "ssl.truststore.password=changeit", "", ""},
		{"JKS key store as trust store", "key.jks", "ssl.truststore.password=changeit", "", ""},
		{"PEM", "ca.pem", "ssl.truststore.type=PEM", "", ""},
		{"DER", "ca.der", "", "", ""},
		{"type and content differ", "ca.pem", "ssl.truststore.type=PKCS12", "", "is PEM and is read as such; Kafka's own clients will refuse it"},
		{"no store", "junk", "", "junk: not a key store", ""},
		{"damaged PKCS12", "junk.p12", "", "not a key store in PKCS12", ""},
		{"damaged JKS", "junk.jks", "", "damaged JKS file", ""},
		{"JCEKS", "x.bcfks.jceks", "", "JCEKS is a format of its own", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			props := "bootstrap.servers=a:1\nsecurity.protocol=SSL\nssl.truststore.location=" + m.files[tt.file] + "\n" + tt.extra
			c, warnings, err := Resolve(Options{CommandConfig: write(t, "c.properties", props)})
			if all := strings.Join(warnings, "\n"); (tt.warning == "") != (all == "") || !strings.Contains(all, tt.warning) {
				t.Errorf("warnings %q, want %q", all, tt.warning)
			}
			if tt.want != "" {
				e := fault.As(err)
				if e == nil || !e.Usage() || !strings.Contains(e.Error(), "c.properties:3: ssl.truststore.location: ") || !strings.Contains(e.Error(), tt.want) || strings.Contains(e.Error(), "s3cret") {
					t.Errorf("got %v, want %q", err, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if c.tls.RootCAs == nil {
				t.Fatal("no roots")
			}
		})
	}
}

func TestKeyStores(t *testing.T) {
	m := storeFiles(t)
	for _, tt := range []struct{ name, file, extra, want string }{
		{"JKS", "key.jks", "ssl.keystore.password=changeit", ""},
		{"JKS, key password of its own", "key2.jks", "ssl.keystore.password=changeit\nssl.key.password=another", ""},
		{"JKS, key password missing", "key2.jks", "ssl.keystore.password=changeit", "key me: the password is wrong (ssl.key.password"},
		{"JKS, wrong password", "key.jks", "ssl.keystore.password=s3cret", "key.jks: the password is wrong"},
		{"JKS without a key", "trust.jks", "ssl.keystore.password=changeit", "no private key in it"},
		{"PKCS12", "key.p12", "ssl.keystore.type=PKCS12\nssl.keystore.password=changeit", ""},
		{"PKCS12 of the old algorithms", "key-legacy.p12", "ssl.keystore.password=changeit", ""},
		{"PKCS12, wrong password", "key.p12", "ssl.keystore.password=s3cret", "the password is wrong"},
		{"PKCS12 without a key", "trust.p12", "ssl.keystore.password=changeit", "no private key in it"},
		{"PEM", "both.pem", "ssl.keystore.type=PEM", ""},
		{"PEM, encrypted", "enc.pem", "ssl.keystore.type=PEM\nssl.key.password=another", ""},
		{"PEM, encrypted, no password", "enc.pem", "ssl.keystore.type=PEM", "the key is encrypted and ssl.key.password is not set"},
		{"PEM, encrypted, wrong password", "enc.pem", "ssl.keystore.type=PEM\nssl.key.password=s3cret", "the password is wrong"},
		{"PEM, encrypted the old way", "old.pem", "ssl.keystore.type=PEM\nssl.key.password=another", ""},
		{"PEM, key of another certificate", "mismatch.pem", "ssl.keystore.type=PEM", "is not that of the first certificate"},
		{"PEM without a key", "ca.pem", "ssl.keystore.type=PEM", "no private key in PEM"},
		{"no store", "junk", "", "not a key store"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			props := "bootstrap.servers=a:1\nsecurity.protocol=SSL\nssl.keystore.location=" + m.files[tt.file] + "\n" + tt.extra
			c, _, err := Resolve(Options{CommandConfig: write(t, "c.properties", props)})
			if tt.want != "" {
				e := fault.As(err)
				if e == nil || !e.Usage() || !strings.Contains(e.Error(), tt.want) || strings.Contains(e.Error(), "s3cret") {
					t.Errorf("got %v, want %q", err, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if cert := c.ClientCertificate(); cert == nil || cert.Subject.CommonName != "broker" {
				t.Errorf("client certificate %v", cert)
			}
		})
	}
}

func TestCADirectory(t *testing.T) {
	m := storeFiles(t)
	dir := t.TempDir()
	for name, text := range map[string]string{"a.pem": m.caPEM, "readme": "hello"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := Resolve(Options{Bootstrap: "a", X: []string{"security.protocol=SSL", "ssl.ca.location=" + dir}}); err != nil {
		t.Error(err)
	}
	_, _, err := Resolve(Options{Bootstrap: "a", X: []string{"security.protocol=SSL", "ssl.ca.location=" + t.TempDir()}})
	if err == nil || !strings.Contains(err.Error(), "no file in this directory holds a certificate") {
		t.Errorf("got %v", err)
	}
}
