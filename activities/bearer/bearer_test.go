package bearer_test

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/activities/bearer"
	"agent-stop-and-go/workflows/credential"
)

const canary = "canary-bearer-0123456789"

type source func(bearer.Request) (credential.Token, error)

func (f source) Token(_ context.Context, r bearer.Request) (credential.Token, error) { return f(r) }

var tools = bearer.Server{Name: "tools", URL: "https://tools.example.com/mcp"}

func TestACallThatIsRefusedIsMadeAgainWithAnotherToken(t *testing.T) {
	var asked []bearer.Request
	book := &bearer.Book{}
	book.Add(tools, source(func(r bearer.Request) (credential.Token, error) {
		asked = append(asked, r)
		return credential.Token{Bearer: []string{"old", "new", "newer", "newest"}[len(asked)-1]}, nil
	}))
	var sent []string
	err := book.Call(t.Context(), bearer.Server{Name: "tools"}, credential.Token{Bearer: canary}, func(token string) *bearer.Refusal {
		sent = append(sent, token)
		return bearer.RefusalOf(nil)
	})
	if err != nil || strings.Join(sent, " ") != "old new newer" {
		t.Errorf("sent %q, %v", sent, err)
	}
	if len(asked) != 4 || asked[0].Server != tools || asked[0].Caller.Bearer != canary || asked[0].Refusal != nil {
		t.Fatalf("asked %v", asked)
	}
	if r := asked[1].Refusal; r == nil || r.Status != 401 || r.Token.Bearer != "old" || r.NeedsScope() || r.Again {
		t.Errorf("asked again with %+v", r)
	}
	if r := asked[3].Refusal; r == nil || r.Token.Bearer != "newer" || !r.Again {
		t.Errorf("asked at last with %+v", r)
	}
}

func TestAChallengeForMoreScopesIsARefusalOfThisCall(t *testing.T) {
	for challenge, want := range map[string]int{"": 401, `Bearer scope="read"`: 401, `Bearer error="insufficient_scope", scope="write"`: 403} {
		if r := bearer.RefusalOf([]string{challenge}); r.Status != want || r.Challenges[0] != challenge {
			t.Errorf("%s: %+v", challenge, r)
		}
	}
}

func TestTheSameTokenIsNotSentTwice(t *testing.T) {
	var book *bearer.Book
	sent := 0
	err := book.Call(t.Context(), tools, credential.Token{Bearer: canary}, func(token string) *bearer.Refusal {
		if sent++; token != canary {
			t.Errorf("sent another token than the caller's")
		}
		return bearer.RefusalOf(nil)
	})
	if err != nil || sent != 1 {
		t.Errorf("sent %d times, %v", sent, err)
	}
}

func TestAServerThatIsNotInTheBookGetsNoToken(t *testing.T) {
	book := &bearer.Book{}
	moved := bearer.Server{Name: "deploy", URL: "https://new.example.com", Agent: true}
	book.Add(moved, bearer.Forward{})
	for name, s := range map[string]bearer.Server{
		"a tool server of the agent's name": {Name: "deploy"},
		"the agent at its old address":      {Name: "deploy", URL: "https://old.example.com", Agent: true},
	} {
		token, err := book.Token(t.Context(), s, credential.Token{Bearer: canary}, nil)
		if token.Bearer != "" || err != nil || book.Gives(s) {
			t.Errorf("%s gets a token, %v", name, err)
		}
	}
	if token, err := book.Token(t.Context(), moved, credential.Token{Bearer: canary}, nil); token.Bearer != canary || err != nil {
		t.Errorf("the agent gets no token, %v", err)
	}
}

func TestWithoutATokenNothingIsSent(t *testing.T) {
	for _, problem := range []error{&bearer.LoginRequired{Server: "tools", Reason: "nobody"}, &bearer.Refused{Server: "tools", Reason: "no"}, errors.New("away")} {
		book := &bearer.Book{Default: source(func(bearer.Request) (credential.Token, error) { return credential.Token{}, problem })}
		err := book.Call(t.Context(), tools, credential.Token{}, func(string) *bearer.Refusal { t.Error("sent"); return nil })
		if !errors.Is(err, problem) {
			t.Errorf("%v: got %v", problem, err)
		}
	}
}

func jwt(claims string) string {
	return "eyJhbGciOiJSUzI1NiJ9." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2ln"
}

// A server says in its metadata whose tokens it accepts, and for whom.
func TestATokenForSomebodyElseIsNotForwarded(t *testing.T) {
	var document, path string
	fetches := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("the token was sent for the metadata")
		}
		if fetches++; r.URL.Path != path {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(document))
	}))
	defer server.Close()
	mine := server.URL + "/mcp"
	for name, tc := range map[string]struct{ path, document, token, problem string }{
		"no metadata":              {"/nowhere", ``, jwt(`{"aud":"agent"}`), ""},
		"its audience":             {"/mcp", `{"resource":"` + mine + `"}`, jwt(`{"aud":["agent","` + mine + `/"]}`), ""},
		"another audience":         {"/mcp", `{"resource":"` + mine + `"}`, jwt(`{"aud":"agent"}`), `accepts tokens for "` + mine + `", and the caller's is for "agent"`},
		"metadata of the host":     {"", `{"resource":"` + mine + `"}`, jwt(`{"aud":"agent"}`), "accepts tokens for"},
		"its provider":             {"/mcp", `{"authorization_servers":["https://login/"]}`, jwt(`{"iss":"https://login","aud":"agent"}`), ""},
		"another provider":         {"/mcp", `{"authorization_servers":["https://login"]}`, jwt(`{"iss":"https://other"}`), `accepts tokens of "https://login", and the caller's is of "https://other"; set credential: exchange or own`},
		"a page for everything":    {"/mcp", `<html>`, jwt(`{"aud":"agent"}`), ""},
		"a token that is no JWT":   {"/mcp", `{"resource":"` + mine + `"}`, canary, ""},
		"a token without audience": {"/mcp", `{"resource":"` + mine + `"}`, jwt(`{}`), ""},
	} {
		document, path, fetches = tc.document, "/.well-known/oauth-protected-resource"+tc.path, 0
		g := &bearer.Guarded{Client: server.Client(), Now: time.Now}
		for range 2 {
			token, err := g.Token(t.Context(), bearer.Request{Server: bearer.Server{Name: "tools", URL: mine}, Caller: credential.Token{Bearer: tc.token}})
			var refused *bearer.Refused
			switch {
			case tc.problem == "" && (err != nil || token.Bearer != tc.token):
				t.Errorf("%s: refused, %v", name, err)
			case tc.problem != "" && (!errors.As(err, &refused) || !strings.Contains(refused.Reason, tc.problem) || token.Bearer != ""):
				t.Errorf("%s: got %v", name, err)
			}
		}
		if fetches > 2 {
			t.Errorf("%s: fetched %d times", name, fetches)
		}
	}
}

func TestATokenIsNotForwardedBeforeTheMetadataAreRead(t *testing.T) {
	server := httptest.NewServer(nil)
	server.Close()
	g := &bearer.Guarded{Client: server.Client(), Now: time.Now}
	token, err := g.Token(t.Context(), bearer.Request{Server: bearer.Server{Name: "tools", URL: server.URL + "/?key=" + canary}, Caller: credential.Token{Bearer: jwt(`{"aud":"a"}`)}})
	if !bearer.Temporary(err) || token.Bearer != "" || strings.Contains(err.Error(), canary) {
		t.Errorf("got %v", err)
	}
}
