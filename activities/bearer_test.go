package activities_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"agent-stop-and-go/activities/bearer"
	"agent-stop-and-go/activities/peer"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/credential"
)

// sourceOf gives tokens, then fails.
type sourceOf struct {
	tokens []string
	err    error
	asked  []bearer.Request
}

func (s *sourceOf) Token(_ context.Context, r bearer.Request) (credential.Token, error) {
	s.asked = append(s.asked, r)
	if len(s.tokens) < len(s.asked) {
		return credential.Token{}, s.err
	}
	return credential.Token{Bearer: s.tokens[len(s.asked)-1]}, nil
}

func bookOf(s bearer.Source) *bearer.Book { return &bearer.Book{Default: s} }

func TestACallCarriesTheTokenOfItsSource(t *testing.T) {
	source := &sourceOf{tokens: []string{"made-for-resources"}}
	var sent []string
	a := tools(t, func(_ context.Context, c toolbox.Call) (toolbox.Result, error) {
		sent = append(sent, c.Bearer)
		return toolbox.Result{Text: "ok"}, nil
	})
	sealed := sealWith(t, a.Keyring, conversationID, credential.Token{Bearer: canary, ExpiresAt: noon, Caller: "keys alice"})
	ctx := credential.NewContext(t.Context(), sealed)
	a.Bearers = bookOf(source)
	got, err := run(t, ctx, a.CallTool, calling(t, `{}`, true))
	if err != nil || got.Note != "" || strings.Join(sent, " ") != "made-for-resources" {
		t.Errorf("sent %v, %+v, %v", sent, got, err)
	}
	if len(source.asked) != 1 || source.asked[0].Caller.Caller != "keys alice" || source.asked[0].Caller.Bearer != "" || source.asked[0].Server.Name != "resources" {
		t.Errorf("asked %+v", source.asked)
	}
	a.Bearers, sent = &bearer.Book{}, nil
	if got, err := run(t, ctx, a.CallTool, calling(t, `{}`, true)); err != nil || got.Note != "" || strings.Join(sent, "") != "" {
		t.Errorf("credential none: sent %v, %+v, %v", sent, got, err)
	}
}

func TestATokenThatLacksAScopeIsReplaced(t *testing.T) {
	for name, challenge := range map[string]string{"scope": `Bearer error="insufficient_scope", scope="write"`, "nothing": "Bearer"} {
		source := &sourceOf{tokens: []string{"read", "write"}}
		var sent []string
		a := tools(t, func(_ context.Context, c toolbox.Call) (toolbox.Result, error) {
			if sent = append(sent, c.Bearer); c.Bearer == "write" {
				return toolbox.Result{Text: "ok"}, nil
			}
			return toolbox.Result{}, &toolbox.Error{Kind: contract.KindToolFailed, Server: c.Server, Tool: c.Tool, Err: errors.New("answered 403"), Challenges: []string{challenge}}
		})
		a.Bearers = bookOf(source)
		_, err := run(t, t.Context(), a.CallTool, calling(t, `{}`, true))
		switch {
		case name == "scope" && (err != nil || len(sent) != 2 || !source.asked[1].Refusal.NeedsScope() || source.asked[1].Refusal.Challenges[0] != challenge):
			t.Errorf("sent %v, %v", sent, err)
		case name == "nothing" && (err == nil || len(sent) != 1):
			t.Errorf("sent %v, %v", sent, err)
		}
	}
}

func TestACallWithoutATokenIsNotMade(t *testing.T) {
	unsent := func(context.Context, toolbox.Call) (toolbox.Result, error) {
		t.Error("the call was made")
		return toolbox.Result{}, nil
	}
	a := tools(t, unsent)
	a.Bearers = bookOf(&sourceOf{err: &bearer.LoginRequired{Server: "resources", Reason: "the login has expired"}})
	got, err := run(t, t.Context(), a.CallTool, calling(t, `{}`, true))
	if want := "Authentication required to access the resources server: the login has expired."; err != nil || !got.IsError || got.AuthRequired != "resources" || got.Text.Inline != want {
		t.Errorf("got %+v, %v", got, err)
	}
	a.Bearers = bookOf(&sourceOf{err: &bearer.Refused{Server: "resources", Reason: "the provider refuses"}})
	_, err = run(t, t.Context(), a.CallTool, calling(t, `{}`, true))
	failedAs(t, err, contract.KindToolFailed, false)
	a.Bearers = bookOf(&sourceOf{err: errors.New("the provider is away")})
	_, err = run(t, t.Context(), a.CallTool, calling(t, `{}`, true))
	failedAs(t, err, contract.KindToolUnavailable, true)
}

func TestAMessageCarriesTheTokenOfItsSource(t *testing.T) {
	source := &sourceOf{tokens: []string{"old", "new-0123456789abcdef"}}
	var sent []string
	p := peers(t, func(_ context.Context, m peer.Message) (peer.Reply, error) {
		if sent = append(sent, m.Bearer); m.Bearer == "old" {
			return peer.Reply{State: contract.TaskAuthRequired}, nil
		}
		return peer.Reply{State: contract.TaskCompleted, Text: "done with new-0123456789abcdef"}, nil
	})
	p.Bearers = bookOf(source)
	got, err := run(t, t.Context(), p.Delegate, delegating(t, `{"message":"x"}`))
	if err != nil || strings.Join(sent, " ") != "old new-0123456789abcdef" || got.State != contract.TaskCompleted || strings.Contains(got.Text.Inline, "new-") {
		t.Errorf("sent %v, %+v, %v", sent, got, err)
	}
}

func TestAMessageWithoutATokenIsNotSent(t *testing.T) {
	p := peers(t, func(context.Context, peer.Message) (peer.Reply, error) {
		t.Error("the message was sent")
		return peer.Reply{}, nil
	})
	p.Bearers = bookOf(&sourceOf{err: &bearer.LoginRequired{Server: "deploy", Reason: "the login has expired"}})
	got, err := run(t, t.Context(), p.Delegate, delegating(t, `{"message":"x"}`))
	if err != nil || got.State != contract.TaskAuthRequired || !got.NoEntry || got.Text.Inline != "deploy requires a login: the login has expired" {
		t.Errorf("got %+v, %v", got, err)
	}
	p.Bearers = bookOf(&sourceOf{err: errors.New("the provider is away")})
	_, err = run(t, t.Context(), p.Delegate, delegating(t, `{"message":"x"}`))
	failedAs(t, err, contract.KindPeerUnavailable, true)
}
