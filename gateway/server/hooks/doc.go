// Package hooks builds from a configuration the hook.Reader with which a worker sends web hooks.
// It is apart from package server so that workers do not link the gateway's HTTP server.
package hooks
