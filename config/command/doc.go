// Package command is the frame of the programs that run from a configuration: flags, logging, the
// configuration file, signals and exit codes. A main is one line:
//
//	command.Command{Name: "worker", Usage: usage, Version: version, Run: run}.Main()
package command
