package api_test

import (
	"encoding/json"
	"testing"

	"agent-stop-and-go/mcpservers/openapi/api"
)

// A parameter stays in its place, also where the rest of the path has to be escaped, and for servers that
// decode a path before they split it.
func TestParametersDoNotLeadOutOfThePath(t *testing.T) {
	for _, test := range []struct{ path, id, want string }{
		{"/straßen/{id}", "7", "/stra%C3%9Fen/7"},
		{"/straßen/{id}", "a/b", "/stra%C3%9Fen/a%2Fb"},
		{"/a b|c^d/{id}", "x/y", "/a%20b%7Cc%5Ed/x%2Fy"},
		{"/a%20b/100%/{id}", "x/y", "/a%20b/100%25/x%2Fy"},
		{"/a/{id}", "v1.2..3", "/a/v1.2..3"},
		{"/a/{id}", "...", "/a/..."},
		{"/a/{id}", "{id}", "/a/%7Bid%7D"},
		{"/straßen/{id}", "../admin/keys", ""},
		{"/a/{id}", "../admin", ""},
		{"/a/{id}", `..\admin`, ""},
		{"/a/{id}", "x/./y", ""},
		{"/a/{id}", "x/..", ""},
		{"/a/{id}", "%2e%2e/admin", ""},
		{"/a/{id}", "..;x/admin", ""},
		{"/a/.{id}", "./admin", ""},
		{"/a/%2e%2E/{id}", "x", ""},
	} {
		o := operations(t, head+"paths: {'"+test.path+"': {get: {parameters: [{name: id, in: path, required: true, schema: {}}], responses: {}}}}", api.Selection{})[0]
		arguments, err := json.Marshal(map[string]string{"id": test.id})
		if err != nil {
			t.Fatal(err)
		}
		r, err := o.Request(t.Context(), arguments, api.Call{})
		if test.want == "" {
			if err == nil {
				t.Errorf("%s with %s: %s", test.path, test.id, r.URL)
			}
		} else if err != nil || r.URL.RequestURI() != "/v1"+test.want {
			t.Errorf("%s with %s: %v %v", test.path, test.id, r, err)
		}
	}
}

func TestCommasInElementsAreNotThoseOfTheList(t *testing.T) {
	o := operations(t, head+"paths: {/x: {get: {parameters: [{name: ids, in: query, explode: false, schema: {}}], responses: {}}}}", api.Selection{})[0]
	r, err := o.Request(t.Context(), json.RawMessage(`{"ids":["a,b","c"]}`), api.Call{})
	if err != nil || r.URL.RawQuery != "ids=a%2Cb,c" {
		t.Errorf("%v %v", r, err)
	}
}
