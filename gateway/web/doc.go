// Package web serves the page of an agent that is elsewhere, and passes everything else on to it.
//
//	web.go     New: the handler; its door, its log
//	agent.go   what the process knows of the agent: its name, and whether it asks who calls
//	proxy.go   requests to the agent: which headers they have, streams, failures
//	serve.go   the server: limits, and a shutdown that ends streams
//
// Package tooltoken has the login whose token goes to the agent for its tools.
//
// # Who is who
//
// Nothing is stored here. The login at the agent is the agent's: its cookies and its routes below /auth/
// pass through. The login for tools is of this process, which keeps its cookies from the agent and sends
// the token as Authorization or, if the agent asks who calls, as X-Tool-Authorization.
//
// # The door
//
// Host and Origin of a request are checked here, as the gateway does, for the names of this process. The
// agent gets requests under the name of its own address, and without the headers that are about this
// one. Only headers that the API knows go on: a proxy in front of the agent may be trusted for others, such as the
// name of a caller, and a browser could send them through here.
package web
