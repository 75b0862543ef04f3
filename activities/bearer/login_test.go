package bearer_test

import (
	"context"
	"strings"
	"testing"

	"agent-stop-and-go/activities/bearer"
	"agent-stop-and-go/workflows/credential"
)

// people is a source whose tokens people get by logging in, or not.
type people bool

func (people) Token(context.Context, bearer.Request) (credential.Token, error) {
	return credential.Token{}, nil
}
func (p people) Personal() bool { return bool(p) }

func TestAModelIsOfferedTheLoginOfServersWithoutAToken(t *testing.T) {
	book := &bearer.Book{}
	for name, source := range map[string]bearer.Source{"crm": people(true), "stock": people(true), "own": people(false), "other": bearer.Forward{}} {
		book.Add(bearer.Server{Name: name}, source)
	}
	tokens := bearer.NewTokens(func(_ context.Context, server string) string { return map[string]string{"stock": "t"}[server] })
	if _, ok := book.LoginTool(tokens, nil); ok {
		t.Error("offered before any server has asked for a token")
	}
	for _, name := range []string{"crm", "stock", "own", "other"} {
		tokens.Get(t.Context(), name)
	}
	tool, ok := book.LoginTool(tokens, nil)
	if schema := string(tool.InputSchema); !ok || tool.Name != bearer.ToolLogIn || !strings.Contains(schema, `"enum":["crm"]`) {
		t.Errorf("offered %v", tool)
	}
	if _, ok := book.LoginTool(tokens, []string{"stock"}); ok {
		t.Error("offered to a node that may not use the server")
	}
	if _, ok := book.LoginTool(nil, nil); ok {
		t.Error("offered without tokens")
	}
}
