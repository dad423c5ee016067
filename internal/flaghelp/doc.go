// Package flaghelp writes flags as help shows them: by groups, at a width. It refuses to
// know commands.
package flaghelp
