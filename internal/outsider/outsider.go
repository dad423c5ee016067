package outsider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
)

// parts act on a terminal, on the direction of text, on tables, JSON, TSV, Markdown, HTML,
// metrics, and on shells; or they are hard to lay out.
var parts = []string{
	"\x1b[2J", "\x1b[35m", "\x1b]52;c;QUFBQQ==\a", "\x1b]8;;http://x\x1b\\", "\u009b35m", "\r", "\n", "\t", "\b\b\b", "\a", "\x7f", "\x00", "\v", "\f",
	"\u202e", "\u2066", "\u200f", "\u061c", "\u2028", "\u2029", "\ufeff", "\u200b", "|", " | ", "\\|", "||", "`", "```", "\n```\n", "~~~",
	"<script>alert(1)</script>", "</td></tr></table>", "</textarea>", "<img src=x onerror=alert(1)>", "--><!--", "\"", "'", "\\", "\\u001b[2J", "{{.}}", "${HOME}", "$(id)", ";rm -rf /", "&lt;", "&", "%s%n%d", "]]>",
	"[a](javascript:alert(1))", "![a](http://x/a.png)", "http://x/y", "**", "# ", "- ", "\n- ", "---", "***", "\n# EOF\n", "\"} 1\n",
	"注文サービス", "é́́", "👩‍👩‍👧‍👦", "\xff\xfe", "\xc3", "-rf", " ", "  ", "=", ",", ":", "/", "orders", "a", "0",
}

// Text is one such text, another one for each seed, never empty, and at most 12,000 bytes.
// Every seventh is very long.
func Text(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for range 1 + r.IntN(6) {
		b.WriteString(parts[r.IntN(len(parts))])
	}
	if seed%7 == 0 {
		b.WriteString(strings.Repeat(parts[r.IntN(len(parts))], 300))
	}
	fmt.Fprintf(&b, "%d", seed)
	return b.String()
}

// Parts are what the texts are made of.
func Parts() []string { return slices.Clone(parts) }

// Names gives a new text for each name, always the same one for the same name.
func Names(seed uint64) func(string) string {
	names := map[string]string{}
	return func(s string) string {
		if names[s] == "" {
			names[s] = Text(1000*seed + uint64(len(names)))
		}
		return names[s]
	}
}

// others are the keys of a case file whose texts others than kgdiag have written.
var others = []string{"group", "client_id", "member_id", "member", "host", "instance_id", "topic", "topics", "subscribed_topics", "subscribed_regex", "rack", "leader", "protocol", "assignor", "context",
	"bootstrap", "thread", "process", "reason", "file", "needs", "key", "spelled", "version"}

// Poison gives a copy of a case in which every text that others have written is another
// one, as name gives it. What belongs together stays so.
func Poison(c *inspect.Case, name func(string) string) (*inspect.Case, error) {
	b, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	var doc any
	if err := json.Unmarshal(b, &doc); err != nil {
		return nil, err
	}
	if b, err = json.Marshal(poison(doc, "", name)); err != nil {
		return nil, err
	}
	again := new(inspect.Case)
	if err := json.NewDecoder(bytes.NewReader(b)).Decode(again); err != nil {
		return nil, err
	}
	return again, nil
}

func poison(v any, key string, name func(string) string) any {
	switch x := v.(type) {
	case map[string]any:
		keys := make([]string, 0, len(x)) // in order, so that a seed always gives the same case
		for k := range x {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			x[k] = poison(x[k], k, name)
		}
	case []any:
		for i := range x {
			x[i] = poison(x[i], key, name)
		}
	case string:
		if x != "" && slices.Contains(others, key) {
			return name(x)
		}
	}
	return v
}
