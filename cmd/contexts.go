package cmd

import "errors"

func (o *checkOptions) listContexts() error { return errors.New("not yet") }
