// Package rotation says what still needs a key of encryption.keys, so that it is not removed too
// early: a workflow whose key is gone cannot go on, and no destructive call is made while that is the
// Control.
//
// It reads histories as the server has them, over a connection that decrypts nothing.
package rotation
