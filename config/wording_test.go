package config_test

import (
	"testing"

	"agent-stop-and-go/workflows/contract"
)

func TestAServerIsOursByConfigurationOnly(t *testing.T) {
	c := parse(t, `
mcp_servers:
  - {name: resources, command: somebody-elses}
  - {name: mcp-resources, url: "http://localhost:8090/mcp-resources"}
  - {name: store, command: mcp-resources}
  - {name: built, command: ./bin/mcp-resources}
  - {name: served, url: "http://localhost:8090/mcp", wording: resources}
`)
	want := []contract.Wording{"", "", contract.WordingResources, contract.WordingResources, contract.WordingResources}
	for i, s := range c.MCPServers {
		if got := s.ToolWording(); got != want[i] {
			t.Errorf("%s: %q, expected %q", s.Name, got, want[i])
		}
	}
}
