// Package activity executes the activities of workflows, with the timeouts and retries that
// they share, and converts their errors. This package and package handover are the only places
// that execute activities.
package activity
