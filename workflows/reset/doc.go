// Package reset lets a workflow go on after an operator has reset it: it ends what the run before
// the reset has left, and names new nodes differently.
package reset
