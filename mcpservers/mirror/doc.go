// Package mirror connects to a tool server and serves what it offers over another transport.
//
//	c, err := mirror.Connect(ctx, mirror.Target{URL: "http://127.0.0.1:8090/mcp"})
//	defer c.Close()
//	s, err := mirror.New(ctx, c, "bridge", "1.0.0")
//	err = hosting.Run(ctx, options, s)
//
// Tools, prompts, resources and templates are those of the server, with their schemas and hints, also
// after they change. Calls are passed on with their _meta, so idempotency keys and traces arrive. All
// clients share one session of the server. Requests of the server to its clients (sampling, roots,
// elicitation), progress, logs and subscriptions are not passed on.
package mirror
