// Package catalogue has the workflow through which the gateway, which connects to no model and no
// tool itself, learns what a worker offers.
package catalogue
