package settings

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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

// ReadFile reads a whole regular file (or pipe: <(vault read …) is how secrets
// arrive) of at most limit bytes; the errors name the file once and are short.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, FileError(path, err)
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && st.IsDir() {
		return nil, fmt.Errorf("%s is a directory, a file is expected", path)
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, FileError(path, err)
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("%s is over %d MB: not a configuration file", path, limit>>20)
	}
	return b, nil
}

// FileError is what is wrong with a file, which it names once.
func FileError(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: no such file", path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: permission denied", path)
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}
