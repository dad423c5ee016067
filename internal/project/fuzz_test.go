package project

import (
	"errors"
	"testing"

	"github.com/kgdiag/kgdiag/inspect"
)

// FuzzParse: a project file of a foreign repository is read or refused with an error
// that is of the file.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"rules:\n  disable: [KGD106]\n  severity: {KGD403: error}\ngroups:\n  orders: {batch-time: 8m}\n", "groups: {a: {batch-time: 10000w}}", "rules: []", "a: &a [*a]", "---\n---\n", "groups:\n  ? [a]\n  : 1\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Parse(".kgdiag.yaml", data)
		var file *inspect.FileError
		if err != nil && !errors.As(err, &file) {
			t.Errorf("an error of another kind: %v", err)
		}
		for group, d := range p.BatchTimes {
			if d <= 0 {
				t.Errorf("%q: %v", group, d)
			}
		}
	})
}
