//go:build !windows

package credentials

import (
	"fmt"
	"os"
)

// defaultCache is where MIT's kinit puts tickets unless told otherwise.
func defaultCache() string { return fmt.Sprintf("/tmp/krb5cc_%d", os.Getuid()) }
