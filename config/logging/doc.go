// Package logging makes the logger of every process: text or JSON on standard error, one line per
// event, with the level and the format from the environment.
package logging
