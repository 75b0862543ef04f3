// Package sse writes streams of server-sent events. Every protocol with streams uses it:
//
//	out := sse.New(w, http.StatusOK, closing)
//	defer out.HurryOnClose()()
//	err := out.Send(id, data) // the first call sends the headers
//
// An error from Send means that the client is gone: stop, there is nobody to report it to.
package sse
