package document

import (
	"encoding/json"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

// Usage is the usage of model calls. Older records have no calls and no cost.
type Usage struct {
	InputTokens  int64 `json:"input_tokens,omitempty"`
	OutputTokens int64 `json:"output_tokens,omitempty"`
	CachedTokens int64 `json:"cached_tokens,omitempty"` // of the input
	// Calls counts the calls that were answered.
	Calls int64 `json:"calls,omitempty"`
	// Cost is the exact amount in the currency that prices are given in.
	Cost json.Number `json:"cost,omitempty"`
}

func usage(u contract.Usage) Usage {
	return Usage{
		InputTokens: u.InputTokens, OutputTokens: u.OutputTokens, CachedTokens: u.CachedTokens,
		Calls: u.Calls, Cost: amount(u.Cost),
	}
}

// amount is a cost in a document; 0 is omitted.
func amount(cost int64) json.Number {
	if cost == 0 {
		return ""
	}
	return json.Number(wording.Amount(cost))
}
