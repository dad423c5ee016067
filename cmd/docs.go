package cmd

import (
	"bytes"
	"io"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/render"
	"github.com/kgdiag/kgdiag/internal/show"
	"github.com/kgdiag/kgdiag/internal/term"
)

// Tree is the command tree, for the generated documentation. Its commands are not
// meant to be run.
func Tree() *cobra.Command {
	return newRoot(&app{streams: &term.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard},
		now: time.Now, getenv: func(string) string { return "" }})
}

// AdviseText is what advise prints about one rule on a case, for the generated
// documentation.
func AdviseText(c *inspect.Case, rule string) (string, error) {
	var only []advise.Finding
	for _, f := range advise.Evaluate(c, advise.Options{}).Findings {
		if f.ID == rule {
			f.BecauseOf = ""
			only = append(only, f)
		}
	}
	var b bytes.Buffer
	err := render.Render(&b, "table", render.View{Blocks: findingBlocks(show.Page{Width: math.MaxInt}, only, true, avoidedIn(c))}, term.NewPainter(false))
	return b.String(), err
}

// ExitCode is one row of the table of exit codes.
type ExitCode struct {
	Code    int
	Meaning string
}

// ExitCodes is the table of exit codes, for the generated documentation.
func ExitCodes() []ExitCode {
	return []ExitCode{
		{exitOK, "ran; `--fail-on` was not tripped"},
		{exitTripped, "ran; `--fail-on` was tripped: of `advise` by an `error` unless it says otherwise, and a symptom counts as its cause"},
		{exitUsage, "usage, or an input file that cannot be read"},
		{exitIncomplete, "could not complete: unreachable, unauthorised, timed out, cancelled; with `--strict`, something unchecked"},
		{exitNotFound, "a named group, partition or broker does not exist; the others are still shown in full"},
	}
}
