// Package web reads the YAML file of the web process: where the agent is, where to listen, and the OAuth
// client whose tokens go to the agent for its tools.
//
//	web.go     the file: each key and its default; what follows from them
//	load.go    reading, with the line of every mistake
//	check.go   the rules
//
// Files of the former web process can be read, with these differences: host is 127.0.0.1 without the
// key, unknown keys are errors, and client_secret should be ${NAME}; a secret in the file is a warning.
package web
