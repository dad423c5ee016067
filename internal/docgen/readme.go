package docgen

import (
	"fmt"
	"strings"

	"github.com/kgdiag/kgdiag/cmd"
	"github.com/kgdiag/kgdiag/internal/render"
)

// README fills the marked blocks of README.md; the rest is written by hand. A block
// without its end, or of an unknown name, is an error.
func README(text string) (string, error) {
	const begin, end = "<!-- generated: ", "<!-- end generated -->"
	var b strings.Builder
	for {
		i := strings.Index(text, begin)
		if i < 0 {
			b.WriteString(text)
			return b.String(), nil
		}
		head, rest, ok := strings.Cut(text[i:], " -->\n")
		j := strings.Index(rest, end)
		if !ok || j < 0 {
			return "", fmt.Errorf("a generated block has no end: %.60q", text[i:])
		}
		name := strings.TrimPrefix(head, begin)
		block, err := block(name)
		if err != nil {
			return "", err
		}
		b.WriteString(text[:i] + head + " -->\n" + block + end)
		text = rest[j+len(end):]
	}
}

func block(name string) (string, error) {
	var b strings.Builder
	switch name {
	case "exit codes":
		b.WriteString("| code | meaning |\n|---|---|\n")
		for _, c := range cmd.ExitCodes() {
			fmt.Fprintf(&b, "| %d | %s |\n", c.Code, c.Meaning)
		}
		fmt.Fprintf(&b, "\nThe codes do not depend on `-o %s`.\n", strings.Join(render.Names(), "|"))
		return b.String(), nil
	}
	return "", fmt.Errorf("no generated block is called %q", name)
}
