package input

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestReadRefuses(t *testing.T) {
	dir := t.TempDir()
	large := filepath.Join(dir, "large")
	if err := os.WriteFile(large, make([]byte, 2<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	var tooLarge *TooLargeError
	if _, err := Read(t.Context(), dir, 1<<20); !errors.Is(err, ErrDirectory) {
		t.Errorf("directory: %v", err)
	}
	if _, err := Read(t.Context(), filepath.Join(dir, "none"), 1<<20); !IsMissing(err) {
		t.Errorf("missing: %v", err)
	}
	if _, err := Read(t.Context(), large, 1<<20); !errors.As(err, &tooLarge) || err.Error() != "is larger than 1 MiB: not read" {
		t.Errorf("large: %v", err)
	}
	if _, err := Read(t.Context(), "/dev/zero", 1<<20); !errors.As(err, &tooLarge) {
		t.Errorf("no end: %v", err)
	}
	if b, err := Read(t.Context(), large, 2<<20); err != nil || len(b) != 2<<20 {
		t.Errorf("at the limit: %d bytes, %v", len(b), err)
	}
}

func TestAPipeIsRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("line\n", 100_000)
	go func() { _ = os.WriteFile(name, []byte(text), 0o600) }()
	if b, err := Read(t.Context(), name, 1<<20); err != nil || string(b) != text {
		t.Errorf("%d bytes of %d, %v", len(b), len(text), err)
	}
}

func TestAContextEndsTheWaitingForAPipe(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := Read(ctx, name, 1<<20); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("no writer: %v", err)
	}
	silent, other := io.Pipe()
	defer other.Close()
	if _, err := All(Until(ctx, silent), 1<<20); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a silent writer: %v", err)
	}
}
