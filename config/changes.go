package config

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"agent-stop-and-go/workflows/contract"
)

// ChangedDefaults lists the settings that the file leaves out and whose default has changed
// since earlier versions, one line each like Warnings. deploy/CHANGELOG.md describes the
// changes; changes older than its last release may be removed here.
func (c *Config) ChangedDefaults() []string {
	w := warner{newReport(c.file, c.lines)}
	if _, set := c.lines["host"]; !set {
		w.at("host", "is not set: the agent listens on 127.0.0.1 only, no longer on every address; 0.0.0.0 lets others in, with auth")
	}
	for i, s := range c.MCPServers {
		path := fmt.Sprintf("mcp_servers[%d]", i)
		if _, set := c.lines[path+".unannotated"]; !set && !s.statesHints() {
			w.at(path+".unannotated", "is not set: tools of %s without hints now ask a person first; run lets them run as before", quote(s.Name))
		}
	}
	w.movedModel(c, "llm.model", c.LLM.Model)
	for p := range c.nodes() {
		w.movedModel(c, p.path+".model", p.Model)
	}
	return w.texts()
}

// statesHints reports whether the server ships with the agent. The tools of those servers
// have all hints.
func (s MCPServer) statesHints() bool {
	return slices.Contains([]string{"mcp-resources", "mcp-filesystem", "mcp-commands", "mcp-sql", "mcp-web", "mcp-openapi", "mcp-prompt", "mcp-drive"}, s.program())
}

// program returns the name of the command.
func (s MCPServer) program() string { return filepath.Base(cmp.Or(s.Command, ".")) }

// movedModel warns about a name without a provider that earlier versions took for a Google
// model.
func (w warner) movedModel(c *Config, path, name string) {
	e, own, err := registry(c.Models).find(name)
	elsewhere := contract.Provider(e.Provider) != contract.ProviderGoogle && contract.Provider(e.Provider) != contract.ProviderAnthropic
	if name != "" && err == nil && !own && e.Model == name && elsewhere && !strings.HasPrefix(name, "mistral-") {
		w.at(path, "%s is now %s; it was taken for a model of Google", quote(name), e.fullName())
	}
}
