package resources_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/mcpservers/resources"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"
)

func TestBadArgumentsAreRefusedWithATextAndChangeNothing(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	tests := map[string]struct {
		tool string
		args any
		want string // a trailing … matches any text
	}{
		"add without arguments":     {"resources_add", nil, "name is required"},
		"add without name":          {"resources_add", args{"value": 1}, "name is required"},
		"add with empty name":       {"resources_add", args{"name": "", "value": 1}, "name is required"},
		"add with blank name":       {"resources_add", args{"name": " ", "value": 1}, "name is required"},
		"add with null name":        {"resources_add", args{"name": nil, "value": 1}, "name is required"},
		"add with number as name":   {"resources_add", args{"name": 5, "value": 1}, "name must be a string"},
		"add without value":         {"resources_add", args{"name": "a"}, "value is required"},
		"add with null value":       {"resources_add", args{"name": "a", "value": nil}, "value is required"},
		"add with text as value":    {"resources_add", args{"name": "a", "value": "5"}, "value must be an integer"},
		"add with fraction":         {"resources_add", args{"name": "a", "value": 1.5}, "value must be an integer"},
		"add with boolean":          {"resources_add", args{"name": "a", "value": true}, "value must be an integer"},
		"add with object":           {"resources_add", args{"name": "a", "value": args{}}, "value must be an integer"},
		"add beyond 64 bits":        {"resources_add", raw(`{"name":"a","value":9223372036854775808}`), "value must be an integer"},
		"add with vague float":      {"resources_add", raw(`{"name":"a","value":1e17}`), "value must be an integer"},
		"add with unknown argument": {"resources_add", args{"name": "a", "value": 1, "x": 1}, `unknown argument "x", allowed: name, value`},
		"add with list":             {"resources_add", []any{1}, "arguments must be a JSON object"},
		"remove without anything":   {"resources_remove", args{}, "either id or pattern is required"},
		"remove with empty strings": {"resources_remove", args{"id": "", "pattern": ""}, "either id or pattern is required"},
		"remove with bad pattern":   {"resources_remove", args{"id": "1", "pattern": "["}, "invalid pattern: …"},
		"remove with number as id":  {"resources_remove", args{"id": 5}, "id must be a string"},
		"remove with mistyped name": {"resources_remove", args{"patern": "x"}, `unknown argument "patern", allowed: id, pattern`},
		"list with bad pattern":     {"resources_list", args{"pattern": "("}, "invalid pattern: …"},
		"list with lookahead":       {"resources_list", args{"pattern": "(?=a)"}, "invalid pattern: …"},
		"list with number":          {"resources_list", args{"pattern": 1}, "pattern must be a string"},
	}
	c := inProcess(t)
	kept := add(t, c, "kept", 1)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, isError := call(t.Context(), t, c, test.tool, test.args, nil)
			prefix, open := strings.CutSuffix(test.want, "…")
			if !isError || (got != test.want && !(open && strings.HasPrefix(got, prefix))) {
				t.Errorf("got %q (isError %v), want %q", got, isError, test.want)
			}
		})
	}
	if diff := cmp.Diff(resources.ListResult{Count: 1, Resources: []resources.Resource{kept}}, list(t, c)); diff != "" {
		t.Error(diff)
	}
}

func TestIntegersAreStoredExactly(t *testing.T) {
	c := inProcess(t)
	for text, want := range map[string]int64{
		"0": 0, "-7": -7, "5.0": 5, "1e3": 1000,
		"9007199254740993": 9007199254740993, "-9223372036854775808": -9223372036854775808,
	} {
		got := do[resources.Resource](t, c, "resources_add", json.RawMessage(`{"name":"n","value":`+text+`}`))
		if got.Value != want {
			t.Errorf("%s stored as %d", text, got.Value)
		}
	}
}

