package cmd

import "github.com/spf13/cobra"

var _ = command(910, newCompletionCmd)

// completionCmd is kgdiag completion.
type completionCmd struct{ *app }

func newCompletionCmd(a *app) *cobra.Command {
	o := &completionCmd{a}
	return &cobra.Command{
		Use:       "completion bash|zsh|fish|powershell",
		Short:     "print a completion script for your shell",
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE:      o.run,
	}
}

func (o *completionCmd) run(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usage("completion: which shell?", "kgdiag completion bash|zsh|fish|powershell")
	}
	root, out := c.Root(), o.streams.Out
	switch args[0] {
	case "bash":
		return root.GenBashCompletionV2(out, true)
	case "zsh":
		return root.GenZshCompletion(out)
	case "fish":
		return root.GenFishCompletion(out, true)
	case "powershell":
		return root.GenPowerShellCompletionWithDesc(out)
	}
	return usagef("completion %q: not known, want bash, zsh, fish or powershell", args[0])
}
