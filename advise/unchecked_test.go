package advise

import (
	"strings"
	"testing"
)

func TestUncheckedOfManyGroupsIsOneEntry(t *testing.T) {
	var us []Unchecked
	for _, g := range []string{"a", "b", "c"} {
		us = append(us, Unchecked{ID: "KGD101", Group: g, Subject: "client x", Reason: "add a file"},
			Unchecked{ID: "KGD101", Group: g, Subject: "client y", Reason: "add a file"})
	}
	us = append(us, Unchecked{ID: "KGD103", Group: "a", Reason: "add a pause"}, Unchecked{ID: "KGD301", Reason: "needs -b"})
	got := ByReason(us)
	if len(got) != 3 || got[0].Group != "" || strings.Join(got[0].Groups, ",") != "a,b,c" || got[1].Group != "a" || got[2].Group != "" {
		t.Errorf("got %+v", got)
	}
}
