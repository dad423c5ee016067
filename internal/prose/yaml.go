package prose

import (
	"errors"
	"strings"
)

// YAMLError is what the YAML library says of a text, without its own name, and without
// the name of an anchor: a password that begins with * is taken for one.
func YAMLError(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if strings.HasPrefix(text, "unknown anchor ") {
		return errors.New("an alias (*) refers to no anchor: put a value that begins with * into quotes")
	}
	return errors.New(text)
}
