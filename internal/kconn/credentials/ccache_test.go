package credentials

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jcmturner/gokrb5/v8/test/testdata"
)

// TestCCache: what kinit wrote is read, and the same cut off or with a count that its
// bytes cannot hold is refused by name.
func TestCCache(t *testing.T) {
	b, err := hex.DecodeString(testdata.CCACHE_TEST)
	if err != nil {
		t.Fatal(err)
	}
	load := func(b []byte) error {
		path := filepath.Join(t.TempDir(), "krb5cc")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := loadCCache(path)
		return err
	}
	if err := load(b); err != nil {
		t.Errorf("what kinit wrote: %v", err)
	}
	for _, n := range []int{0, 1, 3, 20, len(b) / 2, len(b) - 1} {
		if load(b[:n]) == nil {
			t.Errorf("%d of %d bytes are taken for a whole cache", n, len(b))
		}
	}
	for i := range b { // a count somewhere is two thousand million
		huge := append([]byte(nil), b...)
		copy(huge[i:], "\x7f\xff\xff\xff")
		if err := load(huge); err != nil && !strings.HasSuffix(err.Error(), "krb5cc is no credential cache") {
			t.Errorf("a damaged byte %d: %v", i, err)
		}
	}
}
