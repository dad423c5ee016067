package fieldscore

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// healthyHours is how often a recording is laid out, an hour apart: with its ten
// recordings that have lines a hundred hours, of which ten minutes each are recorded and hold a
// rolling deploy. The rest of an hour, in which clients at work write nothing of their
// group, is empty.
const healthyHours = 10

// TestAHundredHealthyHours lays each healthy recording out through ten hours, alone and
// beside each other client's, and all in one file: no finding above info.
func TestAHundredHealthyHours(t *testing.T) {
	dirs, err := filepath.Glob("testdata/healthy/*/app.log")
	if err != nil {
		t.Fatal(err)
	}
	hours, folder := 0, t.TempDir()
	var names []string
	for _, path := range dirs {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(filepath.Dir(path)) + ".log"
		var out strings.Builder
		for h := range healthyHours {
			out.WriteString(later(string(text), time.Duration(h)*time.Hour))
			hours++
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	for i, name := range names {
		quietAt(t, folder, name)
		quietAt(t, folder, name, names[(i+1)%len(names)])
	}
	quietAt(t, folder, names...)
	var all strings.Builder // of several programs in one file, as a container platform without prefixes writes them
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	if err := os.WriteFile(filepath.Join(folder, "all.log"), []byte(all.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	quietAt(t, folder, "all.log")
	if hours < 100 {
		t.Errorf("only %d hours", hours)
	}
}

func quietAt(t *testing.T, folder string, logs ...string) {
	t.Helper()
	var args []string
	for _, l := range logs {
		args = append(args, "--log", l)
	}
	a := advise(t, folder, args)
	var doc struct{ Findings []finding }
	if err := json.Unmarshal([]byte(a.stdout), &doc); err != nil {
		t.Fatalf("%v: %v: %s", logs, err, a.stderr)
	}
	if slices.ContainsFunc(doc.Findings, func(f finding) bool { return rank(f.Severity) > 0 }) {
		for _, f := range doc.Findings {
			t.Errorf("%v: %s %s %s", logs, f.Severity, f.ID, f.Message)
		}
	}
}

var (
	clock = regexp.MustCompile(`\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d`)
	epoch = regexp.MustCompile(`%(\d)\|(\d{10})\.`)
)

// later moves the times of a log.
func later(text string, by time.Duration) string {
	text = clock.ReplaceAllStringFunc(text, func(s string) string {
		layout := "2006" + s[4:5] + "01" + s[7:8] + "02" + s[10:11] + "15:04:05"
		at, err := time.Parse(layout, s)
		if err != nil {
			return s
		}
		return at.Add(by).Format(layout)
	})
	return epoch.ReplaceAllStringFunc(text, func(s string) string {
		n, _ := strconv.ParseInt(s[3:13], 10, 64)
		return s[:3] + strconv.FormatInt(n+int64(by/time.Second), 10) + "."
	})
}
