package approvers_test

import (
	"slices"
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/approvers"
)

const issuer = "https://login.example.com"

func caller(subject string, scopes ...string) contract.Identity {
	return contract.Identity{Subject: subject, Issuer: issuer, Groups: []string{"staff", "ops"}, Scopes: scopes, Channel: contract.ChannelREST}
}

func TestWhoMayDecide(t *testing.T) {
	owner := caller("alice").Key()
	for name, tc := range map[string]struct {
		caller contract.Identity
		rules  []string
		want   string // scopes and groups that allow it; "no" if nothing does
	}{
		"the owner by default":                {caller("alice", "converse", "approve"), nil, "approve"},
		"the owner without the scope":         {caller("alice", "converse"), nil, "no"},
		"somebody else by default":            {caller("bob", "approve"), nil, "no"},
		"who decides everything":              {caller("bob", "approve:all"), nil, "approve:all"},
		"who decides everything, and more":    {caller("bob", "approve", "approve:all"), nil, "approve:all"},
		"an owner who decides everything":     {caller("alice", "approve:all"), nil, "approve:all"},
		"nobody":                              {contract.Identity{Scopes: contract.Scopes()}, []string{"scope:approve"}, "no"},
		"nobody for a conversation of nobody": {contract.Identity{Scopes: []string{"approve"}}, []string{approvers.Requester}, "no"},
		"the owner's name elsewhere":          {contract.Identity{Subject: "alice", Issuer: "keys", Scopes: []string{"approve"}}, nil, "no"},

		"a scope":                             {caller("bob", "approve"), []string{"scope:approve"}, "approve"},
		"another scope":                       {caller("bob", "approve", "operate"), []string{"scope:operate"}, "approve operate"},
		"a scope without that to decide":      {caller("bob", "operate"), []string{"scope:operate"}, "no"},
		"a group":                             {caller("bob", "approve"), []string{"scope:operate", "group:ops"}, "approve ops"},
		"another group":                       {caller("bob", "approve"), []string{"group:op"}, "no"},
		"a group that replaces the default":   {caller("alice", "approve", "approve:all"), []string{"group:cfo"}, "no"},
		"the owner beside a group":            {caller("alice", "approve"), []string{"group:cfo", "requester"}, "approve"},
		"a subject":                           {caller("bob", "approve"), []string{"subject:bob"}, "approve"},
		"a subject of an issuer":              {caller("bob", "approve"), []string{"subject:" + issuer + " bob"}, "approve"},
		"a subject of another issuer":         {caller("bob", "approve"), []string{"subject:keys bob"}, "no"},
		"a subject that looks like an issuer": {caller("keys bob", "approve"), []string{"subject:keys bob"}, "no"},

		"not the owner":                       {caller("alice", "approve", "approve:all"), []string{"group:ops", "not_requester"}, "no"},
		"another member of the owner's group": {caller("bob", "approve"), []string{"group:ops", "not_requester"}, "approve ops"},
		"only not the owner":                  {caller("bob", "approve"), []string{"not_requester"}, "no"},
		"all but the owner":                   {caller("bob", "approve:all"), []string{"not_requester"}, "approve:all"},

		"the owner who is asked":               {caller("alice", "converse"), approvers.ForAnswer(nil), "converse"},
		"the owner who is asked, and decides":  {caller("alice", "approve"), approvers.ForAnswer([]string{"group:cfo"}), "no"},
		"the owner whom the rules exclude":     {caller("alice", "converse"), approvers.ForAnswer([]string{"group:cfo", "not_requester"}), "converse"},
		"a group for somebody who is asked":    {caller("bob", "approve"), approvers.ForAnswer([]string{"group:ops"}), "approve ops"},
		"somebody else who only converses":     {caller("bob", "converse"), approvers.ForAnswer(nil), "no"},
		"who decides everything that is asked": {caller("bob", "approve:all"), approvers.ForAnswer(nil), "approve:all"},
	} {
		t.Run(name, func(t *testing.T) {
			grounds, ok := approvers.Grounds(tc.caller, owner, tc.rules)
			got := "no"
			if ok {
				got = strings.Join(append(slices.Clone(grounds.Scopes), grounds.Groups...), " ")
			}
			if got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
			if again, still := approvers.Grounds(grounds, owner, tc.rules); ok && (!still || again.Key() != tc.caller.Key() || again.Channel != tc.caller.Channel) {
				t.Errorf("the grounds do not allow it again: %+v", again)
			}
			if ok != approvers.May(tc.caller, owner, tc.rules) {
				t.Error("May says something else")
			}
		})
	}
}

func TestWhoIsAskedAnswersWhateverTheRules(t *testing.T) {
	owner := caller("alice", "converse")
	asks := contract.ApprovalInput{Owner: owner, Reason: contract.ReasonClientTool}
	if rules := approvers.For(asks, []string{"group:cfo", "not_requester"}); !approvers.May(owner, owner.Key(), rules) {
		t.Errorf("a client may not return the result of its call: %v", rules)
	}
	call := contract.ApprovalInput{Owner: owner, Reason: contract.ReasonDestructive}
	if rules := approvers.For(call, nil); !slices.Equal(rules, approvers.Default()) {
		t.Errorf("rules of a call: %v", rules)
	}
	if rules := approvers.For(contract.ApprovalInput{Reason: contract.ReasonDestructive}, nil); rules != nil {
		t.Errorf("rules without authentication: %v", rules)
	}
}

func TestRulesThatNobodyCanMatch(t *testing.T) {
	for _, rule := range []string{"requester", "not_requester", "scope:read:all", "subject:bob", "subject:keys bob", "group:a b"} {
		if err := approvers.Check(rule); err != nil {
			t.Error(err)
		}
	}
	for _, rule := range []string{
		"", "bob", "scope", "scope:", "scope:write", "user:bob", "Group:ops", approvers.Asked,
		"group:" + strings.Repeat("x", contract.MaxGroup+1), "subject:" + strings.Repeat("x", 500),
	} {
		if approvers.Check(rule) == nil {
			t.Errorf("%q is accepted", rule)
		}
	}
}

func TestRulesInWords(t *testing.T) {
	alice := caller("alice").Name()
	for name, tc := range map[string]struct {
		requester contract.Name
		rules     []string
		want      string
	}{
		"no rules":                    {alice, nil, ""},
		"the default":                 {alice, approvers.Default(), "alice, or whoever may decide for everybody"},
		"an owner who is not known":   {contract.Name{}, []string{"requester", "group:ops"}, "the owner of the conversation, or members of ops"},
		"all kinds":                   {alice, []string{"scope:operate", "subject:bob", "subject:keys carol", "group:a:b"}, "whoever has the scope operate, or bob, or keys carol, or members of a:b"},
		"the owner is asked":          {alice, approvers.ForAnswer([]string{"group:ops", "not_requester"}), "alice, or members of ops"},
		"asked, and decides anyway":   {alice, approvers.ForAnswer(nil), "alice, or whoever may decide for everybody"},
		"not the owner":               {alice, []string{"group:ops", "not_requester"}, "members of ops; but not alice"},
		"all but the owner":           {alice, []string{"not_requester"}, "whoever may decide for everybody; but not alice"},
		"the owner, whom rules bar":   {alice, []string{"requester", "group:ops", "not_requester"}, "members of ops; but not alice"},
		"nobody":                      {alice, []string{"requester", "not_requester"}, "nobody; but not alice"},
		"not an owner we do not know": {contract.Name{}, []string{"group:ops", "not_requester"}, "members of ops; but not the owner of the conversation"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := approvers.Words(tc.rules, tc.requester); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}
