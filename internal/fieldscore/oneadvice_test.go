package fieldscore

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"
)

// TestOneValueForASetting holds every answer to one value for one setting: of two findings
// about one place or one group, none sets a key to what the other does not, nor names it
// as an alternative. What is folded under its cause has no fix of its own.
func TestOneValueForASetting(t *testing.T) {
	pages := 0
	for _, batch := range batches(t) {
		e := readBatch(t, batch)
		for _, name := range slices.Sorted(maps.Keys(e.Cases)) {
			runs, err := e.Cases[name].runs()
			if err != nil {
				t.Fatal(err)
			}
			for _, one := range runs {
				pages++
				for _, clash := range clashes(advise(t, filepath.Join("testdata", batch, name), one.Args).stdout) {
					t.Errorf("%s/%s: %s", batch, name, clash)
				}
			}
		}
	}
	if pages < 300 {
		t.Errorf("%d pages", pages)
	}
}

// edited is the place of a setting as a fix spells it.
func (f finding) edited(key string) string {
	for _, e := range f.Fix.Edits {
		if e.Key == key {
			return e.Spelled
		}
	}
	return key
}

// clashes are the settings for which a page gives two values.
func clashes(page string) []string {
	var doc struct{ Findings []finding }
	if json.Unmarshal([]byte(page), &doc) != nil {
		return nil
	}
	names := func(f finding, k, v string) bool {
		return slices.ContainsFunc(f.Fix.Alternatives, func(a map[string]string) bool { return a[k] == v })
	}
	type place struct{ group, key string }
	told := map[place]finding{}
	var out []string
	for _, f := range doc.Findings {
		if f.BecauseOf != "" {
			continue
		}
		for _, k := range slices.Sorted(maps.Keys(f.Fix.Set)) {
			g, again := told[place{f.Group, k}]
			if !again {
				told[place{f.Group, k}] = f
				continue
			}
			if a, b := f.Fix.Set[k], g.Fix.Set[k]; a != b && !names(f, k, b) && !names(g, k, a) && f.edited(k) == g.edited(k) {
				out = append(out, fmt.Sprintf("%s sets %s=%s, %s sets %s", g.ID, k, b, f.ID, a))
			}
		}
	}
	return out
}
