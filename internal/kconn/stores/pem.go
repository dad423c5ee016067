package stores

import (
	"cmp"
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"github.com/youmark/pkcs8"
)

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

// Certificates reads the certificates of a PEM text.
func Certificates(b []byte) ([]*x509.Certificate, error) {
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
func (r reader) pemPair(keyText, chainText []byte, keyName, chainName string) ([]tls.Certificate, error) {
	if len(keyText) == 0 {
		return nil, fmt.Errorf("a certificate without its key: set %s too", keyName)
	}
	if len(chainText) == 0 {
		return nil, fmt.Errorf("a key without its certificate: set %s too", chainName)
	}
	password := cmp.Or(r.Get("ssl.key.password"), r.Get("ssl.keystore.password"))
	key, err := pemKey(keyText, password)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", keyName, err)
	}
	certs, err := Certificates(chainText)
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
