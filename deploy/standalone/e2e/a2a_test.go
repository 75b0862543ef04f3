package e2e_test

import (
	"encoding/json"
)

// rpcReply is a JSON-RPC response.
type rpcReply struct {
	raw  string
	body map[string]any
}

// rpc calls a method of A2A.
func (a *api) rpc(method string, params any, headers ...string) rpcReply {
	a.t.Helper()
	request, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		a.t.Fatal(err)
	}
	r := a.do("POST", "/a2a", string(request), headers...)
	out := rpcReply{raw: r.Raw}
	if err := json.Unmarshal([]byte(r.Raw), &out.body); err != nil {
		a.t.Fatalf("%s: %v: %s", method, err, r.Raw)
	}
	return out
}

// at returns the value at a path of keys, or nil.
func (r rpcReply) at(keys ...string) any {
	var v any = r.body
	for _, key := range keys {
		object, _ := v.(map[string]any)
		v = object[key]
	}
	return v
}

// last returns the text of the last message.
func (c conversation) last() string {
	if len(c.Messages) == 0 {
		return ""
	}
	return c.Messages[len(c.Messages)-1].Content
}
