package prose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// Width is how many columns of a terminal s takes: two for a wide character, none
// for a combining one.
func Width(s string) int { return displaywidth.String(s) }

// Wrap breaks text at blanks into lines of at most width columns; a word that is
// wider stands alone. Runs of blanks become one.
func Wrap(s string, width int) []string {
	var out []string
	line, used := "", 0
	for _, w := range strings.Fields(s) {
		n := Width(w)
		if line != "" && used+1+n > width {
			out = append(out, line)
			line, used = "", 0
		}
		if line != "" {
			line += " "
			used++
		}
		line += w
		used += n
	}
	if line != "" {
		out = append(out, line)
	}
	return out
}

// Few joins at most so many words with commas, and says how many more there are:
// "a, b and 3 more".
func Few(words []string, most int) string {
	if len(words) <= most {
		return strings.Join(words, ", ")
	}
	return strings.Join(words[:most], ", ") + " and " + more(len(words)-most)
}

// First is at most so many words, and then one that says how many more there are.
func First(words []string, most int) []string {
	if len(words) <= most {
		return words
	}
	return append(slices.Clone(words[:most]), "and "+more(len(words)-most))
}

func more(n int) string { return fmt.Sprintf("%d more", n) }
