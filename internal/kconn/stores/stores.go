package stores

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"

	keystore "github.com/pavlo-v-chernykh/keystore-go/v4"
	"software.sslmate.com/src/go-pkcs12"

	"github.com/kgdiag/kgdiag/internal/kconn/settings"
)

// The formats of trust and key stores, told by their first bytes: a file named
// .jks made by a JDK of the last ten years is PKCS12, and Java reads it as such.
const (
	formatPEM    = "PEM"
	formatJKS    = "JKS"
	formatPKCS12 = "PKCS12"
	formatJCEKS  = "JCEKS"
	formatBCFKS  = "BCFKS"
)

func storeFormat(b []byte) string {
	switch {
	case bytes.HasPrefix(b, []byte{0xFE, 0xED, 0xFE, 0xED}):
		return formatJKS
	case bytes.HasPrefix(b, []byte{0xCE, 0xCE, 0xCE, 0xCE}):
		return formatJCEKS
	case bytes.Contains(b, []byte("-----BEGIN ")):
		return formatPEM
	case len(b) > 0 && b[0] == 0x30:
		return formatPKCS12
	}
	return ""
}

// Hint is what helps against the errors of this file.
func Hint(err error) string {
	switch {
	case errors.Is(err, errPassword):
		return "keytool -list -keystore FILE asks for the same password; a backslash in a .properties file is written \\\\"
	case errors.Is(err, errNoTrust):
		return "import the CA with keytool -importcert, or name its PEM file: ssl.ca.location=FILE"
	case errors.Is(err, errCipher):
		return "openssl pkcs8 -topk8 -v2 aes-256-cbc -in OLD -out NEW writes a form that can be read"
	case errors.Is(err, errFormat):
		return "JKS, PKCS12 and PEM are read; convert with keytool -importkeystore -deststoretype PKCS12"
	}
	return ""
}

var (
	errNoTrust = errors.New("no trusted certificate in it")
	errNoKey   = errors.New("no private key in it")
	errCipher  = errors.New("the key is encrypted in a way that is not read here")
	errFormat  = errors.New("not a key store")
)

// checkType compares ssl.*store.type with what the file is. Java would refuse
// most such files, kgdiag reads them and says so.
func (r reader) checkType(key, path, format string) {
	s := r.At(key)
	declared := strings.ToUpper(s.Value)
	if declared == "" || declared == format || declared == formatJKS && format == formatPKCS12 || declared == formatPKCS12 && format == formatJKS || declared == "PKCS" {
		return // since Java 9 these two are read under either name
	}
	r.Warn("%s=%s, but %s is %s and is read as such; Kafka's own clients will refuse it", s.Where(), s.Value, path, format)
}

// truststore reads the trust store of the settings.
func (r reader) truststore(path string) ([]*x509.Certificate, error) {
	path = r.Path(path)
	if b, err := settings.ReadFile(path, 16<<20); err == nil {
		r.checkType("ssl.truststore.type", path, storeFormat(b))
	}
	return Trusted(path, r.Get("ssl.truststore.password"))
}

