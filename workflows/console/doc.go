// Package console tells workflows the address of their server, for the commands that they
// show to people.
package console
