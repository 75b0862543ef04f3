package decide_test

import (
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
)

func TestATaskIsLookedAtEverMoreRarely(t *testing.T) {
	long := decide.History{Events: 20_000}
	for name, tt := range map[string]struct{ got, want time.Duration }{
		"at once":                     {decide.PollInterval(0, decide.History{}), 2 * time.Second},
		"after ten minutes of work":   {decide.PollInterval(10*time.Minute, decide.History{}), 30 * time.Second},
		"after a day of work":         {decide.PollInterval(24*time.Hour, decide.History{}), 5 * time.Minute},
		"work with a long history":    {decide.PollInterval(time.Minute, long), time.Hour},
		"just waiting":                {decide.WaitingPollInterval(0, decide.History{}), 2 * time.Second},
		"after an hour of waiting":    {decide.WaitingPollInterval(time.Hour, decide.History{}), 3 * time.Minute},
		"after a week of waiting":     {decide.WaitingPollInterval(7*24*time.Hour, decide.History{}), 30 * time.Minute},
		"waiting with a long history": {decide.WaitingPollInterval(time.Minute, long), 24 * time.Hour},
		"work with a large history":   {decide.PollInterval(time.Minute, decide.History{Bytes: 16 << 20}), time.Hour},
		"waiting with a large one":    {decide.WaitingPollInterval(time.Minute, decide.History{Bytes: 16 << 20}), 24 * time.Hour},
		"work with no room left":      {decide.PollInterval(time.Minute, decide.History{Events: 40_000}), 24 * time.Hour},
	} {
		equal(t, name, tt.got, tt.want)
	}
}

func TestATaskThatAsksForTheSameThingStillWaits(t *testing.T) {
	waits := func(uuid string) contract.DelegateResult {
		return contract.DelegateResult{State: contract.TaskInputRequired, Asked: &contract.Origin{UUID: uuid}}
	}
	plain := contract.DelegateResult{State: contract.TaskInputRequired}
	says := func(uuid, text string) contract.DelegateResult {
		r := waits(uuid)
		r.Text = contract.Inline(text)
		return r
	}
	long := func(data string) contract.DelegateResult {
		blob := contract.NewBlob([]byte(data))
		return contract.DelegateResult{State: contract.TaskInputRequired, Text: contract.Text{Blob: &blob}}
	}
	for name, tt := range map[string]struct {
		known, now contract.DelegateResult
		same       bool
	}{
		"the same":           {waits("a"), waits("a"), true},
		"another":            {waits("a"), waits("b"), false},
		"an agent of others": {plain, plain, true},
		"other words":        {says("", "a?"), says("", "b?"), false},
		"the same words":     {says("", "a?"), says("", "a?"), true},
		"long words":         {long("a?"), long("a?"), true},
		"other long words":   {long("a?"), long("b?"), false},
		"no words":           {says("", "a?"), plain, true},
		"words with an ID":   {says("a", "a?"), says("a", "still?"), true},
		"it wants a login":   {waits("a"), contract.DelegateResult{State: contract.TaskAuthRequired}, true},
		"it works":           {waits("a"), contract.DelegateResult{State: contract.TaskWorking, Asked: waits("a").Asked}, false},
		"it is over":         {plain, contract.DelegateResult{State: contract.TaskCompleted}, false},
	} {
		equal(t, name, decide.SameQuestion(tt.known, tt.now), tt.same)
	}
}
