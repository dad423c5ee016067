package settings

import "testing"

func FuzzContexts(f *testing.F) {
	f.Add([]byte("contexts:\n  a: {bootstrap.servers: [b, c]}\n"))
	f.Add([]byte("current-context: a\ncontexts:\n  a: &x {command-config: f}\n  b: *x\n"))
	f.Fuzz(func(_ *testing.T, b []byte) {
		c := &contexts{}
		_ = c.parse(b) // must not panic
		for _, n := range c.list {
			_, _ = c.say(n.Name, "f")
		}
	})
}
