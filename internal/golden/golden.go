package golden

import (
	"os"
	"testing"
)

// Compare holds a text to a committed file, or writes it there where update is set. A
// difference fails the test, with how to look at it.
func Compare(t *testing.T, update bool, file, got, how string) {
	t.Helper()
	if update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s is out of date: %s", file, how)
	}
}
