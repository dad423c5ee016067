package cmd

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/kgdiag/kgdiag/internal/render"
)

var _ = command(900, newVersionCmd)

// versionCmd is kgdiag version.
type versionCmd struct{ *app }

func newVersionCmd(a *app) *cobra.Command {
	v := &versionCmd{a}
	return &cobra.Command{Use: "version", Short: "print the version of this program", Args: noArgs, RunE: v.run}
}

func (v *versionCmd) run(*cobra.Command, []string) error {
	return v.show(render.View{
		Blocks: []render.Block{{Lines: []render.Line{render.L("kgdiag %s %s/%s %s", Version(), runtime.GOOS, runtime.GOARCH, runtime.Version())}}},
		Data: struct {
			envelope
			Go string `json:"go"`
		}{v.envelopeOf("kgdiag.version/v1", nil), runtime.Version()},
	})
}

// noArgs is cobra.NoArgs as a usage error in kgdiag's words.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage(fmt.Sprintf("%s: unexpected argument %q", c.Name(), args[0]), "see "+c.CommandPath()+" --help")
	}
	return nil
}
