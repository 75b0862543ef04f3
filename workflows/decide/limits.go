package decide

import (
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

// AddResult adds a node's usage and grants.
func AddResult(s contract.Consumption, r contract.NodeResult) contract.Consumption {
	return contract.Consumption{
		Turn:         addUsed(s.Turn, r, r.Granted.Turn),
		Conversation: addUsed(s.Conversation, r, r.Granted.Conversation),
	}
}

func addUsed(o contract.Used, r contract.NodeResult, granted contract.Limit) contract.Used {
	return contract.Used{Usage: o.Usage.Add(r.Usage), Time: o.Time + r.Worked, Granted: o.Granted.Add(granted)}
}

// LimitReached finds the first limit that is reached. Nil limits are never reached.
func LimitReached(l *contract.Limits, s contract.Consumption) (wording.ReachedLimit, bool) {
	if l == nil {
		return wording.ReachedLimit{}, false
	}
	if r, ok := limitReached("turn", l.Turn, s.Turn); ok {
		return r, true
	}
	return limitReached("conversation", l.Conversation, s.Conversation)
}

func limitReached(of string, l contract.Limit, o contract.Used) (wording.ReachedLimit, bool) {
	for _, r := range []wording.ReachedLimit{
		{What: "tokens", Used: o.Usage.InputTokens + o.Usage.OutputTokens, Limit: l.Tokens + o.Granted.Tokens, More: l.Tokens},
		{What: "cost", Used: o.Usage.Cost, Limit: l.Cost + o.Granted.Cost, More: l.Cost},
		{What: "calls", Used: o.Usage.Calls, Limit: l.Calls + o.Granted.Calls, More: l.Calls},
		{What: "time", Used: int64(o.Time), Limit: int64(l.Time + o.Granted.Time), More: int64(l.Time)},
	} {
		if r.More > 0 && r.Used >= r.Limit {
			r.Of = of
			r.More *= (r.Used-r.Limit)/r.More + 1
			return r, true
		}
	}
	return wording.ReachedLimit{}, false
}

// Grant returns what the approval of a reached limit grants.
func Grant(r wording.ReachedLimit) contract.Limits {
	var l contract.Limit
	switch r.What {
	case "tokens":
		l.Tokens = r.More
	case "cost":
		l.Cost = r.More
	case "calls":
		l.Calls = r.More
	case "time":
		l.Time = time.Duration(r.More)
	}
	if r.Of == "turn" {
		return contract.Limits{Turn: l}
	}
	return contract.Limits{Conversation: l}
}
