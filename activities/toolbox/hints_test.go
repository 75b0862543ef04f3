package toolbox_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
)

// serveHints serves tools with these members besides their names.
func serveHints(t *testing.T, members map[string]string) *site {
	var tools []string
	for name, more := range members {
		tools = append(tools, fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}%s}`, name, more))
	}
	return serveRaw(t, raw{"tools/list": says(`{"tools":[` + strings.Join(tools, ",") + `]}`)})
}

// approvals returns the approval setting of each tool.
func approvals(tools []toolbox.Tool) map[string]contract.ToolApproval {
	out := map[string]contract.ToolApproval{}
	for _, tool := range tools {
		out[tool.Name] = *tool.Approval
	}
	return out
}

func TestHintsDecideWhetherACallAsks(t *testing.T) {
	annotations := func(hints string) string { return `,"annotations":{` + hints + `}` }
	said := func(asks bool) contract.ToolApproval {
		return contract.ToolApproval{Asks: asks, Because: contract.GroundAnnotation}
	}
	tests := map[string]struct {
		members string
		want    contract.ToolApproval
	}{
		"read_only":          {annotations(`"readOnlyHint":true`), said(false)},
		"read_only_wins":     {annotations(`"readOnlyHint":true,"destructiveHint":true`), said(false)},
		"destructive":        {annotations(`"readOnlyHint":false,"destructiveHint":true`), said(true)},
		"destructive_alone":  {annotations(`"destructiveHint":true`), said(true)},
		"harmless":           {annotations(`"destructiveHint":false`), said(false)},
		"not_read_only":      {annotations(`"readOnlyHint":false`), said(true)},
		"beside_the_name":    {`,"destructiveHint":true`, said(true)},
		"harmless_beside":    {`,"destructiveHint":false`, said(false)},
		"careful_beside":     {`,"destructiveHint":true` + annotations(`"destructiveHint":false`), said(true)},
		"careful_inside":     {`,"destructiveHint":false` + annotations(`"destructiveHint":true`), said(true)},
		"against_read_only":  {`,"destructiveHint":true` + annotations(`"readOnlyHint":true`), said(true)},
		"also_read_only":     {`,"destructiveHint":false` + annotations(`"readOnlyHint":true`), said(false)},
		"beside_not_reading": {`,"destructiveHint":false` + annotations(`"readOnlyHint":false`), said(false)},
		"no_boolean":         {`,"destructiveHint":"false"`, said(true)},
	}
	members, want := map[string]string{}, map[string]contract.ToolApproval{}
	for name, tt := range tests {
		members[name], want[name] = tt.members, tt.want
	}
	place := serveHints(t, members)
	for _, unannotated := range []string{"", toolbox.Run, toolbox.Ask} { // has no effect on any of them
		s := place.server("hints")
		s.Unannotated = unannotated
		tools := openServers(t, s).Tools(t.Context())
		if diff := cmp.Diff(want, approvals(tools)); diff != "" {
			t.Errorf("unannotated %q (-want +got):\n%s", unannotated, diff)
		}
		for _, tool := range tools {
			if tool.DestructiveHint != tool.Approval.Asks || tool.ReadOnly && tool.DestructiveHint {
				t.Errorf("%+v contradicts itself", tool)
			}
		}
	}
}

func TestToolsWithoutHintsAskUnlessTheServerLetsThemRun(t *testing.T) {
	place := serveHints(t, map[string]string{"silent": "", "empty": `,"annotations":{}`, "null": `,"destructiveHint":null,"annotations":{"title":"x","readOnlyHint":null}`})
	for unannotated, asks := range map[string]bool{"": true, toolbox.Ask: true, toolbox.Run: false} {
		s, log := place.server("hints"), &logBuffer{}
		s.Unannotated = unannotated
		box := open(t, toolbox.Options{Servers: []toolbox.Server{s}, Logger: log.logger()})
		want := contract.ToolApproval{Asks: asks, Because: contract.GroundNoHint}
		got := approvals(box.Tools(t.Context()))
		if diff := cmp.Diff(map[string]contract.ToolApproval{"silent": want, "empty": want, "null": want}, got); diff != "" {
			t.Errorf("unannotated %q (-want +got):\n%s", unannotated, diff)
		}
		if warned := strings.Contains(log.String(), `tools="[empty null silent]"`); warned == asks {
			t.Errorf("unannotated %q: warned %v:\n%s", unannotated, warned, log)
		}
	}
}

func TestSettingsAreTheGroundOfWhatTheyName(t *testing.T) {
	s := serveHints(t, map[string]string{"erase": `,"destructiveHint":true`, "read": `,"annotations":{"readOnlyHint":true}`, "silent": ""}).server("web")
	s.Safe, s.Destructive = []string{"erase", "silent"}, []string{"read"}
	s.ExposeResources = true
	want := map[string]contract.ToolApproval{
		"erase": {Because: contract.GroundSetting}, "silent": {Because: contract.GroundSetting},
		"read": {Asks: true, Because: contract.GroundSetting}, toolbox.ToolRead: {Because: contract.GroundSetting},
	}
	if diff := cmp.Diff(want, approvals(openServers(t, s).Tools(t.Context()))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestToolsOfMCPGoAreDestructiveUnlessTheySayOtherwise(t *testing.T) {
	m := server.NewMCPServer("hints", "1")
	m.AddTool(mcp.NewTool("plain"), echo)
	want := map[string]contract.ToolApproval{"plain": {Asks: true, Because: contract.GroundAnnotation}}
	if diff := cmp.Diff(want, approvals(openServers(t, serve(t, m).server("web")).Tools(t.Context()))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
