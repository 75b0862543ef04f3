package limits

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"agent-stop-and-go/workflows/contract/rates"
)

// Rate is how often calls of tools may be made. Empty fields of Tool, Server and Class match all.
type Rate struct {
	Name    string        `yaml:"name" jsonschema:"maxLength=100" jsonschema_description:"The limit's name, unique among all rates, by which it is shown and changed. Default: what it is about, such as server db per caller."`
	Tool    string        `yaml:"tool" jsonschema_description:"Only calls of this tool; a2a_NAME is the delegation to an agent. Without tool, server and class all calls count."`
	Server  string        `yaml:"server" jsonschema_description:"Only calls of tools of this server of mcp_servers."`
	Class   string        `yaml:"class" jsonschema:"enum=read_only,enum=destructive" jsonschema_description:"Only calls of tools that are read-only, or that may destroy something, by the hints in force."`
	Per     string        `yaml:"per" jsonschema:"default=agent,enum=agent,enum=caller,enum=conversation" jsonschema_description:"Whose calls are counted together: all, those of each caller (who has sent the message; needs auth), or those of each conversation."`
	Calls   int           `yaml:"calls" jsonschema:"required,minimum=1,maximum=10000" jsonschema_description:"How many calls may run in any time span of the length of in."`
	In      time.Duration `yaml:"in" jsonschema:"required" jsonschema_description:"The length of that time span, from 1s to 744h."`
	OnLimit string        `yaml:"on_limit" jsonschema:"default=deny,enum=deny,enum=ask,enum=pause" jsonschema_description:"What happens to one call more. deny: it does not run, and the model learns why and when there is room again. ask: a person may let it run. pause: it waits for its turn, and goes on by itself."`
}

// limit returns the limit as it is counted.
func (r Rate) limit() rates.Limit {
	l := rates.Limit{
		Tool: r.Tool, Server: r.Server, Class: rates.Class(r.Class), Per: rates.Scope(cmp.Or(r.Per, string(rates.PerAgent))),
		Calls: r.Calls, In: r.In, On: rates.Action(cmp.Or(r.OnLimit, string(rates.Deny))),
	}
	l.Name = cmp.Or(r.Name, rates.NameOf(l))
	return l
}

// RateLimits returns the rate limits with their names.
func (l *Limits) RateLimits() []rates.Limit {
	if l == nil {
		return nil
	}
	var out []rates.Limit
	for _, r := range l.Rates {
		out = append(out, r.limit())
	}
	return out
}

// CheckRates reports what is wrong with the rates. known is as in Check; servers are those of the
// agent.
func (l *Limits) CheckRates(known bool, servers []string, report func(key, problem string)) {
	if l == nil {
		return
	}
	seen := map[string]bool{}
	for i, r := range l.Rates {
		at := func(key, problem string) { report(fmt.Sprintf("rates[%d]%s", i, key), problem) }
		name := r.limit().Name
		switch {
		case seen[name]:
			at("", fmt.Sprintf("there is another rate %q: give one of them a name of its own", name))
		case strings.TrimSpace(r.Name) != r.Name:
			at(".name", "must not begin or end with a space")
		}
		seen[name] = true
		r.check(known, servers, at)
	}
}

func (r Rate) check(known bool, servers []string, report func(key, problem string)) {
	if r.Calls == 0 {
		report(".calls", "is required")
	}
	if r.In < time.Second || r.In > rates.MaxIn {
		report(".in", fmt.Sprintf("%s: must be between 1s and %s", r.In, rates.MaxIn))
	}
	if r.Server != "" && !slices.Contains(servers, r.Server) {
		report(".server", fmt.Sprintf("%q is not one of mcp_servers", r.Server))
	}
	if r.Per == string(rates.PerCaller) && !known {
		report(".per", "caller needs auth: with auth: none nobody is known, and all callers are one")
	}
}
