package main

import (
	"fmt"
	"strings"
	"time"
)

const (
	width, height = 720, 130 // of one panel, with its axes
	left, top     = 60, 26
	inner, tall   = width - left - 12, height - top - 22
)

// draw is the curve: a panel for each number, a line for each watch.
func draw(watches []*watched) string {
	var b strings.Builder
	panels := []struct {
		title string
		of    func(taken) float64
	}{
		{"resident memory, MiB", func(s taken) float64 { return float64(s.rss) / (1 << 20) }},
		{"open files", func(s taken) float64 { return float64(s.files) }},
		{"goroutines", func(s taken) float64 { return float64(s.goroutines) }},
	}
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">`+"\n", width, len(panels)*height+20)
	b.WriteString(`<rect width="100%" height="100%" fill="#fff"/>` + "\n")
	end := time.Minute
	for _, w := range watches {
		if n := len(w.samples); n > 0 {
			end = max(end, w.samples[n-1].at)
		}
	}
	for i, p := range panels {
		y := float64(i*height + top)
		most := 1.0
		for _, w := range watches {
			for _, s := range w.samples {
				most = max(most, 1.1*p.of(s))
			}
		}
		fmt.Fprintf(&b, `<text x="%d" y="%.0f" font-weight="bold">%s</text>`+"\n", left, y-8, p.title)
		for _, share := range []float64{0, 0.5, 1} {
			at := y + tall*(1-share)
			fmt.Fprintf(&b, `<path d="M%d %.1fH%d" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end" fill="#555">%.0f</text>`+"\n", left, at, left+inner, left-6, at+4, share*most)
		}
		for j, w := range watches {
			var path strings.Builder
			for k, s := range w.samples {
				fmt.Fprintf(&path, "%c%.1f %.1f", "ML"[min(k, 1)], left+inner*s.at.Seconds()/end.Seconds(), y+tall*(1-p.of(s)/most))
			}
			fmt.Fprintf(&b, `<path d="%s" fill="none" stroke="%s" stroke-width="1.5"%s/>`+"\n", path.String(), []string{"#1b5e9b", "#b5541c"}[j%2], []string{"", ` stroke-dasharray="5 3"`}[j%2])
		}
		for k := range 7 {
			at := end * time.Duration(k) / 6
			fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="middle" fill="#555">%.0f min</text>`+"\n", float64(left)+inner*float64(k)/6, y+tall+14, at.Minutes())
		}
	}
	y := len(panels)*height + 8
	for j, w := range watches {
		fmt.Fprintf(&b, `<path d="M%d %dh24" stroke="%s" stroke-width="1.5"%s/><text x="%d" y="%d">kgdiag %s</text>`+"\n", left+j*200, y-4, []string{"#1b5e9b", "#b5541c"}[j%2], []string{"", ` stroke-dasharray="5 3"`}[j%2], left+30+j*200, y, w.name)
	}
	b.WriteString("</svg>\n")
	return b.String()
}
