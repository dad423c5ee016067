package credentials

import (
	"strings"
	"testing"
)

func TestJAAS(t *testing.T) {
	for _, tt := range []struct{ in, module, user, password, err string }{
		{`org.apache.kafka.common.security.plain.PlainLoginModule required username="a" password="b";`, "PlainLoginModule", "a", "b", ""},
		{"\n  kafkashaded.org.apache.kafka.common.security.plain.PlainLoginModule\n required username='a b'\tpassword='c;d=e' ;\n", "PlainLoginModule", "a b", "c;d=e", ""},
		{`x.ScramLoginModule REQUIRED username=a password=Zm9v==;`, "ScramLoginModule", "a", "Zm9v==", ""},
		{`x.PlainLoginModule required username="a\"b" password="\\\x\101\t";`, "PlainLoginModule", `a"b`, "\\xA\t", ""},
		{``, "", "", "", "it ends where the class of a login module should stand"},
		{`x.Y`, "", "", "", "it ends where required should stand"},
		{`x.Y username="a";`, "", "", "", `the word after the login module must be "required"`},
		{`x.Y required username="a`, "", "", "", "option username: the closing quote is missing"},
		{`x.Y required username;`, "", "", "", "option username: = and a value are missing"},
		{`x.Y required; z.W required;`, "", "", "", "one is allowed"},
	} {
		j, err := parseJAAS(tt.in)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: got %v, want %q", tt.in, err, tt.err)
			}
			continue
		}
		if err != nil || j.name() != tt.module || j.options["username"] != tt.user || j.options["password"] != tt.password {
			t.Errorf("%s: got %+v, %v", tt.in, j, err)
		}
	}
}

func FuzzJAAS(f *testing.F) {
	for _, s := range []string{`x.Y required a="b" c='d' e=f;`, `x.Y required a="\777\8";`, `;`, `a b=`, `x.Y required a=`, "x\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		j, err := parseJAAS(s)
		if err == nil && j.module == "" {
			t.Fatal("no error and no module")
		}
	})
}
