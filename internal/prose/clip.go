package prose

import "strings"

// Clip cuts s to at most so many columns; what is missing at its end is "…".
func Clip(s string, width int) string {
	if Width(s) <= width {
		return s
	}
	if width <= 0 {
		return ""
	}
	return head(s, width-1) + "…"
}

// ClipWords is Clip that cuts between two words where one ends in the last third.
func ClipWords(s string, width int) string {
	cut := Clip(s, width)
	if cut == s {
		return s
	}
	if i := strings.LastIndexByte(cut, ' '); i > 2*len(cut)/3 {
		return cut[:i] + " …"
	}
	return cut
}

// Middle cuts s to at most so many columns and keeps both ends, which is where ids that
// were made alike differ: "orders-service…-7f9c".
func Middle(s string, width int) string {
	if Width(s) <= width {
		return s
	}
	if width < 3 {
		return Clip(s, width)
	}
	front := width / 2
	r := []rune(s)
	back := ""
	for i := len(r) - 1; i >= 0 && Width(string(r[i])+back) <= width-1-front; i-- {
		back = string(r[i]) + back
	}
	return head(s, front) + "…" + back
}

// Pad fills s with blanks up to so many columns.
func Pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-Width(s)))
}

// head is as much of the beginning of s as fits.
func head(s string, width int) string {
	var b strings.Builder
	for _, r := range s {
		if Width(b.String()+string(r)) > width {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}
