package stores

import (
	"bytes"
	"crypto/ecdsa"
	"encoding/pem"
	"errors"
	"os"
	"testing"
)

// The keys of testdata/pbes1 are one key, encrypted by OpenSSL 3 with the password
// "another": openssl pkcs8 -topk8 -v1 SCHEME.
func TestPBES1(t *testing.T) {
	read := func(name string) []byte {
		b, err := os.ReadFile("testdata/pbes1/" + name + ".pem")
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	plain, err := pemKey(read("plain"), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, scheme := range []string{"PBE-SHA1-3DES", "PBE-MD5-DES", "PBE-SHA1-DES"} {
		key, err := pemKey(read(scheme), "another")
		if err != nil {
			t.Errorf("%s: %v", scheme, err)
			continue
		}
		if !plain.(*ecdsa.PrivateKey).Equal(key) {
			t.Errorf("%s: another key", scheme)
		}
		if _, err := pemKey(read(scheme), "wrong"); !errors.Is(err, errPassword) {
			t.Errorf("%s, wrong password: %v", scheme, err)
		}
		if _, err := pemKey(read(scheme), ""); !errors.Is(err, errNoPassword) {
			t.Errorf("%s, no password: %v", scheme, err)
		}
	}
}

func FuzzPBES1(f *testing.F) {
	for _, name := range []string{"PBE-SHA1-3DES", "PBE-MD5-DES"} {
		b, err := os.ReadFile("testdata/pbes1/" + name + ".pem")
		if err != nil {
			f.Fatal(err)
		}
		block, _ := pem.Decode(b)
		f.Add(block.Bytes)
		f.Add(bytes.ReplaceAll(block.Bytes, []byte{2, 2, 8, 0}, []byte{2, 2, 0, 1}))
	}
	f.Fuzz(func(_ *testing.T, der []byte) {
		if len(der) > 4096 || bytes.Contains(der, []byte{2, 3}) || bytes.Contains(der, []byte{2, 4}) {
			return // a number of iterations that takes long, as it has to
		}
		_, _ = decryptPBES1(der, "another")
	})
}
