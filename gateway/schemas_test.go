package gateway_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/document"
)

// schemas are the types in replies, by their names in openapi.yaml.
var schemas = map[string]any{
	"Conversation":        document.Conversation{},
	"ConversationMessage": document.Message{},
	"Media":               document.Media{},
	"Usage":               document.Usage{},
	"Node":                document.Node{},
	"PendingApproval":     contract.PendingApproval{},
	"Origin":              contract.Origin{},
	"Binding":             contract.Binding{},
	"Record":              contract.ApprovalResult{},
	"Item":                service.Item{},
	"WaitingApproval":     service.WaitingItem{},
	"Result":              service.Result{},
}

// withheld are members that never reach a client.
var withheld = map[string][]string{"Record": {"content", "credential", "echo"}, "Binding": {"definition"}}

func TestEveryMemberOfAReplyIsDescribed(t *testing.T) {
	doc, err := spec()
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range schemas {
		schema := doc.Components.Schemas[name]
		if schema == nil {
			t.Errorf("gateway/openapi.yaml has no schema %s", name)
			continue
		}
		want := slices.DeleteFunc(membersOf(value), func(m string) bool { return slices.Contains(withheld[name], m) })
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(schema.Value.Properties))); diff != "" {
			t.Errorf("%s: the members of %T (-) are to be those in gateway/openapi.yaml (+):\n%s", name, value, diff)
		}
	}
}

// membersOf returns the names of a struct's JSON members, sorted.
func membersOf(value any) []string {
	var names []string
	for _, f := range reflect.VisibleFields(reflect.TypeOf(value)) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && !f.Anonymous && name != "-" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
