// Package reset ends the workflows that no run waits for any more after an operator has reset the
// one that started them. Its activity is Withdraw.
package reset
