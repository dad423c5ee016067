package docgen

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// CLI is docs/cli.md, from the command tree.
func CLI(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("# Commands\n\n" + notice)
	b.WriteString("Every flag can also be set in the environment as `KGDIAG_<FLAG>`, in capitals and with underscores.\n\n")
	for _, c := range root.Commands() {
		if shown(c) {
			fmt.Fprintf(&b, "- [%s](#%s): %s\n", c.CommandPath(), c.Name(), c.Short)
		}
	}
	b.WriteString("\n## Common flags\n\n")
	flags(&b, root.PersistentFlags())
	for _, c := range root.Commands() {
		if shown(c) {
			command(&b, c)
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func shown(c *cobra.Command) bool { return !c.Hidden && c.Name() != "help" }

func command(b *strings.Builder, c *cobra.Command) {
	fmt.Fprintf(b, "## %s\n\n%s\n\n```\n%s\n```\n\n", c.Name(), sentence(c), c.UseLine())
	if len(c.Aliases) > 0 {
		fmt.Fprintf(b, "Also known as: %s\n\n", strings.Join(c.Aliases, ", "))
	}
	if c.Example != "" {
		fmt.Fprintf(b, "```sh\n%s\n```\n\n", unindent(c.Example))
	}
	if c.LocalNonPersistentFlags().HasAvailableFlags() {
		flags(b, c.LocalNonPersistentFlags())
	}
}

func sentence(c *cobra.Command) string {
	if c.Long != "" {
		return c.Long
	}
	return strings.ToUpper(c.Short[:1]) + c.Short[1:] + "."
}

func unindent(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "  ")
	}
	return strings.Join(lines, "\n")
}

func flags(b *strings.Builder, set *pflag.FlagSet) {
	b.WriteString("| flag | default | meaning |\n|---|---|---|\n")
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand
			if f.Shorthand != f.Name {
				name += ", --" + f.Name
			}
		}
		if value != "" {
			name += " " + value
		}
		def := f.DefValue
		if def == "[]" || def == "false" || def == "" {
			def = ""
		} else {
			def = "`" + def + "`"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", name, def, cell(usage))
	})
	b.WriteString("\n")
}