// Trusted reads the certificates to trust from a file of any format.
func Trusted(path, password string) ([]*x509.Certificate, error) {
	b, err := settings.ReadFile(path, 16<<20)
	if err != nil {
		return nil, err
	}
	var certs []*x509.Certificate
	switch format := storeFormat(b); format {
	case formatPEM:
		certs, err = Certificates(b)
	case formatJKS:
		certs, err = jksTrusted(b, password)
	case formatPKCS12:
		if cert, derErr := x509.ParseCertificate(b); derErr == nil {
			certs = []*x509.Certificate{cert} // a bare DER certificate begins like PKCS12
			break
		}
		certs, err = pkcs12Trusted(b, password)
	case "":
		err = errFormat
	default:
		err = fmt.Errorf("%s is a format of its own: %w", format, errFormat)
	}
	if err == nil && len(certs) == 0 {
		err = errNoTrust
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return certs, nil
}

// keystore reads the client's key pairs from a file of any format.
func (r reader) keystore(path string) ([]tls.Certificate, error) {
	path = r.Path(path)
	b, err := settings.ReadFile(path, 16<<20)
	if err != nil {
		return nil, err
	}
	format := storeFormat(b)
	r.checkType("ssl.keystore.type", path, format)
	var certs []tls.Certificate
	store := r.Get("ssl.keystore.password")
	keyPassword := cmp.Or(r.Get("ssl.key.password"), store)
	switch format {
	case formatPEM:
		// Java's PEM key store is one file with the key and its chain.
		certs, err = r.pemPair(b, b, path, path)
		return certs, err
	case formatJKS:
		certs, err = jksKeys(b, store, keyPassword)
	case formatPKCS12:
		certs, err = pkcs12Key(b, store)
	case "":
		err = errFormat
	default:
		err = fmt.Errorf("%s is a format of its own: %w", format, errFormat)
	}
	if err == nil && len(certs) == 0 {
		err = errNoKey
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return certs, nil
}

func loadJKS(b []byte, password string) (keystore.KeyStore, error) {
	ks := keystore.New(keystore.WithOrderedAliases(), keystore.WithCaseExactAliases())
	if err := checkJKS(b); err != nil {
		return ks, err
	}
	if err := ks.Load(bytes.NewReader(b), []byte(password)); err != nil {
		if strings.Contains(err.Error(), "digest") {
			return ks, errPassword
		}
		return ks, fmt.Errorf("%w (%w)", errDamagedJKS, err)
	}
	return ks, nil
}

func jksTrusted(b []byte, password string) ([]*x509.Certificate, error) {
	ks, err := loadJKS(b, password)
	// Without a password Java reads the certificates and skips the check of
	// integrity; the library has read them by the time it compares the digest.
	if err != nil && (password != "" || !errors.Is(err, errPassword)) {
		return nil, err
	}
	var certs []*x509.Certificate
	for _, alias := range ks.Aliases() {
		var der []byte
		if ks.IsTrustedCertificateEntry(alias) {
			if e, err := ks.GetTrustedCertificateEntry(alias); err == nil {
				der = e.Certificate.Content
			}
		} else if chain, err := ks.GetPrivateKeyEntryCertificateChain(alias); err == nil && len(chain) > 0 {
			der = chain[0].Content // Java's PKIX trust takes the first of a key's chain too
		}
		if cert, err := x509.ParseCertificate(der); err == nil {
			certs = append(certs, cert)
		}
	}
	return certs, nil
}

func jksKeys(b []byte, store, keyPassword string) ([]tls.Certificate, error) {
	ks, err := loadJKS(b, store)
	if err != nil {
		return nil, err
	}
	var certs []tls.Certificate
	for _, alias := range ks.Aliases() {
		if !ks.IsPrivateKeyEntry(alias) {
			continue
		}
		e, err := ks.GetPrivateKeyEntry(alias, []byte(keyPassword))
		if err != nil {
			return nil, fmt.Errorf("key %s: %w (ssl.key.password, or ssl.keystore.password where the two are the same)", alias, errPassword)
		}
		key, err := x509.ParsePKCS8PrivateKey(e.PrivateKey)
		if err != nil {
			return nil, fmt.Errorf("key %s: %w", alias, err)
		}
		cert := tls.Certificate{PrivateKey: key}
		for _, c := range e.CertificateChain {
			cert.Certificate = append(cert.Certificate, c.Content)
		}
		certs = append(certs, cert)
	}
	return certs, nil
}

func pkcs12Error(err error) error {
	if errors.Is(err, pkcs12.ErrIncorrectPassword) || errors.Is(err, pkcs12.ErrDecryption) {
		return errPassword
	}
	return fmt.Errorf("%w in PKCS12 (%w)", errFormat, err)
}

func pkcs12Trusted(b []byte, password string) ([]*x509.Certificate, error) {
	certs, err := pkcs12.DecodeTrustStore(b, password)
	if err == nil {
		return certs, nil
	}
	if errors.Is(err, pkcs12.ErrIncorrectPassword) {
		return nil, errPassword
	}
	// A store with a key in it, as Java's PKIX trust takes it: the certificate of
	// the key and every CA beside it.
	if _, cert, rest, chainErr := pkcs12.DecodeChain(b, password); chainErr == nil {
		return append(rest, cert), nil
	}
	if strings.Contains(err.Error(), "not marked as trusted") {
		return nil, fmt.Errorf("%w: its certificates lack the mark by which Java knows trusted ones (openssl pkcs12 -export does not set it)", errNoTrust)
	}
	return nil, pkcs12Error(err)
}

func pkcs12Key(b []byte, password string) ([]tls.Certificate, error) {
	key, cert, chain, err := pkcs12.DecodeChain(b, password)
	if err != nil {
		if _, trustErr := pkcs12.DecodeTrustStore(b, password); trustErr == nil {
			return nil, errNoKey
		}
		return nil, pkcs12Error(err)
	}
	pair := tls.Certificate{PrivateKey: key, Certificate: [][]byte{cert.Raw}}
	for _, c := range chain {
		pair.Certificate = append(pair.Certificate, c.Raw)
	}
	return []tls.Certificate{pair}, nil
}
