// Package web is the tool server mcp-web: it searches the web and reads its pages for agents, over the
// Model Context Protocol. From this project it imports package hosting and the packages below:
//
//	config, err := web.LoadConfig("web.yaml")
//	s, err := web.New(config, os.Getenv, log)
//	s.Register(mcpServer)
//
// The program is mcpservers/cmd/mcp-web. Its tools only read, and reach out:
//
//	search    query, max_results, provider           pages with title, address and a piece of text, numbered
//	extract   url, whole, start, max_length          a page as text, with numbered links
//
// # Search
//
// Providers are asked in the order of the configuration until one answers; the argument provider asks
// one of them. Package search has what they are. Without a configuration they are those whose keys
// are in the environment, or DuckDuckGo, which needs none.
//
// # Extract
//
// A page is whatever a URL of a model leads to, so the program is in the position of a proxy that
// strangers may use. Package reach has what is refused; private_hosts has what is inside and may be read
// all the same. A page is read to max_page bytes, and a result has at most max_length characters of it:
// the text says with which start to go on. Reading goes to the page anew each time.
//
// What a page says is written by others. The tools say so to the model; what it may do afterwards is up
// to the approvals of the agent.
//
// # Map
//
//	config.go            the configuration
//	server.go tools.go   the server and its tools
//	text.go              results as text
//	search/              search engines
//	page/                pages as text
package web
