package cmd

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/kgdiag/kgdiag/internal/render"
)

var _ = command(900, newVersionCmd)

func newVersionCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "the version of this program",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			return a.show(render.View{
				Blocks: []render.Block{{Lines: []render.Line{render.L("kgdiag %s %s/%s %s", Version(), runtime.GOOS, runtime.GOARCH, runtime.Version())}}},
				Data: struct {
					envelope
					Go string `json:"go"`
				}{a.envelopeOf("kgdiag.version/v1", nil), runtime.Version()},
			})
		},
	}
}

// noArgs is cobra.NoArgs as a usage error in kgdiag's words.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage(fmt.Sprintf("%s: unexpected argument %q", c.Name(), args[0]), "see "+c.CommandPath()+" --help")
	}
	return nil
}
