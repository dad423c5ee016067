// Package diagnose says what is wrong with a group, and why: its verdict, the cause of
// its rebalances with the evidence and the rivals, what they cost, what to change, what
// was not checked and what to do next. Of many groups it says which is worst, and what
// their troubles have in common.
//
// All of it is worked out from an inspect.Case by pure functions. The package refuses
// to read, to look at the clock and to lay anything out on a screen.
package diagnose
