package cmd

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kgdiag/kgdiag/internal/flaghelp"
	"github.com/kgdiag/kgdiag/internal/prose"
)

// newHelpCmd is kgdiag help.
func newHelpCmd(root *cobra.Command) *cobra.Command {
	return &cobra.Command{Use: "help [COMMAND|flags]", Short: "show the help of a command, or the connection and output flags",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 && args[0] == "flags" {
				_, err := fmt.Fprint(c.OutOrStdout(), strings.TrimPrefix(flaghelp.Flags(root.PersistentFlags(), usualWidth), "\n"))
				return err
			}
			target, rest, err := root.Find(args)
			if err != nil || target == root && len(rest) > 0 {
				return usage(fmt.Sprintf("help: unknown command %q", args[0]), "kgdiag help lists the commands")
			}
			return target.Help()
		}}
}

// help writes how to call a command, examples, what it does, and its own flags. cobra
// asks for no error, so run looks at the one that is kept.
func (a *app) help(c *cobra.Command, _ []string) {
	var b strings.Builder
	fmt.Fprintf(&b, "usage: %s\n\n", strings.TrimSuffix(c.UseLine(), " [flags]"))
	if c.Example != "" {
		fmt.Fprintf(&b, "%s\n\n", c.Example)
	}
	for i, paragraph := range strings.Split(cmp.Or(c.Long, strings.ToUpper(c.Short[:1])+c.Short[1:]+"."), "\n\n") {
		if i > 0 {
			b.WriteString("\n")
		}
		if strings.HasPrefix(paragraph, "  ") { // to be copied: lines as they are
			b.WriteString(paragraph + "\n")
			continue
		}
		b.WriteString(strings.Join(prose.Wrap(paragraph, usualWidth), "\n") + "\n")
	}
	for i, sub := range c.Commands() {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "  %-10s  %s\n", sub.Name(), sub.Short)
	}
	b.WriteString(flaghelp.Flags(c.LocalNonPersistentFlags(), usualWidth) + "\nconnection and output flags: kgdiag help flags\n")
	_, a.unhelped = fmt.Fprint(c.OutOrStdout(), b.String())
}
