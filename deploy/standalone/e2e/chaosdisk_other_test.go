//go:build !linux

package e2e_test

import "math/rand/v2"

// drawDisk draws none: only Linux lets a test mount one.
func (e *estate) drawDisk(*rand.Rand) { e.t.Logf("full disk: drawn on Linux only") }
