// Package apidoc reads the description of an API (OpenAPI) into a short form, which is served as JSON and
// as a list for browsers without JavaScript. It knows no HTTP.
//
// document.go  Document and Endpoint
// read.go      Read
package apidoc
