// Package packaging checks what ships the project with the tools of those who read it: the
// Dockerfile with BuildKit's parser and linter, the compose files with compose-go, the chart
// with Helm. It is a module of its own because of their dependencies. The tools of make release
// and make vuln are in its go.mod too.
//
//	make packaging
//
// No container engine is needed. The steps of the build stages can be carried out in a folder,
// which compiles the binaries (minutes):
//
//	go test ./images -run BuildStages -v -replay source,build,build-stores,build-agent
package packaging
