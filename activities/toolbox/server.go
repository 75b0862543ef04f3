package toolbox

import (
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"agent-stop-and-go/workflows/contract"
)

// The ways to reach a server.
const (
	HTTP  = "http"  // Streamable HTTP
	SSE   = "sse"   // HTTP+SSE, the transport of protocol 2024-11-05
	Stdio = "stdio" // a child process
)

// How tools without hints are treated.
const (
	Run = "run"
	Ask = "ask"
)

// Server is an MCP server: with a URL it is reached over HTTP, else Command is started and used
// over stdio.
type Server struct {
	Name string
	URL  string
	// Command is started. Without a slash it is looked up in the directory of our own
	// executable, then in PATH.
	Command string
	Args    []string
	// Env is added to the variables that a child inherits: PATH, HOME and a few others, no
	// secrets.
	Env map[string]string
	// Headers are sent with every HTTP request, including those of the session itself. They
	// override headers of the call (Authorization).
	Headers map[string]string
	// Credential has the tokens of the agent's own for the server. They are sent instead of the
	// caller's.
	Credential Credential
	// Secrets are values of headers and variables, or parts of them, to be masked everywhere.
	// Values in Headers, Env and URL under the name of a credential are secret without being
	// listed.
	Secrets []string
	// Transport is HTTP, SSE or Stdio; empty means HTTP with a URL, else Stdio.
	Transport string
	// Timeout limits a call of this server's tools, with Options.CallTimeout as default and
	// maximum.
	Timeout time.Duration
	// Unannotated is the treatment of tools without hints: Ask (or empty) makes them
	// destructive, Run safe.
	Unannotated string
	// Problem is what is wrong with the settings; the server is not connected then.
	Problem string
	// Allow and Deny are the server's own tool names. A nil Allow offers all tools, an empty one
	// none; Deny takes precedence. Other tools cannot be called.
	Allow, Deny []string
	// Destructive and Safe name tools whose hints are overridden.
	Destructive, Safe []string
	// Optional servers are not waited for.
	Optional bool
	// Prefix offers the server's tools as NAME__TOOL.
	Prefix bool
	// Roots are folders or file:// URIs that the server gets when it asks.
	Roots []string
	// SampleTokens allows sampling requests to Options.Sampler, with at most that many tokens
	// each. 0 allows none.
	SampleTokens int
	// MayAsk lets the server ask Options.Elicitor during a call.
	MayAsk bool
	// Wording selects the sentences that describe the server's calls, if it is ours.
	Wording contract.Wording
	// ExposeResources and ExposePrompts let the model read the server's resources and prompts:
	// see ToolRead and ToolPrompt.
	ExposeResources, ExposePrompts bool
	// Facts are the names of facts about the server's calls that rules may read (Toolbox.Facts).
	Facts []string
}

// separator separates the name of a server from that of its tool.
const separator = "__"

func (s Server) transport() string {
	switch {
	case s.Transport != "":
		return s.Transport
	case s.URL != "":
		return HTTP
	}
	return Stdio
}

// toolName returns the offered name of a tool, bareName its name at the server.
func (s Server) toolName(bare string) string {
	if s.Prefix {
		return s.Name + separator + bare
	}
	return bare
}

func (s Server) bareName(tool string) string {
	if s.Prefix {
		return strings.TrimPrefix(tool, s.Name+separator)
	}
	return tool
}

func (s Server) offers(bare string) bool {
	return (s.Allow == nil || slices.Contains(s.Allow, bare)) && !slices.Contains(s.Deny, bare)
}

func (s Server) limit(most time.Duration) time.Duration {
	if s.Timeout > 0 {
		return min(s.Timeout, most)
	}
	return most
}

// unknownNames returns the names in the server's settings for which it has no tool.
func (s Server) unknownNames(names []string) []string {
	var out []string
	for _, list := range [][]string{s.Allow, s.Deny, s.Destructive, s.Safe} {
		for _, name := range list {
			if !slices.Contains(names, name) && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// roots returns the server's roots as URIs.
func (s Server) roots() ([]mcp.Root, error) {
	out := []mcp.Root{}
	for _, root := range s.Roots {
		uri, err := url.Parse(root)
		if !strings.HasPrefix(root, "file://") {
			root, err = filepath.Abs(root)
			uri = &url.URL{Scheme: "file", Path: filepath.ToSlash(root)}
		}
		if err != nil {
			return nil, fmt.Errorf("root %q: %w", root, err)
		}
		out = append(out, mcp.Root{URI: uri.String(), Name: path.Base(uri.Path)})
	}
	return out, nil
}
