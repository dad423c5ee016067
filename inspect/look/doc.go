// Package look looks at groups live for a while before their past is read: what the
// offsets log does not show of that time, and all that can be had where it may not be
// read, is then part of the case.
//
// It refuses to print and to read flags: who it is for hears of the time that passes by
// functions, and ends the looking by ending the context.
package look
