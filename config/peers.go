package config

import (
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"time"

	"agent-stop-and-go/config/header"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/delegation"
	"agent-stop-and-go/workflows/contract/redact"
)

// delegates visits all agents that work is delegated to, with their key paths: those in
// lists, and the nodes of type a2a.
func (c *Config) delegates() iter.Seq2[string, A2AAgent] {
	return func(yield func(string, A2AAgent) bool) {
		for path, a := range eachA2A("a2a", c.A2A) {
			if !yield(path, a) {
				return
			}
		}
		for p := range c.nodes() {
			if p.Type == A2ANode && !yield(p.path, p.agent()) {
				return
			}
			for path, a := range eachA2A(p.path+".a2a", p.A2A) {
				if !yield(path, a) {
					return
				}
			}
		}
	}
}

// agent returns a node of type a2a as an entry of a list.
func (n *Node) agent() A2AAgent {
	return A2AAgent{
		Name: n.Name, URL: n.URL, Description: n.Description, DestructiveHint: n.DestructiveHint,
		Context: n.Context, Headers: n.Headers, Credential: n.Credential, Exchange: n.Exchange, Own: n.Own, Timeout: n.Timeout, AllowPrivateRedirects: n.AllowPrivateRedirects,
	}
}

// Delegates returns the agents that work is delegated to, without duplicates, in the order of
// the file. Their timeouts may differ from entry to entry.
func (c *Config) Delegates() []A2AAgent {
	var out []A2AAgent
	for _, a := range c.delegates() {
		if !slices.ContainsFunc(out, func(b A2AAgent) bool { return a.Name == b.Name }) {
			out = append(out, a)
		}
	}
	return out
}

// HTTPHeaders returns Headers as MCPServer.HTTPHeaders does.
func (a A2AAgent) HTTPHeaders(getenv func(string) string) (map[string]string, error) {
	return header.Expand("a2a agent "+a.Name, a.Headers, getenv)
}

// checkPeers refuses agents of the same name that are reached differently.
func (c *Config) checkPeers(r *report) {
	first, paths := map[string]A2AAgent{}, map[string]string{}
	for path, a := range c.delegates() {
		if a.Name == "" || a.URL == "" {
			continue
		}
		known, again := first[a.Name]
		differs := func(key, how string) {
			r.at(path+key, "the agent %s %s in %s; one name stands for one agent", quote(a.Name), how, r.location(paths[a.Name]+key))
		}
		switch {
		case !again:
			first[a.Name], paths[a.Name] = a, path
		case known.URL != a.URL:
			differs(".url", "has another url")
		case !maps.Equal(known.Headers, a.Headers):
			differs(".headers", "has other headers")
		case known.Credential != a.Credential || !reflect.DeepEqual(known.Exchange, a.Exchange) || !reflect.DeepEqual(known.Own, a.Own):
			differs(".credential", "gets another token")
		case known.AllowPrivateRedirects != a.AllowPrivateRedirects:
			differs(".allow_private_redirects", "has another setting")
		}
	}
}

// checkPeerTimeout refuses a timeout that is set and not positive.
func checkPeerTimeout(r *report, path string, d time.Duration) {
	if _, set := r.lines[path]; (set || d != 0) && d <= 0 {
		r.at(path, "%s: must be more than 0s", short(d))
	}
}

// eachA2A visits the agents of a list with their key paths.
func eachA2A(list string, agents []A2AAgent) iter.Seq2[string, A2AAgent] {
	return func(yield func(string, A2AAgent) bool) {
		for i, a := range agents {
			if !yield(fmt.Sprintf("%s[%d]", list, i), a) {
				return
			}
		}
	}
}

// location returns the line of a key as "file:line".
func (r *report) location(path string) string {
	return fmt.Sprintf("%s:%d", r.file, r.line(path))
}

func peersOf(agents []A2AAgent) []contract.Peer {
	var peers []contract.Peer
	for _, a := range agents {
		peers = append(peers, a.peer())
	}
	return peers
}

func (a A2AAgent) peer() contract.Peer {
	return contract.Peer{
		Name: a.Name, URL: redact.KeptURL(a.URL), Description: a.Description, Destructive: a.DestructiveHint, Timeout: a.Timeout, Context: delegation.ContextOf(a.Context),
	}
}
