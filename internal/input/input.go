package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// Patience is how long Open waits for somebody to write to a named pipe.
const Patience = 3 * time.Second

// The errors of what is no file to read. They do not name it: the caller does.
var (
	ErrDirectory = errors.New("is a directory, a file is expected")
	ErrNoWriter  = fmt.Errorf("is a pipe, and nobody began to write to it within %v", Patience)
)

// Open opens a file for reading. Reading ends with the context's error once that is
// done, so that a pipe whose writer sleeps holds up no signal. Errors are those of os,
// ErrDirectory, ErrNoWriter, or the context's.
func Open(ctx context.Context, name string) (io.ReadCloser, error) {
	st, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case st.IsDir():
		return nil, ErrDirectory
	case st.Mode().IsRegular():
		return os.Open(name)
	}
	f, err := openPipe(ctx, name)
	if err != nil {
		return nil, err
	}
	return &file{Reader: Until(ctx, f), Closer: f}, nil
}

// file closes what it reads from.
type file struct {
	io.Reader
	io.Closer
}

// openPipe opens what may make the caller wait for the other side.
func openPipe(ctx context.Context, name string) (*os.File, error) {
	type opened struct {
		f   *os.File
		err error
	}
	done := make(chan opened, 1)
	go func() {
		f, err := os.Open(name)
		done <- opened{f, err}
	}()
	timer := time.NewTimer(Patience)
	defer timer.Stop()
	select {
	case o := <-done:
		return o.f, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timer.C:
		return nil, ErrNoWriter
	}
}

// Read reads a file whole. One of more than so many bytes is a *TooLargeError, told as
// soon as that is known.
func Read(ctx context.Context, name string, most int64) ([]byte, error) {
	if st, err := os.Stat(name); err == nil && st.Mode().IsRegular() && st.Size() > most {
		return nil, &TooLargeError{most}
	}
	f, err := Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return All(f, most)
}

// All reads everything from r, at most so many bytes.
func All(r io.Reader, most int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(b)) > most {
		return nil, &TooLargeError{most}
	}
	return b, err
}

// TooLargeError is an input of more bytes than such a file can reasonably have.
type TooLargeError struct{ Most int64 }

// Error says how much would have been read.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("is larger than %d MiB: not read", e.Most>>20)
}

// IsMissing reports whether an error says that there is no such file.
func IsMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// Until gives a reader of r whose Read returns the context's error when that is done,
// although r itself may go on waiting. What r reads after that is lost.
func Until(ctx context.Context, r io.Reader) io.Reader { return &until{ctx: ctx, r: r} }

type until struct {
	ctx context.Context
	r   io.Reader
	buf []byte // of the reading under way; never b itself, which the caller may use again
}

type count struct {
	n   int
	err error
}

// Read implements io.Reader.
func (u *until) Read(b []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	if len(u.buf) < len(b) {
		u.buf = make([]byte, len(b))
	}
	buf, done := u.buf[:len(b)], make(chan count, 1)
	go func() {
		n, err := u.r.Read(buf)
		done <- count{n, err}
	}()
	select {
	case c := <-done:
		return copy(b, buf[:c.n]), c.err
	case <-u.ctx.Done():
		u.buf = nil // the reading that goes on has it
		return 0, u.ctx.Err()
	}
}
