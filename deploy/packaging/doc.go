// Package packaging checks what ships the project with the tools of those who read it: the
// Dockerfile with BuildKit's parser and linter, the compose files with compose-go, the chart
// with Helm. It is a module of its own because of their dependencies.
//
//	make packaging
//
// The tools of make release and make vuln are in its go.mod too. No container engine is needed. With -replay the test of the Dockerfile also carries out the
// steps of its build stages in a folder, which compiles all binaries (minutes).
package packaging
