// Package control serves what operators change while an agent runs: the switches that pause
// destructive calls (switches.go), the rate limits of calls (limits.go), and calls that wait for more than
// the rules of now need (releases.go).
//
//	GET  /control/switches    POST /control/pause, /control/resume
//	GET  /control/limits      POST /control/limits
//	GET  /control/releases    POST /control/releases
package control
