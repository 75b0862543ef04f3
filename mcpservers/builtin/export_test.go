package builtin

// Fetcher lets tests reach their own servers.
var (
	NewFetcher = newFetcher
	Public     = public
)

// Fetch is the function of the tool.
var Fetch = (*fetcher).fetch

// FetchInput is the input of Fetch.
type FetchInput = fetchInput
