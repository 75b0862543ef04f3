// Package secrets resolves the references of a configuration to the environment and to files,
// and finds the values that must not be shown.
package secrets
