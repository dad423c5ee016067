package cmd

import (
	"cmp"
	"strings"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/inspect/clientconf"
	"github.com/kgdiag/kgdiag/internal/render"
)

// reportOf is findings as code scanning services take them, with every rule that
// kgdiag knows.
func reportOf(findings []advise.Finding) *render.Report {
	r := &render.Report{Tool: "kgdiag", Version: Version(), URL: "https://github.com/kgdiag/kgdiag"}
	for _, rule := range advise.Rules() {
		r.Rules = append(r.Rules, render.ReportRule{ID: rule.ID, Name: rule.Name, Summary: rule.Doc.Summary, Why: rule.Doc.Why, Help: rule.Doc.Fix,
			URL: advise.DocsURL(rule.ID), Level: reportLevel(rule.Severity)})
	}
	for _, s := range advise.Together(findings, true) {
		r.Results = append(r.Results, reportResult(&s.Finding))
		for i := range s.Symptoms { // none is worse than what it is shown under: the exit code says the same
			x := reportResult(&s.Symptoms[i])
			if s.Symptoms[i].Severity.Rank() > s.Severity.Rank() {
				x.Level = reportLevel(s.Severity)
			}
			r.Results = append(r.Results, x)
		}
	}
	return r
}

func reportResult(f *advise.Finding) render.ReportResult {
	r := render.ReportResult{Rule: f.ID, Level: reportLevel(f.Severity), Message: f.Message + "." + fixText(f.Fix),
		Subject: f.Subject, Properties: map[string]string{"confidence": string(f.Confidence)}}
	if f.Group != "" {
		r.Properties["group"], r.Subject = f.Group, f.Group+"/"+f.Subject
	}
	if w := f.Where; w != nil && w.File != "-" && w.File != clientconf.FromFlags {
		r.File, r.Line = w.File, w.Line
	}
	return r
}

// fixText is what to change, behind a message.
func fixText(x *advise.Fix) string {
	if x == nil {
		return ""
	}
	var set []string
	for _, e := range x.Edits {
		switch {
		case e.Alternative > 0:
		case e.Delete:
			set = append(set, "delete "+e.Spelled)
		default:
			set = append(set, e.Spelled+"="+e.Value)
		}
	}
	if len(set) == 0 {
		return " " + x.Summary
	}
	return " Fix: " + strings.Join(set, ", ") + "."
}

func reportLevel(s advise.Severity) string {
	return cmp.Or(map[advise.Severity]string{advise.Info: "note"}[s], string(s))
}
