package top

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// crowd is a screen of so many groups, each with the rebalances of one of the recorded case.
func crowd(t testing.TB, groups int) Model {
	t.Helper()
	m := screen(t, 80, 24, false)
	_, few := recorded()
	many := make(sightsMsg, 0, groups)
	for i := range groups {
		d := few[i%len(few)].Diagnosis
		d.Group = fmt.Sprintf("%s-%04d", d.Group, i)
		many = append(many, newSight(d, true))
	}
	return send(t, m, many)
}

// acts are what a user does with a list, and the clock.
func acts() map[string][]tea.Msg {
	return map[string][]tea.Msg{"key": press("down"), "tick": {tickMsg(moment())}, "sort": press("s"), "filter": press("/", "o", "r", "d", "enter", "esc")}
}

// A key costs what is on the screen, not what is on the cluster: of 2,000 groups, each with
// dozens of rebalances, a frame takes no more than twice the work of twenty.
func TestAKeyCostsWhatIsOnTheScreen(t *testing.T) {
	few, many := crowd(t, 20), crowd(t, 2000)
	for name, keys := range acts() {
		cost := func(m Model) float64 {
			return testing.AllocsPerRun(5, func() {
				m = send(t, m, keys...)
				_ = m.View()
			})
		}
		if a, b := cost(few), cost(many); b > 2*a {
			t.Errorf("%s: %.0f allocations, and %.0f of 20 groups", name, b, a)
		}
	}
}

// Among 2,000 groups one is found by a few letters, and the end of the list by a key.
func TestOneOfManyGroupsIsFound(t *testing.T) {
	m := crowd(t, 2000)
	if got := text(m); !strings.Contains(got, "2,003 groups") || !strings.Contains(got, ">orders ") {
		t.Errorf("the worst is not on top:\n%s", got)
	}
	if got := text(send(t, m, press("/", "m", "e", "n", "t", "s", "-", "1", "5", "5", "5", "enter")...)); !strings.Contains(got, ">payments-1555 ") || !strings.Contains(got, "1 of 2,003 groups") {
		t.Errorf("payments-1555 is not found:\n%s", got)
	}
	if got := text(send(t, m, press("s", "s", "s", "end")...)); !strings.Contains(got, ">payments-1999 ") {
		t.Errorf("the last by name is not under the cursor:\n%s", got)
	}
}

func BenchmarkScreen(b *testing.B) {
	for _, n := range []int{20, 2000} {
		for name, keys := range acts() {
			b.Run(fmt.Sprintf("%d/%s", n, name), func(b *testing.B) {
				m := crowd(b, n)
				b.ReportAllocs()
				for b.Loop() {
					m = send(b, m, keys...)
					_ = m.View()
				}
			})
		}
	}
}
