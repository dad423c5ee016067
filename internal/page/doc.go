// Package page writes a diagnosis as a document to hand on: one HTML page with
// everything in it, for a ticket, and Markdown for a chat. Both are written from one
// Report, so that they say the same.
//
// The page needs no network: styles and script are part of it, and its content
// security policy lets nothing else in. What comes from a cluster or a file is cleaned
// and escaped. It is kept below MostBytes; what had to be left out is said.
//
// The package refuses to read, to look at the clock, to judge, and to write anything
// but the document.
package page
