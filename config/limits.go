package config

import (
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
	servers := c.serverNames()
	at := func(key, problem string) { r.at(strings.TrimSuffix(join("limits", key), "."), "%s", problem) }
	c.Limits.CheckRates(known, servers, at)
	c.Limits.OfCaller().Check(known, at)
}
