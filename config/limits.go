package config

import (
	"fmt"
	"io"
	"strings"
	"time"
)

func checkLimits(r *report, c *Config) {
	for _, side := range c.Limits.Sides() {
		if side.Time != nil {
			checkDuration(r, side.Path+".time", *side.Time, time.Second)
		}
	}
	known := len(c.Auth) > 0 || r.failed["auth"]
	c.Limits.OfCaller().Check(known, func(key, problem string) {
		r.at(strings.TrimSuffix(join("limits.caller", key), "."), "%s", problem)
	})
}

func (c *Config) describeLimits(w io.Writer) {
	var text strings.Builder
	for _, side := range c.Limits.Sides() {
		if limit := side.Text(decimal, short); limit != "" {
			fmt.Fprintf(&text, "  %s: %s\n", side.Name, limit)
		}
	}
	if limit := c.Limits.OfCaller().String(); limit != "" {
		fmt.Fprintf(&text, "  a caller: %s\n", limit)
	}
	if text.Len() > 0 {
		fmt.Fprintf(w, "\nLimits\n%s", text.String())
	}
}
