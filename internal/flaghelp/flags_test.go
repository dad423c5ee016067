package flaghelp

import (
	"testing"

	"github.com/spf13/pflag"
)

func TestFlagsStandInTheirGroups(t *testing.T) {
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	set.Bool("help", false, "not shown")
	set.String("since", "1h", "how far back")
	set.String("cause", "", "only this `CAUSE`")
	set.StringArray("log", nil, "client or broker log `FILE` (repeatable)")
	set.String("old", "", "not shown either")
	if err := set.MarkHidden("old"); err != nil {
		t.Fatal(err)
	}
	want := `
Flags:
      --cause CAUSE   only this CAUSE

Look back:
      --log FILE       client or broker log FILE (repeatable)
      --since string   how far back (default "1h")
`
	if got := Flags(set, 80); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got := Flags(pflag.NewFlagSet("", pflag.ContinueOnError), 80); got != "" {
		t.Errorf("no flags: %q", got)
	}
}
