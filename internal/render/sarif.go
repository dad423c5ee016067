package render

import (
	"io"
	"net/url"
	"path/filepath"

	"github.com/kgdiag/kgdiag/internal/term"
)

// Report is a result as code scanning services take it: what was looked for, and what
// was found where. Views that have one can be shown as sarif.
type Report struct {
	Tool, Version, URL string
	Rules              []ReportRule
	Results            []ReportResult
}

// ReportRule is one thing that was looked for.
type ReportRule struct {
	ID, Name, Summary, Why, Help, URL string
	Level                             string // "error", "warning" or "note"
}

// ReportResult is one thing that was found.
type ReportResult struct {
	Rule       string // an id of Report.Rules
	Level      string // as ReportRule.Level
	Message    string
	File       string // "" where it lies in no file
	Line       int    // from 1; 0 unknown
	Subject    string // what it is about, where it lies in no file
	Properties map[string]string
}

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

var _ = registerReport("sarif", renderSARIF)

// renderSARIF writes the report of a view as a SARIF log.
func renderSARIF(w io.Writer, v View, _ *term.Painter) error {
	r := v.Report
	run := sarifRun{Tool: sarifTool{sarifDriver{Name: r.Tool, Version: r.Version, InformationURI: r.URL, Rules: []sarifRule{}}}, Results: []sarifResult{}}
	index := map[string]int{}
	for i, rule := range r.Rules {
		index[rule.ID] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{ID: rule.ID, Name: rule.Name, ShortDescription: sarifText{rule.Summary},
			FullDescription: sarifText{rule.Why}, Help: sarifText{rule.Help}, HelpURI: rule.URL, Default: sarifConfig{rule.Level}})
	}
	for _, x := range r.Results {
		run.Results = append(run.Results, sarifResult{RuleID: x.Rule, RuleIndex: index[x.Rule], Level: x.Level, Message: sarifText{x.Message},
			Locations: []sarifLocation{sarifLocationOf(x)}, Properties: x.Properties})
	}
	b, err := JSON(sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}}, "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

func sarifLocationOf(x ReportResult) sarifLocation {
	if x.File == "" {
		return sarifLocation{Logical: []sarifLogical{{FullyQualifiedName: x.Subject, Kind: "resource"}}}
	}
	u := url.URL{Path: filepath.ToSlash(x.File)}
	if filepath.IsAbs(x.File) {
		u.Scheme = "file"
	}
	p := &sarifPhysical{Artifact: sarifArtifact{URI: u.String()}}
	if x.Line > 0 {
		p.Region = &sarifRegion{StartLine: x.Line}
	}
	return sarifLocation{Physical: p}
}
