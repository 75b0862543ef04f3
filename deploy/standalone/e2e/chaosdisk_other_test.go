//go:build !linux

package e2e_test

import "math/rand/v2"

// drawDisk does nothing: tests can mount a disk on Linux only.
func (e *estate) drawDisk(*rand.Rand) { e.t.Logf("full disk: drawn on Linux only") }
