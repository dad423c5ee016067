package past

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/clientlog"
	"github.com/kgdiag/kgdiag/inspect/platform"
	"github.com/kgdiag/kgdiag/internal/input"
)

// MostEvents bounds what is kept of log files, so that a log of any size fits.
const MostEvents = 200_000

// Logs is what log files say.
type Logs struct {
	Events  []inspect.LogEvent
	Configs []inspect.ClientConfig
	Files   []inspect.LogFile
	Dropped int // events beyond what is kept
	// Nothing are the files that had nothing of consumer groups in them, in a clause
	// each: "app.log: 412 lines, nothing about consumer groups in them".
	Nothing []string
	// Cut are the files with lines so long that only their start was read, likewise.
	Cut []string
}

// ReadLogs reads log files in order. Errors are *inspect.FileError, or the context's.
func ReadLogs(ctx context.Context, names []string, o clientlog.Options) (Logs, error) {
	var out Logs
	for _, name := range names {
		if err := out.read(ctx, name, o); err != nil {
			return out, err
		}
	}
	return out, nil
}

func (l *Logs) read(ctx context.Context, name string, o clientlog.Options) error {
	f, err := input.Open(ctx, name)
	if err != nil {
		return fileError(ctx, name, err)
	}
	defer f.Close()
	printed := map[[sha256.Size]byte]bool{} // a process prints its configuration at each start
	sum, err := clientlog.Read(f, name, o, clientlog.Handler{
		Event: func(e inspect.LogEvent) error {
			if len(l.Events) >= MostEvents {
				l.Dropped++
			} else {
				l.Events = append(l.Events, e)
			}
			return ctx.Err()
		},
		Config: func(c inspect.ClientConfig) error {
			if said := statement(c); !printed[said] {
				printed[said] = true
				l.Configs = append(l.Configs, c)
			}
			return ctx.Err()
		},
	})
	l.Files = append(l.Files, inspect.LogFile{Name: name, Lines: sum.Lines, Events: sum.Events})
	if err == nil && sum.Cut > 0 {
		l.Cut = append(l.Cut, fmt.Sprintf("%s: %s longer than %d MiB, of which only the start was read (the first is line %d)", name, lines(sum.Cut, "is", "are"), clientlog.MaxLine>>20, sum.FirstCut))
	}
	switch {
	case err == nil && sum.Nothing():
		l.Nothing = append(l.Nothing, nothingIn(name, sum.Lines))
		return nil
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return &inspect.FileError{Err: err} // it names the file
}

// statement is what a printed configuration says, wherever it stands.
func statement(c inspect.ClientConfig) [sha256.Size]byte {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %q %q %q", c.Dialect, c.Name, c.Family, c.Framework, c.Version, c.Group)
	for _, x := range c.Settings {
		fmt.Fprintf(h, " %q=%q", x.Key, x.Value)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// mostProcessBytes bounds a file of the platform: five thousand pods take some 50 MB.
const mostProcessBytes = 64 << 20

// ReadProcesses reads files in which a platform says what became of processes. Empty
// are those with nothing in them, in a clause each. Errors are *inspect.FileError.
func ReadProcesses(ctx context.Context, names []string) (lives []inspect.ProcessLife, empty []string, err error) {
	var b platform.Book
	for _, name := range names {
		data, err := input.Read(ctx, name, mostProcessBytes)
		if err != nil {
			return nil, nil, fileError(ctx, name, err)
		}
		objects, err := b.Add(name, data)
		if err != nil {
			return nil, nil, &inspect.FileError{Err: err} // it names the file
		}
		if objects == 0 {
			empty = append(empty, name+": no pod, event or container in it; was it another namespace?")
		}
	}
	return b.Lives(), empty, nil
}

// fileError names the file in an error, unless it is the context's.
func fileError(ctx context.Context, name string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return inspect.NewFileError(name, err)
}

func nothingIn(name string, n int64) string {
	if n == 0 {
		return name + ": empty"
	}
	them := "them"
	if n == 1 {
		them = "it"
	}
	return fmt.Sprintf("%s: %s, nothing about consumer groups in %s", name, lines(n, "", ""), them)
}

// lines counts lines, with the verb that belongs to it.
func lines(n int64, one, many string) string {
	text, verb := fmt.Sprintf("%d lines", n), many
	if n == 1 {
		text, verb = "1 line", one
	}
	return strings.TrimSpace(text + " " + verb)
}

// ReadFile reads a case file. Errors are *inspect.FileError.
func ReadFile(ctx context.Context, name string) (*inspect.Case, error) {
	f, err := input.Open(ctx, name)
	if err != nil {
		return nil, fileError(ctx, name, err)
	}
	defer f.Close()
	c, err := inspect.ReadCase(f)
	if err != nil {
		return nil, fileError(ctx, name, err)
	}
	return c, nil
}

// WriteFile writes a case file, whole or not at all, and returns its size in bytes. What is
// there and is no regular file (a device, a pipe) is never replaced.
// The error is an *inspect.FileError where the file cannot be made there at all.
func WriteFile(name string, c *inspect.Case) (int, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return 0, inspect.NewFileError(name, errors.New("is no regular file, and is not replaced by one"))
	}
	var b bytes.Buffer
	if err := inspect.WriteCase(&b, c); err != nil {
		return 0, err
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".kgcase-*")
	if err != nil {
		return 0, inspect.NewFileError(name, err)
	}
	_, err = f.Write(b.Bytes())
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil { // the disk's fault, not the user's
		return 0, errors.Join(errors.New(inspect.NewFileError(name, err).Error()), os.Remove(f.Name()))
	}
	return b.Len(), nil
}

// WrittenAt is when a case was written, from which spans of time count back.
func WrittenAt(c *inspect.Case) time.Time {
	if c.GeneratedAt.IsZero() {
		return c.Window.To.Time
	}
	return c.GeneratedAt.Time
}

// FromCase gives the past of the groups that a query asks for out of a case that was
// read from a file, with their timelines rebuilt. Missing is an *AbsentError.
func FromCase(ctx context.Context, c *inspect.Case, file string, q Query) (*Past, error) {
	c.Window.From, c.Window.To = q.Window.From, q.Window.To
	p := &Past{Case: c}
	if err := p.readFiles(ctx, q); err != nil {
		return nil, err
	}
	held := c.GroupIDs()
	p.IDs = held
	p.Missing = Absent(held, q.Selection.Groups, file)
	switch {
	case len(q.Selection.Groups) > 0:
		p.IDs = slices.DeleteFunc(slices.Clone(q.Selection.Groups), func(id string) bool { return !slices.Contains(held, id) })
	case q.Selection.Match != nil:
		p.IDs = slices.DeleteFunc(slices.Clone(held), func(id string) bool { return !q.Selection.Match.MatchString(id) })
	}
	c.Narrow(p.IDs)
	Rebuild(c)
	return p, nil
}

// Rebuild builds the timelines of a case that was read from a file. One that holds
// neither records nor what polls saw keeps those that it came with.
func Rebuild(c *inspect.Case) {
	if len(c.Records) > 0 || len(c.Timelines) == 0 && len(c.Observations) > 0 {
		Build(c)
	}
}

// AbsentError says that a case file holds nothing of groups that were named.
type AbsentError struct {
	Groups []string
	File   string
	Held   []string // what it does hold
}

// Absent is the *AbsentError for the named groups that a file does not hold; nil for
// none.
func Absent(held, named []string, file string) error {
	var out []string
	for _, id := range named {
		if !slices.Contains(held, id) {
			out = append(out, id)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return &AbsentError{out, file, held}
}

// Error names the groups and the file.
func (e *AbsentError) Error() string {
	quoted := make([]string, len(e.Groups))
	for i, id := range e.Groups {
		quoted[i] = fmt.Sprintf("%q", id)
	}
	noun, held := "group ", "1 group"
	if len(quoted) > 1 {
		noun = "groups "
	}
	if n := len(e.Held); n != 1 {
		held = fmt.Sprintf("%d groups", n)
	}
	return fmt.Sprintf("%s%s: not found in %s (%s)", noun, strings.Join(quoted, ", "), e.File, held)
}
