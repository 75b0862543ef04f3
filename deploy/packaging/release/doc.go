// Package release has the tests of what make install and make release put together. They compile
// all binaries, so they need the flag -build, which make ship gives them.
package release
