// Package term knows the streams of the process: which end is a terminal, how wide
// it is, and whether text may be coloured.
//
// The decision on colour is taken once for each stream: --color first, then
// NO_COLOR (set and not empty), then TERM=dumb, then whether the stream is a
// terminal. Colour never carries meaning alone. The package refuses to format: it
// paints text that is given to it. It is the only importer of fatih/color.
package term
