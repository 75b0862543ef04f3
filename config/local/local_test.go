package local_test

import (
	"testing"
	"time"

	"agent-stop-and-go/config/local"
)

func TestSettingsAreChecked(t *testing.T) {
	for name, c := range map[string]struct {
		tools local.Tools
		taken bool
		want  string
	}{
		"none":         {tools: local.Tools{Timeout: time.Minute}, taken: true},
		"all":          {tools: local.Tools{Offer: []string{"agent_info", "models", "ask_model", "ask_model_with_tool"}, Timeout: 2 * time.Minute}},
		"unknown":      {tools: local.Tools{Offer: []string{"shell"}, Timeout: time.Minute}, want: "offer[0]"},
		"twice":        {tools: local.Tools{Offer: []string{"models", "models"}, Timeout: time.Minute}, want: "offer[1]"},
		"short":        {tools: local.Tools{Timeout: time.Millisecond}, want: "timeout"},
		"long":         {tools: local.Tools{Timeout: time.Hour}, want: "timeout"},
		"name of ours": {tools: local.Tools{Offer: []string{"models"}, Timeout: time.Minute}, taken: true, want: "offer"},
	} {
		got := ""
		c.tools.Check(c.taken, func(key, _ string) { got += key })
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
