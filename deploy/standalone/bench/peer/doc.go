// Package peer runs servers that are compared: it starts each from a description, sends it
// turns over HTTP, and reads its processor time and memory.
//
// A server of the shape that can be compared starts a conversation with a request. A turn calls
// a model and a tool, and a call of another tool waits for a decision, which is a request too.
//
//	peers, err := peer.Read("peers")        // descriptions in YAML
//	s, err := peers[0].Start(ctx, dir, env) // waits until it is ready
//	err = s.List(ctx)                       // a conversation: model, tool, model
//	waiting, err := s.Ask(ctx)              // a conversation that waits for a decision
//	err = waiting.Decide(ctx)               // … goes on to its end
//	s.Stop()
package peer
