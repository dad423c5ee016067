package kconn

import (
	"bytes"
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	keystore "github.com/pavlo-v-chernykh/keystore-go/v4"
	"github.com/youmark/pkcs8"
	"software.sslmate.com/src/go-pkcs12"
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

// storeHint is what helps against the errors of this file.
func storeHint(err error) string {
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
func (r *resolver) checkType(key, path, format string) {
	s := r.settings[key]
	declared := strings.ToUpper(s.value)
	if declared == "" || declared == format || declared == formatJKS && format == formatPKCS12 || declared == formatPKCS12 && format == formatJKS || declared == "PKCS" {
		return // since Java 9 these two are read under either name
	}
	r.warn("%s=%s, but %s is %s and is read as such; Kafka's own clients will refuse it", s.where(), s.value, path, format)
}

// truststore reads the certificates to trust from a file of any format.
func (r *resolver) truststore(path string) ([]*x509.Certificate, error) {
	path = r.path(path)
	b, err := readFile(path, 16<<20)
	if err != nil {
		return nil, err
	}
	format := storeFormat(b)
	r.checkType("ssl.truststore.type", path, format)
	var certs []*x509.Certificate
	password := r.settings.get("ssl.truststore.password")
	switch format {
	case formatPEM:
		certs, err = pemCertificates(b)
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
func (r *resolver) keystore(path string) ([]tls.Certificate, error) {
	path = r.path(path)
	b, err := readFile(path, 16<<20)
	if err != nil {
		return nil, err
	}
	format := storeFormat(b)
	r.checkType("ssl.keystore.type", path, format)
	var certs []tls.Certificate
	store := r.settings.get("ssl.keystore.password")
	keyPassword := firstOf(r.settings.get("ssl.key.password"), store)
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

// normalPEM undoes what property files do to PEM: line ends lost to a
// continuation, or kept as the two characters \n.
func normalPEM(b []byte) []byte {
	s := string(b)
	if !strings.Contains(s, "\n") {
		s = strings.ReplaceAll(s, `\n`, "\n")
	}
	var out strings.Builder
	for {
		begin := strings.Index(s, "-----BEGIN ")
		if begin < 0 {
			break
		}
		s = s[begin:]
		const label, mark = len("-----BEGIN "), "-----"
		head := strings.Index(s[label:], mark)
		tail := strings.Index(s, "-----END ")
		if head < 0 || tail < 0 {
			break
		}
		head += label + len(mark)
		end := strings.Index(s[tail+len("-----END "):], mark)
		if end < 0 || tail < head { // the second: BEGIN ran into END
			break
		}
		end += tail + len("-----END ") + len(mark)
		body := s[head:tail]
		if !strings.Contains(body, ":") { // no headers as in a traditional encrypted key: blanks mean nothing
			body = strings.Join(strings.Fields(body), "\n")
		}
		out.WriteString(s[:head] + "\n" + strings.TrimSpace(body) + "\n" + s[tail:end] + "\n")
		s = s[end:]
	}
	return []byte(out.String())
}

func pemCertificates(b []byte) ([]*x509.Certificate, error) {
	var certs []*x509.Certificate
	for rest := normalPEM(b); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" && block.Type != "TRUSTED CERTIFICATE" {
			continue
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("certificate %d: %w", len(certs)+1, err)
		}
		certs = append(certs, cert)
	}
	if len(certs) == 0 {
		return nil, errors.New("no certificate in PEM (-----BEGIN CERTIFICATE-----) in it")
	}
	return certs, nil
}

// pemPair joins a private key and its chain, named for messages by where they stand.
func (r *resolver) pemPair(keyText, chainText []byte, keyName, chainName string) ([]tls.Certificate, error) {
	if len(keyText) == 0 {
		return nil, fmt.Errorf("a certificate without its key: set %s too", keyName)
	}
	if len(chainText) == 0 {
		return nil, fmt.Errorf("a key without its certificate: set %s too", chainName)
	}
	password := firstOf(r.settings.get("ssl.key.password"), r.settings.get("ssl.keystore.password"))
	key, err := pemKey(keyText, password)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", keyName, err)
	}
	certs, err := pemCertificates(chainText)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", chainName, err)
	}
	pair := tls.Certificate{PrivateKey: key}
	for _, c := range certs {
		pair.Certificate = append(pair.Certificate, c.Raw)
	}
	if signer, ok := key.(crypto.Signer); ok && !samePublicKey(signer, certs[0]) {
		return nil, fmt.Errorf("the key of %s is not that of the first certificate of %s", keyName, chainName)
	}
	return []tls.Certificate{pair}, nil
}

func samePublicKey(key crypto.Signer, cert *x509.Certificate) bool {
	pub, ok := key.Public().(interface{ Equal(crypto.PublicKey) bool })
	return ok && pub.Equal(cert.PublicKey)
}

// pemKey reads the first private key of a PEM text: PKCS8 plain or encrypted
// (PBES1 and PBES2), PKCS1, SEC1, and the old form that openssl encrypts itself.
func pemKey(text []byte, password string) (crypto.PrivateKey, error) {
	for rest := normalPEM(text); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return nil, errors.New("no private key in PEM (-----BEGIN PRIVATE KEY-----) in it")
		}
		switch {
		case block.Type == "ENCRYPTED PRIVATE KEY":
			return encryptedKey(block.Bytes, password)
		case !strings.HasSuffix(block.Type, "PRIVATE KEY"):
			continue
		case strings.Contains(block.Headers["Proc-Type"], "ENCRYPTED"):
			if password == "" {
				return nil, errNoPassword
			}
			//lint:ignore SA1019 weak, and still what people have; nothing is encrypted here
			der, err := x509.DecryptPEMBlock(block, []byte(password)) //nolint:staticcheck // likewise
			if err != nil {
				return nil, errPassword
			}
			return parseKey(der)
		}
		return parseKey(block.Bytes)
	}
}

var errNoPassword = errors.New("the key is encrypted and ssl.key.password is not set")

func encryptedKey(der []byte, password string) (crypto.PrivateKey, error) {
	if password == "" {
		return nil, errNoPassword
	}
	if key, err := decryptPBES1(der, password); !errors.Is(err, errNotPBES1) {
		return key, err
	}
	key, _, err := pkcs8.ParsePrivateKey(der, []byte(password))
	switch {
	case err == nil:
		return key, nil
	case strings.Contains(err.Error(), "incorrect password"):
		return nil, errPassword
	case strings.Contains(err.Error(), "support"):
		return nil, fmt.Errorf("%w (%w)", errCipher, err)
	}
	return nil, fmt.Errorf("%w (%w)", errPassword, err)
}

func parseKey(der []byte) (crypto.PrivateKey, error) {
	if key, err := x509.ParsePKCS8PrivateKey(der); err == nil {
		return key, nil
	}
	if key, err := x509.ParsePKCS1PrivateKey(der); err == nil {
		return key, nil
	}
	key, err := x509.ParseECPrivateKey(der)
	if err != nil {
		return nil, errors.New("a private key of an unknown form (PKCS8, PKCS1 and SEC1 are read)")
	}
	return key, nil
}
