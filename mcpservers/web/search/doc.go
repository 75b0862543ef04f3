// Package search asks search engines, each through one type:
//
//	engine, err := search.New(search.Config{Provider: search.Tavily}, os.Getenv, client)
//	results, err := engine.Search(ctx, "durable execution", 10)
//
//	provider     what it is                               key in           documents
//	google       Gemini, grounded with Google Search      GEMINI_API_KEY   ai.google.dev/gemini-api/docs/google-search
//	tavily       a search engine for models               TAVILY_API_KEY   docs.tavily.com/documentation/api-reference/endpoint/search
//	xai          Grok, with its tool web_search           XAI_API_KEY      docs.x.ai/developers/tools/web-search, …/citations
//	duckduckgo   the page without scripts                 (none)           html.duckduckgo.com/html
//	searxng      an instance of one's own                 (none)           docs.searxng.org/dev/search_api.html
//
// google and xai are models: they answer with a text, and results are the pages that it cites. Their
// results have no ranks, and google's have addresses at Google that redirect to the pages.
//
// A key is sent to the provider's address only: redirects of a provider are not followed, and errors
// do not contain keys.
package search
