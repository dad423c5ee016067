package cmd

import (
	"net/url"
	"path/filepath"
	"strings"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/inspect/clientconf"
	"github.com/kgdiag/kgdiag/internal/render"
)

// The parts of SARIF 2.1.0 (OASIS) that code scanning services read.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string      `json:"id"`
		Name             string      `json:"name"`
		ShortDescription sarifText   `json:"shortDescription"`
		FullDescription  sarifText   `json:"fullDescription"`
		Help             sarifText   `json:"help"`
		HelpURI          string      `json:"helpUri"`
		Default          sarifConfig `json:"defaultConfiguration"`
	}
	sarifConfig struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID     string            `json:"ruleId"`
		RuleIndex  int               `json:"ruleIndex"`
		Level      string            `json:"level"`
		Message    sarifText         `json:"message"`
		Locations  []sarifLocation   `json:"locations"`
		Properties map[string]string `json:"properties,omitempty"`
	}
	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
	sarifLogical struct {
		FullyQualifiedName string `json:"fullyQualifiedName"`
		Kind               string `json:"kind"`
	}
)

// sarif writes findings as a SARIF log, with every rule that kgdiag knows.
func sarif(findings []advise.Finding) ([]byte, error) {
	run := sarifRun{Tool: sarifTool{sarifDriver{Name: "kgdiag", Version: Version(), InformationURI: "https://github.com/kgdiag/kgdiag", Rules: []sarifRule{}}},
		Results: []sarifResult{}}
	index := map[string]int{}
	for i, r := range advise.Rules() {
		index[r.ID] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{ID: r.ID, Name: r.Name, ShortDescription: sarifText{r.Doc.Summary},
			FullDescription: sarifText{r.Doc.Why}, Help: sarifText{r.Doc.Fix}, HelpURI: advise.DocsURL(r.ID), Default: sarifConfig{sarifLevel(r.Severity)}})
	}
	for i := range findings {
		run.Results = append(run.Results, sarifResultOf(&findings[i], index))
	}
	return render.JSON(sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}}, "  ")
}

func sarifResultOf(f *advise.Finding, index map[string]int) sarifResult {
	text := f.Message + "."
	if f.Fix != nil {
		var set []string
		for _, e := range f.Fix.Edits {
			switch {
			case e.Alternative > 0:
			case e.Delete:
				set = append(set, "delete "+e.Spelled)
			default:
				set = append(set, e.Spelled+"="+e.Value)
			}
		}
		if len(set) > 0 {
			text += " Fix: " + strings.Join(set, ", ") + "."
		} else {
			text += " " + f.Fix.Summary
		}
	}
	out := sarifResult{RuleID: f.ID, RuleIndex: index[f.ID], Level: sarifLevel(f.Severity), Message: sarifText{text},
		Properties: map[string]string{"confidence": string(f.Confidence)}}
	if f.Group != "" {
		out.Properties["group"] = f.Group
	}
	out.Locations = []sarifLocation{sarifLocationOf(f)}
	return out
}

func sarifLocationOf(f *advise.Finding) sarifLocation {
	if f.Where == nil || f.Where.File == "" || f.Where.File == "-" || f.Where.File == clientconf.FromFlags {
		name := f.Subject
		if f.Group != "" {
			name = f.Group + "/" + f.Subject
		}
		return sarifLocation{Logical: []sarifLogical{{FullyQualifiedName: name, Kind: "resource"}}}
	}
	path := filepath.ToSlash(f.Where.File)
	uri := (&url.URL{Path: path}).String()
	if filepath.IsAbs(f.Where.File) {
		uri = (&url.URL{Scheme: "file", Path: path}).String()
	}
	p := &sarifPhysical{Artifact: sarifArtifact{URI: uri}}
	if f.Where.Line > 0 {
		p.Region = &sarifRegion{StartLine: f.Where.Line}
	}
	return sarifLocation{Physical: p}
}

func sarifLevel(s advise.Severity) string {
	if s == advise.Info {
		return "note"
	}
	return string(s)
}
