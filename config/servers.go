package config

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"agent-stop-and-go/config/header"
	"agent-stop-and-go/config/policy"
	"agent-stop-and-go/config/secrets"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/local"
)

func checkServers(r *report, servers []MCPServer) {
	seen := map[string]bool{}
	for i, s := range servers {
		path := fmt.Sprintf("mcp_servers[%d]", i)
		checkName(r, path, s.Name)
		checkUnique(r, "mcp_servers", path, s.Name, seen)
		checkURL(r, path+".url", s.URL)
		checkTransport(r, path, s)
		for _, name := range slices.Sorted(maps.Keys(s.Env)) {
			checkVariable(r, path+".env", name, s.Env[name])
		}
		checkHeaders(r, path+".headers", s.Headers, header.OfMCP)
		checkToolTimeout(r, path+".timeout", s.Timeout)
		checkToolNames(r, path, s)
		checkPrefix(r, path, s)
		for j, root := range s.Roots {
			checkRoot(r, fmt.Sprintf("%s.roots[%d]", path, j), root)
		}
		checkExpose(r, path+".expose", s.Expose)
		policy.CheckFacts(s.Facts, func(j int, problem string) {
			r.at(fmt.Sprintf("%s.facts[%d]", path, j), "%s: %s", quote(s.Facts[j]), problem)
		})
	}
}

// ToolWording returns the wording of texts about calls of the server. A server that is
// started as mcp-resources, or that the file declares as it, has a wording of its own.
func (s MCPServer) ToolWording() contract.Wording {
	if s.program() == "mcp-resources" {
		return contract.WordingResources
	}
	return contract.Wording(s.Wording)
}

func checkTransport(r *report, path string, s MCPServer) {
	hasURL, hasCommand := r.holds(path+".url", s.URL), r.holds(path+".command", s.Command)
	stdio := s.Transport == TransportStdio
	switch {
	case r.failed[path]:
	case hasURL && hasCommand:
		r.at(path, "url and command are both set; keep one: url for a server that runs, command for one to start")
	case !hasURL && !hasCommand:
		r.at(path, "url or command is required: url for a server that runs, command for one to start")
	case hasURL && stdio:
		r.at(path+".transport", "a server with a url is reached by http or sse; stdio is for one with a command")
	case hasCommand && s.Transport != "" && !stdio:
		r.at(path+".transport", "a server with a command is spoken to over stdio; http and sse are for one with a url")
	case hasURL && len(s.Args) > 0:
		r.at(path+".args", "only a server with a command takes args")
	case hasURL && len(s.Env) > 0:
		r.at(path+".env", "only a server with a command takes env")
	case hasCommand && len(s.Headers) > 0:
		r.at(path+".headers", "only a server with a url takes headers")
	}
}

func checkVariable(r *report, path, name, value string) {
	key := join(path, name)
	switch {
	case name == "" || strings.ContainsAny(name, "=\x00"):
		r.at(key, "%s: must be the name of an environment variable", quote(name))
	case strings.Contains(value, "\x00"):
		r.at(key, "must hold no null byte")
	case secrets.InName(name) && value != "" && !secrets.IsReference(value):
		r.at(key, "secrets do not belong in this file; write ${%s} and set it in the agent's own environment", name)
	}
}

// checkHeaders checks headers for a protocol that sets some itself.
func checkHeaders(r *report, path string, headers map[string]string, protocol []string) {
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		if problem := header.Problem(name, headers, protocol); problem != "" {
			r.at(join(path, name), "%s", problem)
		}
	}
}

func checkToolTimeout(r *report, path string, d time.Duration) {
	switch _, set := r.lines[path]; {
	case !set && d == 0:
	case d <= 0:
		r.at(path, "%s: must be more than 0s", short(d))
	case d > MaxToolTimeout:
		r.at(path, "%s: must be at most %s, which is what a tool call may take", short(d), short(MaxToolTimeout))
	}
}

// checkToolNames checks the lists of a server's tools.
func checkToolNames(r *report, path string, s MCPServer) {
	lists := []struct {
		path  string
		names []string
	}{
		{path + ".tools.allow", s.Tools.Allow}, {path + ".tools.deny", s.Tools.Deny},
		{path + ".destructive", s.Destructive}, {path + ".safe", s.Safe},
	}
	for _, l := range lists {
		for i, name := range l.names {
			at := fmt.Sprintf("%s[%d]", l.path, i)
			switch {
			case name == "":
				r.at(at, "must not be empty")
			case slices.Contains(l.names[:i], name):
				r.at(at, "%s: is in the list twice", quote(name))
			}
		}
	}
	for i, name := range s.Safe {
		if slices.Contains(s.Destructive, name) {
			r.at(fmt.Sprintf("%s.safe[%d]", path, i), "%s: is in destructive too; keep one", quote(name))
		}
	}
}

var prefixName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// checkPrefix accepts a name that can start the name of a tool.
func checkPrefix(r *report, path string, s MCPServer) {
	if s.Prefix && s.Name != "" && !prefixName.MatchString(s.Name) {
		r.at(path+".prefix", "the name %s must be of letters, digits, _ and - only to begin the names of tools", quote(s.Name))
	}
}

func checkRoot(r *report, path, root string) {
	scheme, _, isURI := strings.Cut(root, "://")
	u, err := url.Parse(root)
	switch {
	case root == "":
		r.at(path, "must not be empty")
	case isURI && (scheme != "file" || err != nil || u.Host != "" && u.Host != "localhost" || !strings.HasPrefix(u.Path, "/")):
		r.at(path, "%s: must be a folder or file:///absolute/folder", quote(root))
	}
}

func checkExpose(r *report, path string, expose []string) {
	for i, what := range expose {
		at := fmt.Sprintf("%s[%d]", path, i)
		switch {
		case what != ExposeResources && what != ExposePrompts:
			r.at(at, "%s: must be resources or prompts", quote(what))
		case slices.Contains(expose[:i], what):
			r.at(at, "%s: is in the list twice", quote(what))
		}
	}
}

// serverNames are the servers that rates may be about.
func (c *Config) serverNames() (out []string) {
	for _, s := range c.MCPServers {
		out = append(out, s.Name)
	}
	if c.LocalTools.Offers() {
		out = append(out, local.Server)
	}
	return out
}

func (c *Config) checkLocalTools(r *report) {
	for i, name := range c.LocalTools.Models {
		registry(c.Models).checkName(r, fmt.Sprintf("local_tools.models[%d]", i), name)
	}
	taken := slices.ContainsFunc(c.MCPServers, func(s MCPServer) bool { return s.Name == local.Server })
	c.LocalTools.Check(taken, func(key, problem string) { r.at("local_tools."+key, "%s", problem) })
}
