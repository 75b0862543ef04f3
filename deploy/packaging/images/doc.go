// Package images has the tests of the Dockerfile and of the compose files, and can carry out the
// steps of the build stages.
package images
