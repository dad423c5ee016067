package inspect

import (
	"errors"
	"fmt"
	"io/fs"
)

// FileError is a file, named by the user, that cannot be read or made.
type FileError struct {
	Err  error  // names the file
	Help string // what to do about it; "" for nothing
}

// NewFileError names a file in an error of opening, reading or making it, and drops
// the system call.
func NewFileError(name string, err error) *FileError {
	var path *fs.PathError
	switch {
	case errors.As(err, &path) && errors.Is(path.Err, fs.ErrNotExist):
		return &FileError{Err: fmt.Errorf("%s: no such file", name)}
	case errors.As(err, &path):
		return &FileError{Err: fmt.Errorf("%s: %w", name, path.Err)}
	}
	return &FileError{Err: fmt.Errorf("%s: %w", name, err)}
}

// Error is the file's name and what is wrong with it.
func (e *FileError) Error() string { return e.Err.Error() }

// Unwrap is the error behind it.
func (e *FileError) Unwrap() error { return e.Err }

// Hint is what to do about it.
func (e *FileError) Hint() string { return e.Help }

// Usage marks it as a fault of what the user named, not of a cluster.
func (e *FileError) Usage() bool { return true }
