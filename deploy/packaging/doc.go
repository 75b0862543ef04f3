// Package packaging checks what ships the project with the tools of those who read it: the
// Dockerfile with BuildKit's parser and linter, the compose files with compose-go, the chart
// with Helm. It is a module of its own because of their dependencies. The tools of make release
// and make vuln are in its go.mod too.
//
//	make packaging
//
// No container engine is needed. What compiles the binaries (minutes) is apart: the steps of the
// build stages are carried out in a folder, and what make install and make release put together is
// checked:
//
//	make ship
package packaging
