package explain

import "testing"

// The cross references of the glossary lead to what exists.
func TestGlossaryLinks(t *testing.T) {
	for _, g := range Terms() {
		for _, see := range g.See {
			if _, err := About(see); err != nil {
				t.Errorf("%s: see %s: %v", g.Word, see, err)
			}
		}
	}
}
