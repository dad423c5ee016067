package stores

import (
	"crypto"
	"crypto/cipher"
	"crypto/des"
	"crypto/md5"  //nolint:gosec // what Java's encrypted PEM files have
	"crypto/sha1" //nolint:gosec // likewise
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"hash"
	"unicode/utf16"
)

// Kafka 4.1 on Java 17 reads encrypted PEM keys of the old schemes alone (tried:
// for PBES2 it fails with "PBES2 SecretKeyFactory not available"), so these are what
// people have. No kept library reads them outside of a PKCS12 file.
var (
	oidPBEMD5DES   = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 3}     // PBEWithMD5AndDES, PKCS5 v1.5
	oidPBESHA1DES  = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 10}    // PBEWithSHA1AndDES, PKCS5 v1.5
	oidPBESHA13DES = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 12, 1, 3} // PBEWithSHA1AndDESede, PKCS12
)

var errNotPBES1 = errors.New("not one of the old schemes")

// maxIterations bounds what a file can make this program compute.
const maxIterations = 10_000_000

// decryptPBES1 decrypts a PKCS8 key of one of the old schemes; errNotPBES1 where it
// is of another.
func decryptPBES1(der []byte, password string) (crypto.PrivateKey, error) {
	var info struct {
		Algorithm pkix.AlgorithmIdentifier
		Data      []byte
	}
	if _, err := asn1.Unmarshal(der, &info); err != nil {
		return nil, errNotPBES1
	}
	var params struct {
		Salt       []byte
		Iterations int
	}
	oid := info.Algorithm.Algorithm
	if !oid.Equal(oidPBEMD5DES) && !oid.Equal(oidPBESHA1DES) && !oid.Equal(oidPBESHA13DES) {
		return nil, errNotPBES1
	}
	if _, err := asn1.Unmarshal(info.Algorithm.Parameters.FullBytes, &params); err != nil || params.Iterations < 1 || params.Iterations > maxIterations {
		return nil, errors.New("damaged encrypted key")
	}
	var block cipher.Block
	var iv []byte
	var err error
	if oid.Equal(oidPBESHA13DES) {
		block, err = des.NewTripleDESCipher(pkcs12KDF(password, params.Salt, params.Iterations, 1, 24))
		iv = pkcs12KDF(password, params.Salt, params.Iterations, 2, des.BlockSize)
	} else {
		h := md5.New()
		if oid.Equal(oidPBESHA1DES) {
			h = sha1.New()
		}
		derived := pbkdf1(h, []byte(password), params.Salt, params.Iterations)
		block, err = des.NewCipher(derived[:8])
		iv = derived[8:16]
	}
	if err != nil {
		return nil, err
	}
	plain, ok := decryptCBC(block, iv, info.Data)
	if !ok {
		return nil, errPassword
	}
	key, err := parseKey(plain)
	if err != nil {
		return nil, errPassword // one in 256 wrong passwords leaves valid padding
	}
	return key, nil
}

// decryptCBC decrypts and takes the padding off; false where it is none.
func decryptCBC(block cipher.Block, iv, data []byte) ([]byte, bool) {
	size := block.BlockSize()
	if len(data) == 0 || len(data)%size != 0 {
		return nil, false
	}
	out := make([]byte, len(data))
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(out, data)
	pad := int(out[len(out)-1])
	if pad < 1 || pad > size {
		return nil, false
	}
	for _, b := range out[len(out)-pad:] {
		if int(b) != pad {
			return nil, false
		}
	}
	return out[:len(out)-pad], true
}

// pbkdf1 is PBKDF1 of RFC 8018, section 5.1.
func pbkdf1(h hash.Hash, password, salt []byte, iterations int) []byte {
	h.Write(password)
	h.Write(salt)
	sum := h.Sum(nil)
	for range iterations - 1 {
		h.Reset()
		h.Write(sum)
		sum = h.Sum(sum[:0])
	}
	return sum
}

// pkcs12KDF derives size bytes as RFC 7292, appendix B.2, does with SHA-1; id is 1
// for a key and 2 for an initial vector.
func pkcs12KDF(password string, salt []byte, iterations int, id byte, size int) []byte {
	const u, v = sha1.Size, sha1.BlockSize
	var bmp []byte
	for _, c := range utf16.Encode([]rune(password)) {
		bmp = append(bmp, byte(c>>8), byte(c))
	}
	bmp = append(bmp, 0, 0)
	fill := func(b []byte) []byte {
		if len(b) == 0 {
			return nil
		}
		out := make([]byte, (len(b)+v-1)/v*v)
		for i := range out {
			out[i] = b[i%len(b)]
		}
		return out
	}
	input := append(fill(salt), fill(bmp)...)
	diversifier := make([]byte, v)
	for i := range diversifier {
		diversifier[i] = id
	}
	var out []byte
	for len(out) < size {
		sum := sha1.Sum(append(append([]byte{}, diversifier...), input...))
		a := sum[:]
		for range iterations - 1 {
			next := sha1.Sum(a)
			a = next[:]
		}
		out = append(out, a...)
		b := make([]byte, v)
		for i := range b {
			b[i] = a[i%u]
		}
		// Every block of the input becomes itself plus b plus one, as a number.
		for j := 0; j < len(input); j += v {
			carry := 1
			for k := v - 1; k >= 0; k-- {
				n := int(input[j+k]) + int(b[k]) + carry
				input[j+k], carry = byte(n), n>>8
			}
		}
	}
	return out[:size]
}
