// Package numbers is the workflow Numbers, which keeps the numbers that the conversations of one caller
// have (package number of the contract). It never ends; a long run continues as new.
//
// It starts when a caller first asks for numbers: only front ends do whose clients know conversations
// by small integers. A number gives no right. Whoever names one is checked like somebody who names the
// conversation.
package numbers
