package outsider

import "testing"

// TestHarmSeesHarm keeps the oracle honest: each of these is found.
func TestHarmSeesHarm(t *testing.T) {
	for form, outs := range map[string][]string{
		"table":    {"a\x1b[2Jb", "a\rb", "a\tb", "a\u202eb", "a\xffb", "a\u009b35m", "\x1b[31m"},
		"colours":  {"a\x1b[35mb", "\x1b[31ma\x1b[0m\x1b[2J", "\x1b]52;c;QQ==\a"},
		"json":     {"{\"a\": \"\u202e\"}", "{\"a\": \"\"b\"}"},
		"lines":    {"{}\n{\n"},
		"tsv":      {"A\tB\na\n", "A\tB\na\tb\tc\n"},
		"markdown": {"a <script>", "[a](http://x)", `\\[a](x)`, "| a | b |\n| a |", "| a | b |\n| a | b | c |", "```text\na"},
		"metrics":  {"a{b=\"c\nd\"} 1", `a{b="c"d"} 1`, "a\n"},
	} {
		for _, out := range outs {
			if Harm(form, out) == "" {
				t.Errorf("%s: nothing is wrong with %q", form, out)
			}
		}
	}
	for form, out := range map[string]string{
		"colours": "a\x1b[31mb\x1b[0m\n", "markdown": "a \\[a\\](x)\n\n````text\n```\n<b>\n````\n\n| a |\n|---|\n| \\| |\n", "tsv": "A\tB\na\tb\n\nC\nc\n",
		"metrics": "# HELP a b\na{b=\"c\\\"}\\n\"} 1\n# EOF\n", "html": "\t<p>", "lines": "{}\n{}\n", "json": "{}\n", "table": "注文 é\n",
	} {
		if h := Harm(form, out); h != "" {
			t.Errorf("%s: %q: %s", form, out, h)
		}
	}
}

func TestTextsDiffer(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(1000) {
		s := Text(seed)
		if s != Text(seed) || seen[s] || s == "" || len(s) > 12_000 {
			t.Fatalf("seed %d: %d bytes, seen %v", seed, len(s), seen[s])
		}
		seen[s] = true
	}
}
