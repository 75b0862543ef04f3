// Package price has what a million tokens of a model cost.
package price

import (
	"fmt"
	"strconv"
)

// Price is the price of a million tokens.
type Price struct {
	Input  float64  `yaml:"input" jsonschema:"minimum=0,maximum=1000000" jsonschema_description:"Of input tokens."`
	Output float64  `yaml:"output" jsonschema:"minimum=0,maximum=1000000" jsonschema_description:"Of output tokens."`
	Cached *float64 `yaml:"cached" jsonschema:"minimum=0,maximum=1000000" jsonschema_description:"Of input tokens that the provider had cached. Without it, the price of input."`
}

// String describes the price, also of a model that has none.
func (p *Price) String() string {
	if p == nil {
		return "no price"
	}
	text := fmt.Sprintf("a million tokens cost %s in, %s out", decimal(p.Input), decimal(p.Output))
	if p.Cached != nil {
		text += fmt.Sprintf(", %s cached", decimal(*p.Cached))
	}
	return text
}

// decimal formats a number without an exponent.
func decimal(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
