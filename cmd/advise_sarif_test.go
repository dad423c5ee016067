package cmd

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/render"
	"github.com/kgdiag/kgdiag/internal/rulefixture"
	"github.com/kgdiag/kgdiag/internal/term"
)

// TestSARIFValidates checks the findings of every fixture against the schema that
// OASIS publishes.
func TestSARIFValidates(t *testing.T) {
	raw, err := os.ReadFile("testdata/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("sarif.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	fixtures, err := rulefixture.All("../advise/testdata")
	if err != nil {
		t.Fatal(err)
	}
	// Places that are no path as it stands.
	odd := []advise.Finding{}
	for _, file := range []string{"a b%c.properties", "/etc/kafka/ü.properties", "-", "c:\\x.properties", "a:b"} {
		odd = append(odd, advise.Finding{ID: "KGD105", Severity: advise.Error, Where: &inspect.Position{File: file, Line: 1}, Message: "m", Subject: "s"})
	}
	validate(t, schema, "odd names", odd)
	validate(t, schema, "nothing", nil)
	for i := range fixtures {
		validate(t, schema, fixtures[i].Path, advise.Evaluate(&fixtures[i].Case, advise.Options{}).Findings)
	}
}

func validate(t *testing.T, schema *jsonschema.Schema, name string, fs []advise.Finding) {
	t.Helper()
	var b bytes.Buffer
	if err := render.Render(&b, "sarif", render.View{Report: reportOf(fs)}, term.NewPainter(false)); err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(v); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	var log struct {
		Runs []struct{ Results []json.RawMessage }
	}
	if err := json.Unmarshal(b.Bytes(), &log); err != nil || len(log.Runs[0].Results) != len(fs) {
		t.Errorf("%s: %d results for %d findings (%v)", name, len(log.Runs[0].Results), len(fs), err)
	}
}
