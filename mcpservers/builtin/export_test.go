package builtin

// NewFetcher lets tests reach their own servers.
var NewFetcher = newFetcher

// Fetch is the function of the tool.
var Fetch = (*fetcher).fetch

// FetchInput is the input of Fetch.
type FetchInput = fetchInput
