// Package secrets finds the values of a configuration that come from the environment and must
// not be shown.
package secrets
