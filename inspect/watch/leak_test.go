package watch

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails where a goroutine is left behind when all tests have ended.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
