package credentials

import (
	"os"
	"path/filepath"
	"testing"
)

func FuzzTickets(f *testing.F) {
	f.Add([]byte("\x05\x02\x00\x00\x00\x01\x00"))
	f.Add([]byte("\x05\x04\x00\x0c\x00\x01\x00\x08\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "k")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _ = loadKeytab(path)
		_, _ = loadCCache(path)
	})
}
