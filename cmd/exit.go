package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/internal/render"
)

// The exit codes, the same whatever -o is.
const (
	exitOK         = 0 // ran, --fail-on not tripped
	exitTripped    = 1 // ran, --fail-on tripped
	exitUsage      = 2 // usage, or an input file that cannot be read
	exitIncomplete = 3 // unreachable, unauthorised, timed out, cancelled
	exitNotFound   = 4 // a named group, partition or broker does not exist
)

// problem is an error with the exit code and the hint that belong to it.
type problem struct {
	code  int
	err   error
	hint  string
	quiet bool // the result on stdout has said it already
}

func (p *problem) Error() string { return p.err.Error() }
func (p *problem) Unwrap() error { return p.err }

// Hint is what to do about it.
func (p *problem) Hint() string { return p.hint }

// usage is a usage error: exit 2.
func usage(msg, hint string) error {
	return &problem{code: exitUsage, err: errors.New(msg), hint: hint}
}

// usagef is a usage error without a hint.
func usagef(format string, args ...any) error {
	return &problem{code: exitUsage, err: fmt.Errorf(format, args...)}
}

// notFound is a named thing that does not exist, where the broker that would know
// has answered: exit 4.
func notFound(err error, hint string) error {
	return &problem{code: exitNotFound, err: err, hint: hint}
}

// incomplete is a run that could not be completed: exit 3.
func incomplete(err error, hint string) error {
	return &problem{code: exitIncomplete, err: err, hint: hint}
}

// tripped is --fail-on: exit 1, after the whole result was shown.
func tripped() error {
	return &problem{code: exitTripped, err: errors.New("tripped"), quiet: true}
}

// signalError is the cause of a context that a signal cancelled.
type signalError struct{ signal os.Signal }

func (e *signalError) Error() string {
	if e.signal == os.Interrupt {
		return "interrupted"
	}
	return "terminated"
}

// Errors from below cmd may carry these.
type (
	hinter      interface{ Hint() string }
	usageMarker interface{ Usage() bool }
)

// exit prints an error, if there is one, and chooses the code.
func (a *app) exit(c *cobra.Command, err error) int {
	if err == nil {
		return exitOK
	}
	// A reader that closed its pipe has seen enough.
	if errors.Is(err, syscall.EPIPE) {
		return exitOK
	}
	if a.cancelled != nil && a.cancelled() != nil && errors.Is(err, context.Canceled) {
		err = &problem{code: exitIncomplete, err: &signalError{a.cancelled()}}
	}
	code, hint, quiet := exitIncomplete, "", false
	var p *problem
	var u usageMarker
	switch {
	case errors.As(err, &p):
		code, quiet = p.code, p.quiet
	case errors.As(err, &u) && u.Usage():
		code = exitUsage
	}
	var h hinter
	if errors.As(err, &h) {
		hint = h.Hint()
	}
	if !quiet {
		a.complain(c, err, hint)
	}
	return code
}

// complain writes an error and its hint to stderr, cleaned, since both may quote
// ids and files.
func (a *app) complain(_ *cobra.Command, err error, hint string) {
	fmt.Fprintf(a.streams.Err, "kgdiag: %s\n", render.Clean(err.Error()))
	for i, line := range strings.Split(hint, "\n") {
		switch {
		case hint == "":
		case i == 0:
			fmt.Fprintf(a.streams.Err, "hint: %s\n", render.Clean(line))
		default:
			fmt.Fprintf(a.streams.Err, "      %s\n", render.Clean(line))
		}
	}
}

// warn writes a warning to stderr, unless -q.
func (a *app) warn(format string, args ...any) {
	if !a.flags.quiet {
		fmt.Fprintf(a.streams.Err, "kgdiag: warning: %s\n", render.Clean(fmt.Sprintf(format, args...)))
	}
}

// flagError turns cobra's flag errors into usage errors in kgdiag's words, with the
// nearest flag or the help.
func flagError(c *cobra.Command, err error) error {
	hint := "see " + c.CommandPath() + " --help"
	var bad *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	switch {
	case errors.As(err, &bad):
		return usage(fmt.Sprintf("--%s %q: want %s", bad.GetFlag().Name, bad.GetValue(), wanted(bad)), hint)
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "":
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		if near := prose.NearestFew(unknown.GetSpecifiedName(), names); len(near) > 0 {
			hint = "nearest: --" + strings.Join(near, ", --") + "; " + hint
		}
	}
	return usage(err.Error(), hint)
}

// wanted says what a flag takes: the flag's own words, where it has any, else the
// kind of value.
func wanted(e *pflag.InvalidValueError) string {
	switch e.GetFlag().Value.Type() {
	case "int", "int32", "int64", "uint16":
		return "a whole number"
	case "bool":
		return "true or false"
	}
	return strings.TrimPrefix(e.Unwrap().Error(), "want ")
}
