// Package router finds the provider of a model by the model's name, in any of the three forms
// that modelname.Parse accepts, and calls it:
//
//	m := router.New(router.Options{Getenv: os.Getenv})
//	reply, err := m.Generate(ctx, llm.Request{
//		Model: "openai:gpt-4o", System: prompt, Messages: messages, Tools: tools,
//	})
//
// It is the only package that knows all providers. A new one is an entry in the
// package of its wire format; a new wire format is a package beside those, and a
// line in registry.go.
//
//	router.go    a request's model → its entry → its endpoint → its wire format
//	registry.go  the providers
//	endpoint.go  keys, addresses, headers, the HTTP client
//	facts.go     models with their own settings; windows.go known limits of
//	             the others
package router
