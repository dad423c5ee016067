package stores

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/internal/kconn/fault"
	"github.com/kgdiag/kgdiag/internal/kconn/settings"
)

// reader reads what the settings name.
type reader struct{ *settings.Settings }

// TLS is the configuration of the settings, with trust and key material, for SSL and
// SASL_SSL. Errors are *fault.Error with Usage() true.
func TLS(s *settings.Settings) (*tls.Config, error) {
	r := reader{s}
	cfg := &tls.Config{MinVersion: tls.VersionTLS12}
	for _, step := range []func(*tls.Config) error{r.trust, r.clientCertificate, r.verification, r.versions, r.suites} {
		if err := step(cfg); err != nil {
			return nil, err
		}
	}
	return cfg, nil
}

// trust fills RootCAs; without any of the keys the system's roots count, as in Java.
func (r reader) trust(cfg *tls.Config) error {
	key := r.Higher("ssl.truststore.certificates", "ssl.truststore.location", "ssl.ca.location")
	if key == "" {
		return nil
	}
	s := r.At(key)
	var certs []*x509.Certificate
	var err error
	switch {
	case key == "ssl.truststore.certificates":
		certs, err = Certificates([]byte(s.Value))
	case key == "ssl.ca.location" && s.Value == "probe":
		return nil // librdkafka: look in the usual places, which is what the system's roots are
	case key == "ssl.ca.location":
		certs, err = Authorities(r.Settings, s.Value)
	default:
		certs, err = r.truststore(s.Value)
	}
	if err != nil {
		return fault.Usagef(Hint(err), "%s: %w", s.Where(), err)
	}
	cfg.RootCAs = x509.NewCertPool()
	for _, cert := range certs {
		cfg.RootCAs.AddCert(cert)
	}
	return nil
}

// Authorities reads what librdkafka takes: a PEM file, or a directory of them.
func Authorities(from *settings.Settings, path string) ([]*x509.Certificate, error) {
	path = from.Path(path)
	st, err := os.Stat(path)
	if err != nil {
		return nil, settings.FileError(path, err)
	}
	if !st.IsDir() {
		return Trusted(path, from.Get("ssl.truststore.password"))
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, settings.FileError(path, err)
	}
	var all []*x509.Certificate
	for _, e := range entries {
		b, err := settings.ReadFile(filepath.Join(path, e.Name()), 16<<20)
		if err != nil {
			continue // a subdirectory or a dangling link of c_rehash
		}
		if certs, err := Certificates(b); err == nil {
			all = append(all, certs...)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no file in this directory holds a certificate in PEM", path)
	}
	return all, nil
}

// verification turns off what the settings turn off, and says so where that
// leaves the connection open to a man in the middle.
func (r reader) verification(cfg *tls.Config) error {
	verify, alg := r.At("enable.ssl.certificate.verification"), r.At("ssl.endpoint.identification.algorithm")
	switch strings.ToLower(verify.Value) {
	case "", "true":
	case "false":
		r.Warn("%s=false: anyone on the way can pose as the broker", verify.Where())
		cfg.InsecureSkipVerify = true
		return nil
	default:
		return fault.Usagef("", "%s: true or false is expected", verify.Where())
	}
	if alg.Key == "" || strings.EqualFold(alg.Value, "https") {
		return nil
	}
	if alg.Value != "" && !strings.EqualFold(alg.Value, "none") {
		return fault.Usagef("https (check the name in the certificate) or nothing (do not)", "%s: %q is no algorithm", alg.Where(), alg.Value)
	}
	// The chain is still checked, only the name is not: that is what an empty
	// algorithm means in Java.
	roots := cfg.RootCAs
	cfg.InsecureSkipVerify = true
	cfg.VerifyConnection = func(cs tls.ConnectionState) error {
		opts := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool(), CurrentTime: time.Now()}
		for _, cert := range cs.PeerCertificates[1:] {
			opts.Intermediates.AddCert(cert)
		}
		_, err := cs.PeerCertificates[0].Verify(opts)
		if err != nil {
			return &tls.CertificateVerificationError{UnverifiedCertificates: cs.PeerCertificates, Err: err}
		}
		return nil
	}
	return nil
}

var tlsVersions = map[string]uint16{"TLSV1": tls.VersionTLS10, "TLSV1.1": tls.VersionTLS11, "TLSV1.2": tls.VersionTLS12, "TLSV1.3": tls.VersionTLS13}

func (r reader) versions(cfg *tls.Config) error {
	if s := r.At("ssl.enabled.protocols"); s.Value != "" {
		var low, high uint16
		for _, p := range strings.Split(s.Value, ",") {
			p = strings.ToUpper(strings.TrimSpace(p))
			v, ok := tlsVersions[p]
			if !ok {
				if strings.HasPrefix(p, "SSL") {
					r.Warn("%s: %s is broken and not spoken here; TLSv1.2 and TLSv1.3 are", s.Where(), p)
					continue
				}
				return fault.Usagef("TLSv1.2 and TLSv1.3, separated by a comma", "%s: %q is no version of TLS", s.Where(), p)
			}
			if low == 0 || v < low {
				low = v
			}
			high = max(high, v)
		}
		if low != 0 {
			cfg.MinVersion, cfg.MaxVersion = low, high
		}
	}
	return nil
}

// suites takes the names of cipher suites that are known here.
func (r reader) suites(cfg *tls.Config) error {
	s := r.At("ssl.cipher.suites")
	if s.Value == "" {
		return nil
	}
	byName := make(map[string]uint16)
	for _, cs := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
		byName[cs.Name] = cs.ID
	}
	for _, name := range strings.FieldsFunc(s.Value, func(c rune) bool { return c == ',' || c == ':' || c == ' ' }) {
		if id, ok := byName[name]; ok {
			cfg.CipherSuites = append(cfg.CipherSuites, id)
		}
	}
	if cfg.CipherSuites == nil {
		r.Warn("%s: none of these names is known here (IANA names are, as TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384); the usual suites are offered", s.Where())
	}
	return nil
}

// clientCertificate reads the key pair that the broker may ask for.
func (r reader) clientCertificate(cfg *tls.Config) error {
	key := r.Higher("ssl.keystore.key", "ssl.keystore.certificate.chain", "ssl.keystore.location", "ssl.key.location", "ssl.certificate.location")
	if key == "" {
		return nil
	}
	s := r.At(key)
	var certs []tls.Certificate
	var err error
	switch key {
	case "ssl.keystore.location":
		certs, err = r.keystore(s.Value)
	case "ssl.keystore.key", "ssl.keystore.certificate.chain":
		certs, err = r.pemPair([]byte(r.Get("ssl.keystore.key")), []byte(r.Get("ssl.keystore.certificate.chain")), "ssl.keystore.key", "ssl.keystore.certificate.chain")
	default:
		certs, err = r.pemFiles()
	}
	if err != nil {
		return fault.Usagef(Hint(err), "%s: %w", s.Where(), err)
	}
	cfg.Certificates = certs
	return nil
}

func (r reader) pemFiles() ([]tls.Certificate, error) {
	var text [2][]byte
	for i, k := range []string{"ssl.key.location", "ssl.certificate.location"} {
		v := r.Get(k)
		if v == "" {
			continue
		}
		b, err := settings.ReadFile(r.Path(v), 16<<20)
		if err != nil {
			return nil, err
		}
		text[i] = b
	}
	return r.pemPair(text[0], text[1], "ssl.key.location", "ssl.certificate.location")
}

var errPassword = errors.New("the password is wrong")
