package show

import (
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// Clock writes moments of a window so that a reader knows their day: the first line of a
// screen names the day on which the window ends, unless that is today, and times of other
// days carry their own.
type Clock struct {
	Zone   *time.Location
	Today  time.Time // the reader's time; zero where what is shown is read again on any day
	Window inspect.Window
}

// day numbers the day of a moment.
func (c Clock) day(t time.Time) int { y := t.In(c.Zone); return y.Year()*1000 + y.YearDay() }

// layout is one of the layouts: without a day where the moment is of the last day of the
// window, else with one, and with the year where it is another.
func (c Clock) layout(t time.Time, layout string) string {
	end := c.Window.To.Time
	switch {
	case end.IsZero() || c.day(t) == c.day(end):
		return layout
	case t.In(c.Zone).Year() == end.In(c.Zone).Year():
		return "2 Jan " + layout
	}
	return "2 Jan 2006 " + layout
}

// Head is a moment for the first line, with its zone, and its date unless that is today.
func (c Clock) Head(t time.Time) string {
	layout := "15:04:05 MST"
	if c.day(t) != c.day(c.Today) {
		layout = "2 Jan 2006 " + layout
	}
	return t.In(c.Zone).Format(layout)
}

// Moment is a moment to the second; all those of a window that holds two days carry
// theirs. "-" where it is not known.
func (c Clock) Moment(t inspect.Time) string {
	switch {
	case t.IsZero():
		return "-"
	case !c.Window.From.IsZero() && c.day(c.Window.From.Time) != c.day(c.Window.To.Time):
		return t.In(c.Zone).Format("02 Jan 15:04:05")
	}
	return c.Second(t)
}

// Second is a moment to the second, with its day where it is not the window's last.
func (c Clock) Second(t inspect.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.In(c.Zone).Format(c.layout(t.Time, "15:04:05"))
}

// Minute is Second, to the minute.
func (c Clock) Minute(t inspect.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.In(c.Zone).Format(c.layout(t.Time, "15:04"))
}

// Edge is an edge of a chart: to the second where it shows little time, with the day
// where it shows more than one.
func (c Clock) Edge(t inspect.Time) string {
	switch n := c.Window.Length(); {
	case n >= 24*time.Hour:
		return t.In(c.Zone).Format("2 Jan 15:04")
	case n < 10*time.Minute:
		return t.In(c.Zone).Format("15:04:05")
	}
	return t.In(c.Zone).Format("15:04")
}

// Span is the window: "12:00-13:00 UTC", with days where a time alone would leave them
// open.
func (c Clock) Span() string {
	from, to := c.Edge(c.Window.From), c.Edge(c.Window.To)+" "+c.Window.To.In(c.Zone).Format("MST")
	switch twoDays := c.day(c.Window.From.Time) != c.day(c.Window.To.Time); {
	case c.Window.Length() >= 24*time.Hour:
	case twoDays:
		return c.Window.From.In(c.Zone).Format("2 Jan ") + from + " - " + c.Window.To.In(c.Zone).Format("2 Jan ") + to
	case c.day(c.Window.To.Time) != c.day(c.Today):
		return c.Window.To.In(c.Zone).Format("2 Jan 2006 ") + from + "-" + to
	}
	return from + "-" + to
}
