package settings

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/internal/input"
)

// secretFile reads a file that holds one value; the line end that editors and
// kubectl leave there is no part of it.
func (s *Settings) secretFile(path string) (string, error) {
	b, err := ReadFile(s.Path(path), 1<<20)
	if err != nil {
		return "", err
	}
	return strings.TrimRight(string(b), "\r\n"), nil
}

// Path expands ~/ , which no shell has done inside a file.
func (s *Settings) Path(p string) string {
	if rest, ok := strings.CutPrefix(p, "~/"); ok && s.in.Home != "" {
		return filepath.Join(s.in.Home, rest)
	}
	return p
}

// ReadFile reads a whole file (or pipe: <(vault read …) is how secrets arrive) of at
// most limit bytes; the errors name the file once and are short.
func ReadFile(path string, limit int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), pipeTime)
	defer cancel()
	b, err := input.Read(ctx, path, limit)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("is a pipe, and was not written to its end within %v", pipeTime)
	}
	if err != nil {
		return nil, FileError(path, err)
	}
	return b, nil
}

// pipeTime bounds the waiting for what another program writes.
const pipeTime = 30 * time.Second

// FileError is what is wrong with a file, which it names once.
func FileError(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: no such file", path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: permission denied", path)
	case errors.Is(err, input.ErrDirectory):
		return fmt.Errorf("%s %w", path, err)
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}
