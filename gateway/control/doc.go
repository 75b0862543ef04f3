// Package control serves what operators change while an agent runs: the switches that pause
// destructive calls (switches.go), and the rate limits of calls (limits.go).
//
//	GET  /control/switches    POST /control/pause, /control/resume
//	GET  /control/limits      POST /control/limits
package control
