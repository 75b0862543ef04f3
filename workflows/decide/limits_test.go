package decide_test

import (
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
)

func TestTheFirstLimitThatIsReached(t *testing.T) {
	used := func(u contract.Usage, d time.Duration) contract.Consumption {
		return contract.Consumption{Turn: contract.Used{Usage: u, Time: d}, Conversation: contract.Used{Usage: u, Time: d}}
	}
	both := contract.Usage{InputTokens: 60, OutputTokens: 40, Calls: 3, Cost: 2_500_000_000}
	for name, tt := range map[string]struct {
		limits contract.Limits
		spent  contract.Consumption
		want   string
	}{
		"none":                        {contract.Limits{}, used(both, time.Hour), ""},
		"not yet":                     {contract.Limits{Turn: contract.Limit{Tokens: 101}}, used(both, 0), ""},
		"input and output count":      {contract.Limits{Turn: contract.Limit{Tokens: 100}}, used(both, 0), `{"allowed":100,"limit":"turn.tokens","more":100,"spent":100}`},
		"cost in the prices' unit":    {contract.Limits{Turn: contract.Limit{Cost: 2_000_000_000}}, used(both, 0), `{"allowed":2,"limit":"turn.cost","more":2,"spent":2.5}`},
		"calls":                       {contract.Limits{Conversation: contract.Limit{Calls: 3}}, used(both, 0), `{"allowed":3,"limit":"conversation.calls","more":3,"spent":3}`},
		"time":                        {contract.Limits{Turn: contract.Limit{Time: time.Minute}}, used(both, 90*time.Second), `{"allowed":"1m0s","limit":"turn.time","more":"1m0s","spent":"1m30s"}`},
		"the turn's come first":       {contract.Limits{Turn: contract.Limit{Calls: 1}, Conversation: contract.Limit{Calls: 1}}, used(both, 0), `{"allowed":1,"limit":"turn.calls","more":3,"spent":3}`},
		"what was granted is allowed": {contract.Limits{Turn: contract.Limit{Calls: 2}}, contract.Consumption{Turn: contract.Used{Usage: both, Granted: contract.Limit{Calls: 2}}}, ""},
		"what was granted is used up": {contract.Limits{Turn: contract.Limit{Calls: 2}}, contract.Consumption{Turn: contract.Used{Usage: both, Granted: contract.Limit{Calls: 1}}}, `{"allowed":3,"limit":"turn.calls","more":2,"spent":3}`},
	} {
		t.Run(name, func(t *testing.T) {
			r, reached := decide.LimitReached(&tt.limits, tt.spent)
			if reached != (tt.want != "") {
				t.Fatalf("reached %v", reached)
			}
			if reached {
				equal(t, "arguments", string(r.Call().Arguments.Raw), tt.want)
				equal(t, "digest", r.Call().SHA256, contract.Hash([]byte(tt.want)))
			}
		})
	}
	if _, reached := decide.LimitReached(nil, used(both, time.Hour)); reached {
		t.Error("a limit that is not there is reached")
	}
}

func TestAGrantIsAsMuchAsTheLimitOrAsManyTimesAsItTakes(t *testing.T) {
	used := contract.Used{Usage: contract.Usage{InputTokens: 1050, Cost: 1, Calls: 2}, Time: time.Hour}
	for what, tt := range map[string]struct{ limit, want contract.Limit }{
		"tokens": {contract.Limit{Tokens: 100}, contract.Limit{Tokens: 1000}},
		"cost":   {contract.Limit{Cost: 1}, contract.Limit{Cost: 1}},
		"calls":  {contract.Limit{Calls: 2}, contract.Limit{Calls: 2}},
		"time":   {contract.Limit{Time: time.Minute}, contract.Limit{Time: time.Hour}},
	} {
		spent := contract.Consumption{Turn: used, Conversation: used}
		r, _ := decide.LimitReached(&contract.Limits{Turn: tt.limit}, spent)
		equal(t, what+" of the turn", decide.Grant(r), contract.Limits{Turn: tt.want})
		spent.Turn.Granted = tt.want
		if _, again := decide.LimitReached(&contract.Limits{Turn: tt.limit}, spent); again {
			t.Errorf("%s: granted, and reached all the same", what)
		}
		r, _ = decide.LimitReached(&contract.Limits{Conversation: tt.limit}, spent)
		equal(t, what+" of the conversation", decide.Grant(r), contract.Limits{Conversation: tt.want})
	}
}
