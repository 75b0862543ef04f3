package config

import (
	"agent-stop-and-go/config/header"
	"agent-stop-and-go/config/secrets"
)

// Environment returns Env with every ${NAME} replaced by that environment variable. A
// variable that is not set is an error that names it.
func (s MCPServer) Environment(getenv func(string) string) (map[string]string, error) {
	return secrets.Expand("mcp server "+s.Name, "env", s.Env, getenv)
}

// HTTPHeaders returns Headers with every ${NAME} replaced as in Environment. An invalid
// header value is an error that does not contain it.
func (s MCPServer) HTTPHeaders(getenv func(string) string) (map[string]string, error) {
	return header.Expand("mcp server "+s.Name, s.Headers, getenv)
}
