// Package past is the one reader of what has been: for a window of time it reads the
// groups as they are, their records in the offsets log since a while before the
// window, and log files, and gives a Case with rebuilt timelines. A case file gives
// the same, without a cluster.
//
// What could not be read is a Gap, or the Log and Missing errors of the Past beside
// the rest. The package refuses to print, to read flags or the environment, and to
// judge: causes are worked out by inspect/judge.
package past
