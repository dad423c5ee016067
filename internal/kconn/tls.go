package kconn

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// buildTLS reads trust and key material for SSL and SASL_SSL.
func (r *resolver) buildTLS(c *Config) error {
	if !strings.HasSuffix(c.Protocol, "SSL") {
		return nil
	}
	cfg := &tls.Config{MinVersion: tls.VersionTLS12}
	if err := r.trust(cfg); err != nil {
		return err
	}
	if err := r.clientCertificate(cfg); err != nil {
		return err
	}
	if err := r.verification(cfg); err != nil {
		return err
	}
	if err := r.versions(cfg); err != nil {
		return err
	}
	c.tls = cfg
	return nil
}

// trust fills RootCAs; without any of the keys the system's roots count, as in Java.
func (r *resolver) trust(cfg *tls.Config) error {
	key := r.settings.higher("ssl.truststore.certificates", "ssl.truststore.location", "ssl.ca.location")
	if key == "" {
		return nil
	}
	s := r.settings[key]
	var certs []*x509.Certificate
	var err error
	switch {
	case key == "ssl.truststore.certificates":
		certs, err = pemCertificates([]byte(s.value))
	case key == "ssl.ca.location" && s.value == "probe":
		return nil // librdkafka: look in the usual places, which is what the system's roots are
	case key == "ssl.ca.location":
		certs, err = r.caFileOrDir(s.value)
	default:
		certs, err = r.truststore(s.value)
	}
	if err != nil {
		return usagef(storeHint(err), "%s: %w", s.where(), err)
	}
	cfg.RootCAs = x509.NewCertPool()
	for _, cert := range certs {
		cfg.RootCAs.AddCert(cert)
	}
	return nil
}

// caFileOrDir takes what librdkafka takes: a PEM file, or a directory of them.
func (r *resolver) caFileOrDir(path string) ([]*x509.Certificate, error) {
	path = r.path(path)
	st, err := os.Stat(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	if !st.IsDir() {
		return r.truststore(path)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	var all []*x509.Certificate
	for _, e := range entries {
		b, err := readFile(filepath.Join(path, e.Name()), 16<<20)
		if err != nil {
			continue // a subdirectory or a dangling link of c_rehash
		}
		if certs, err := pemCertificates(b); err == nil {
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
func (r *resolver) verification(cfg *tls.Config) error {
	verify, alg := r.settings["enable.ssl.certificate.verification"], r.settings["ssl.endpoint.identification.algorithm"]
	switch strings.ToLower(verify.value) {
	case "", "true":
	case "false":
		r.warn("%s=false: anyone on the way can pose as the broker", verify.where())
		cfg.InsecureSkipVerify = true
		return nil
	default:
		return usagef("", "%s: true or false is expected", verify.where())
	}
	if alg.key == "" || strings.EqualFold(alg.value, "https") {
		return nil
	}
	if alg.value != "" && !strings.EqualFold(alg.value, "none") {
		return usagef("https (check the name in the certificate) or nothing (do not)", "%s: %q is no algorithm", alg.where(), alg.value)
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

func (r *resolver) versions(cfg *tls.Config) error {
	if s := r.settings["ssl.enabled.protocols"]; s.value != "" {
		var low, high uint16
		for _, p := range strings.Split(s.value, ",") {
			p = strings.ToUpper(strings.TrimSpace(p))
			v, ok := tlsVersions[p]
			if !ok {
				if strings.HasPrefix(p, "SSL") {
					r.warn("%s: %s is broken and not spoken here; TLSv1.2 and TLSv1.3 are", s.where(), p)
					continue
				}
				return usagef("TLSv1.2 and TLSv1.3, separated by a comma", "%s: %q is no version of TLS", s.where(), p)
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
	s := r.settings["ssl.cipher.suites"]
	if s.value == "" {
		return nil
	}
	byName := make(map[string]uint16)
	for _, cs := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
		byName[cs.Name] = cs.ID
	}
	for _, name := range strings.FieldsFunc(s.value, func(c rune) bool { return c == ',' || c == ':' || c == ' ' }) {
		if id, ok := byName[name]; ok {
			cfg.CipherSuites = append(cfg.CipherSuites, id)
		}
	}
	if cfg.CipherSuites == nil {
		r.warn("%s: none of these names is known here (IANA names are, as TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384); the usual suites are offered", s.where())
	}
	return nil
}

// clientCertificate reads the key pair that the broker may ask for.
func (r *resolver) clientCertificate(cfg *tls.Config) error {
	key := r.settings.higher("ssl.keystore.key", "ssl.keystore.certificate.chain", "ssl.keystore.location", "ssl.key.location", "ssl.certificate.location")
	if key == "" {
		return nil
	}
	s := r.settings[key]
	var certs []tls.Certificate
	var err error
	switch key {
	case "ssl.keystore.location":
		certs, err = r.keystore(s.value)
	case "ssl.keystore.key", "ssl.keystore.certificate.chain":
		certs, err = r.pemPair([]byte(r.settings.get("ssl.keystore.key")), []byte(r.settings.get("ssl.keystore.certificate.chain")), "ssl.keystore.key", "ssl.keystore.certificate.chain")
	default:
		certs, err = r.pemFiles()
	}
	if err != nil {
		return usagef(storeHint(err), "%s: %w", s.where(), err)
	}
	cfg.Certificates = certs
	return nil
}

func (r *resolver) pemFiles() ([]tls.Certificate, error) {
	var text [2][]byte
	for i, k := range []string{"ssl.key.location", "ssl.certificate.location"} {
		v := r.settings.get(k)
		if v == "" {
			continue
		}
		b, err := readFile(r.path(v), 16<<20)
		if err != nil {
			return nil, err
		}
		text[i] = b
	}
	return r.pemPair(text[0], text[1], "ssl.key.location", "ssl.certificate.location")
}

// expired says what a certificate's dates mean now, or "".
func expired(cert *x509.Certificate, now time.Time) (Kind, string) {
	const day = "2006-01-02 15:04 MST"
	switch {
	case now.After(cert.NotAfter):
		return KindExpired, "expired on " + cert.NotAfter.UTC().Format(day)
	case now.Before(cert.NotBefore):
		return KindNotYetValid, "is valid from " + cert.NotBefore.UTC().Format(day) + " on, and here it is " + now.UTC().Format(day)
	}
	return kindNone, ""
}

var errPassword = errors.New("the password is wrong")
