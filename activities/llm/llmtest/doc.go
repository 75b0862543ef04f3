// Package llmtest stands in for language models in tests and benchmarks.
//
// Scripted is an llm.Model that answers from a list or a function:
//
//	m := llmtest.Script(llmtest.Call("resources_list", `{}`), llmtest.Text("There are two."))
//	reply, err := m.Generate(ctx, llm.Request{…})
//	m.Requests() // what it was asked
//
// Server is an HTTP server that speaks the wire formats of the providers: OpenAI's
// chat completions, Anthropic's Messages and Gemini's generateContent, by the path
// of the request. It refuses what the real ones refuse, with the same error bodies:
//
//	s := llmtest.NewServer()
//	defer s.Close()
//	s.Reply(llmtest.Say("hello"), llmtest.RateLimit("7"), llmtest.Reset())
//	// OPENAI_BASE_URL=s.URL() OPENAI_API_KEY=anything
//
// Answers are written in the format of the request, as a stream if it asks for
// one.
//
// Each request takes the next answer; without one, the answer set with Always;
// without that, a 400 that says how many answers there were, so that nothing
// retries. Requests lists what arrived, Refused what was wrong with it. Both
// types are safe for concurrent use and need no *testing.T.
package llmtest
