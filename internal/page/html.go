package page

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"reflect"
	"strings"
	"sync"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/advise/diagnose"
	"github.com/kgdiag/kgdiag/inspect"
)

var (
	//go:embed page.tmpl
	pageText string
	//go:embed style.css
	style string
	//go:embed script.js
	script string
)

// page is the template of the document; it is part of the program, so that it parses.
var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"add":      func(x float64, y int) float64 { return x + float64(y) },
		"labelX":   func() float64 { return plotX - 8 },
		"severity": severityTone,
		"sentence": func(head string) string { return head[:1] + strings.ToLower(head[1:]) },
		"copy":     func(id string, text Shell, what string) snippet { return snippet{id, text, what} },
		"fixOf":    func(f Fix, anchor string) fixCard { return fixCard{f, anchor} },
	}).Parse(pageText))
})

// snippet is a text to copy, fixCard a finding, each with its place in the page.
type (
	snippet struct {
		ID   string
		Text Shell
		What string
	}
	fixCard struct {
		Fix    Fix
		Anchor string
	}
)

func severityTone(severity string) string {
	switch advise.Severity(severity) {
	case advise.Error:
		return "bad"
	case advise.Warning:
		return "warn"
	}
	return "dim"
}

// document is what the template shows.
type document struct {
	Report
	Policy string
	Style  template.CSS
	Script template.JS
}

// HTML writes a triage of groups of a case as one page below MostBytes: where all of it
// has no room, half of everything is shown, and so on, and what was cut is said.
func HTML(out io.Writer, c *inspect.Case, t diagnose.Triage, o Options) error {
	var b bytes.Buffer
	for l, tries := full, 0; tries < mostTries; l, tries = l.half(), tries+1 {
		b.Reset()
		r := reportOf(c, t, o, l)
		tidy(reflect.ValueOf(&r).Elem())
		if err := page().Execute(&b, document{r, policy(), template.CSS(style), template.JS(script)}); err != nil {
			return fmt.Errorf("report: %w", err)
		}
		if b.Len() <= MostBytes {
			_, err := out.Write(b.Bytes())
			return err
		}
	}
	return fmt.Errorf("report: more than %d bytes; name fewer groups, or a shorter time with --since", MostBytes)
}

// mostTries is how often a page is made smaller; after the last one there is one of
// everything.
const mostTries = 11

// policy is the content security policy: nothing but the page's own style and script.
func policy() string {
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; style-src " + hash(style) + "; script-src " + hash(script) + "; base-uri 'none'; form-action 'none'"
}
