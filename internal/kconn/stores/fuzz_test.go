package stores

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kgdiag/kgdiag/internal/kconn/settings"
)

func FuzzStores(f *testing.F) {
	f.Add([]byte("\xfe\xed\xfe\xed\x00\x00\x00\x02\x00\x00\x00\x01"))
	f.Add([]byte("\xfe\xed\xfe\xed\x00\x00\x00\x02\xff\xff\xff\xff\x00\x00\x00\x01\xff\xff"))
	// One key with four billion certificates.
	f.Add([]byte("\xfe\xed\xfe\xed\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00\x01\x00\x01a\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff"))
	f.Add([]byte("\x30\x82\x01\x00"))
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n-----BEGIN ENCRYPTED PRIVATE KEY-----\nMAA=\n-----END ENCRYPTED PRIVATE KEY-----"))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "s")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		r := reader{&settings.Settings{}}
		_, _ = Trusted(path, "x")
		_, _ = r.keystore(path)
	})
}
