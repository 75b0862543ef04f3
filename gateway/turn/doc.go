// Package turn finds the part of a conversation that belongs to a request, for front ends that
// answer a request with a stream. It knows no HTTP and no protocol.
//
// turn.go has Turn: give it what a live.Reader delivers. Until the turn has begun, Buffer keeps the
// pieces that may belong to it; Extract then returns the turn's part of each state.
package turn
