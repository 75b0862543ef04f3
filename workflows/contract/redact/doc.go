// Package redact shows addresses and commands without the secrets in them, the same way in
// histories, approvals and logs. A secret in a path is replaced by its hash, so that a different
// secret is a different address.
//
// address.go     URLs and command lines; URLs as histories store them
// secretname.go  which names suggest a secret
package redact
