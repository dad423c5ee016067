package credentials

// defaultCache is nowhere: Windows keeps tickets in memory.
func defaultCache() string { return "krb5cc" }