func TestAddGivesTheStoredResource(t *testing.T) {
	c := inProcess(t)
	before := time.Now().UTC()
	got := add(t, c, "web-1", 42)
	if got.Name != "web-1" || got.Value != 42 || got.ID == "" {
		t.Errorf("got %+v", got)
	}
	if got.CreatedAt.Before(before) || !got.CreatedAt.Equal(got.UpdatedAt) || got.CreatedAt.Location() != time.UTC {
		t.Errorf("times %v, %v", got.CreatedAt, got.UpdatedAt)
	}
	if diff := cmp.Diff([]resources.Resource{got}, list(t, c).Resources); diff != "" {
		t.Error(diff)
	}
}

func TestResultsAreIndentedTextAndStructured(t *testing.T) {
	c := inProcess(t)
	tests := map[string]struct {
		args args
		want string
	}{
		"resources_list":   {nil, "{\n  \"count\": 0,\n  \"resources\": []\n}"},
		"resources_remove": {args{"id": "1"}, "{\n  \"removed_count\": 0,\n  \"removed_ids\": []\n}"},
	}
	for tool, test := range tests {
		result, err := c.CallTool(t.Context(), request(tool, test.args, nil))
		if err != nil {
			t.Fatal(err)
		}
		if got := result.Content[0].(mcp.TextContent).Text; got != test.want {
			t.Errorf("%s: got %s", tool, got)
		}
		var want any
		_ = json.Unmarshal([]byte(test.want), &want)
		if diff := cmp.Diff(want, result.StructuredContent); diff != "" {
			t.Errorf("%s: %s", tool, diff)
		}
	}
}

func TestListIsOrderedByNameThenIDAndFiltered(t *testing.T) {
	c := inProcess(t)
	b1, a, b2, other := add(t, c, "web-b", 1), add(t, c, "web-a", 2), add(t, c, "web-b", 3), add(t, c, "db", 4)
	for pattern, want := range map[string][]resources.Resource{
		"":       {other, a, b1, b2},
		"web":    {a, b1, b2},
		"^b$|d":  {other},
		"-b$":    {b1, b2},
		"^WEB":   {},
		"(?i)DB": {other},
	} {
		got := do[resources.ListResult](t, c, "resources_list", args{"pattern": pattern})
		if diff := cmp.Diff(resources.ListResult{Count: len(want), Resources: want}, got); diff != "" {
			t.Errorf("%q: %s", pattern, diff)
		}
	}
}

func TestRemoveByIDByPatternAndByBoth(t *testing.T) {
	c := inProcess(t)
	z, old2, old1 := add(t, c, "z", 1), add(t, c, "old-2", 1), add(t, c, "old-1", 1)
	y, old3 := add(t, c, "y", 1), add(t, c, "old-3", 1)
	steps := []struct {
		args args
		want []string
	}{
		{args{"id": old2.ID}, []string{old2.ID}},
		{args{"id": old2.ID}, []string{}},
		{args{"pattern": "nothing"}, []string{}},
		{args{"id": z.ID, "pattern": "^old-"}, []string{old1.ID, old3.ID, z.ID}},
		{args{"id": y.ID, "pattern": "y"}, []string{y.ID}},
	}
	for _, step := range steps {
		got := do[resources.RemoveResult](t, c, "resources_remove", step.args)
		if diff := cmp.Diff(resources.RemoveResult{RemovedCount: len(step.want), RemovedIDs: step.want}, got); diff != "" {
			t.Errorf("%v: %s", step.args, diff)
		}
	}
	if left := list(t, c); left.Count != 0 {
		t.Errorf("left: %+v", left)
	}
}

func TestUnknownToolIsInvalidParams(t *testing.T) {
	_, err := inProcess(t).CallTool(t.Context(), request("resources_drop", nil, nil))
	if !errors.Is(err, mcp.ErrInvalidParams) {
		t.Errorf("got %v, want -32602", err)
	}
}

func TestEveryHintIsDeclared(t *testing.T) {
	listed, err := inProcess(t).ListTools(t.Context(), mcp.ListToolsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, tool := range listed.Tools {
		text, _ := json.Marshal(tool.Annotations)
		got[tool.Name] = string(text)
	}
	want := map[string]string{
		"resources_add":    `{"title":"Add a resource","readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":false}`,
		"resources_remove": `{"title":"Remove resources","readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":false}`,
		"resources_list":   `{"title":"List resources","readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
