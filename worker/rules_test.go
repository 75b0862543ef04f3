package worker_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agent-stop-and-go/config"
	"agent-stop-and-go/worker"
)

const ruleFile = `a2a: [{name: shop, url: "http://shop"}]
approval:
  rules:
    - {name: fits, when: 'tool == "write_file"', then: ask}
    - {name: delegates, when: 'tool == "a2a_shop" && args.message != ""', then: ask}
    - {name: misspelt, when: 'tool == "write_fle"', then: ask}
    - {name: nowhere, when: 'server == "resurces" && args.x == 1', then: ask}
`

// Rules are checked when the last server has answered, and not before: a rule may be about its tools.
// They are checked again when the tools change, and a fault is logged once.
func TestRulesThatFitNoToolAreNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := config.Parse("agent.yaml", []byte(ruleFile))
		if err != nil {
			t.Fatal(err)
		}
		logger, got := lines()
		want := []string{
			"agent.yaml:6: rule misspelt concerns no tool: there is no tool write_fle (did you mean write_file?)",
			"agent.yaml:7: rule nowhere concerns no tool: there is no server resurces (did you mean resources?)",
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		tools := &fakeToolLister{up: []string{"resources"}}
		problems := worker.CheckRules(ctx, c, lateServer{tools}, logger)
		time.Sleep(worker.PollInterval + time.Second)
		synctest.Wait()
		if !slices.Equal(problems(), want) || strings.Count(got.String(), "a rule can never match") != 2 {
			t.Errorf("%q, logged\n%s", problems(), got)
		}
		tools.offer(tool("files", "write_fle", true)) // its list changes
		time.Sleep(worker.PollInterval)
		synctest.Wait()
		if !slices.Equal(problems(), want[1:]) || strings.Count(got.String(), "a rule can never match") != 2 {
			t.Errorf("after a tool has appeared: %q, logged\n%s", problems(), got)
		}
	})
}

func TestWithoutRulesNobodyLooks(t *testing.T) {
	logger, got := lines()
	s := &fakeToolLister{}
	if problems := worker.CheckRules(t.Context(), config.Default(), s, logger); problems() != nil || s.looks != 0 {
		t.Errorf("%q, %d looks", problems(), s.looks)
	}
	expect(t, got)
}
