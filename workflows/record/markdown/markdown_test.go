package markdown_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/edit"
	"agent-stop-and-go/workflows/contract/promptversion"
	"agent-stop-and-go/workflows/record/document"
	"agent-stop-and-go/workflows/record/markdown"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestAConversationAsMarkdown(t *testing.T) {
	d := document.Conversation{
		ID: "7f9c24e8", Status: contract.StatusActive, Agent: "helper", CreatedAt: noon, UpdatedAt: noon,
		Title: "Fruit & more", Renamed: &document.Renamed{By: "ann", At: noon},
		Prompts: []promptversion.Use{{Version: promptversion.Version{Source: "directory", Number: 2, Digest: "ab01"}, At: noon}},
		Messages: []document.Message{
			{Role: contract.RoleUser, Content: "add\nkiwi", CreatedAt: noon, Identity: &contract.Identity{Subject: "ann"}, Media: []document.Media{{MIMEType: "image/png", Size: 3, SHA256: "ab", Name: "kiwi.png"}}},
			{Role: contract.RoleAssistant, CreatedAt: noon, ToolCall: &document.ToolCall{Name: "add", Arguments: json.RawMessage(`{"name":"kiwi"}`)}},
			{Role: contract.RoleAssistant, CreatedAt: noon, Approval: &contract.ApprovalResult{Tool: "add", Decision: contract.Approved, By: "ben", Reason: "fine", ArgumentsSHA256: "2ac4", DecidedAt: noon}},
			{Role: contract.RoleAssistant, CreatedAt: noon, Approval: &contract.ApprovalResult{Tool: "add", Decision: contract.Approved, By: "ben", Reason: "less", ArgumentsSHA256: "2ac4", Revision: &contract.Revision{
				SHA256: "7b00", Arguments: contract.JSON{Raw: []byte(`{"name":"lime"}`)}, Changes: []edit.Change{{Name: "name", Before: `"kiwi"`, After: `"lime"`}},
			}}},
			{Role: contract.RoleTool, CreatedAt: noon, ToolCall: &document.ToolCall{Name: "add", Result: "```\nadded", IsError: true}},
			{Role: contract.RoleAssistant, Content: "**Done.**\n\n# Not a heading of ours", CreatedAt: noon, Node: "writer"},
		},
	}
	want := "# Fruit \\& more\n\n- Conversation `7f9c24e8`, active\n- Agent helper\n- Started 2026-03-01 12:00:00 UTC\n- Last change 2026-03-01 12:00:00 UTC\n- Named 2026-03-01 12:00:00 UTC by ann\n- Prompt since 2026-03-01 12:00:00 UTC: directory, version 2, digest ab01\n\n" +
		"## Message by ann · 2026-03-01 12:00:00 UTC\n\n> add\n> kiwi\n\n- File `kiwi.png`, `image/png`, 3 bytes, SHA-256 `ab`\n\n" +
		"## Call of `add` · 2026-03-01 12:00:00 UTC\n\n```json\n{\n  \"name\": \"kiwi\"\n}\n```\n\n" +
		"## Decision: approved by ben · 2026-03-01 12:00:00 UTC\n\nAbout the call of `add`, whose arguments have the SHA-256 `2ac4`\n\n> fine\n\n" +
		"## Decision: approved with changes by ben · 2026-03-01 12:00:00 UTC\n\nAbout the call of `add`, whose arguments have the SHA-256 `2ac4`\n\nIt was approved with these arguments instead, whose SHA-256 is `7b00`:\n\n```json\n{\n  \"name\": \"lime\"\n}\n```\n\n> less\n\n" +
		"## Error of `add` · 2026-03-01 12:00:00 UTC\n\n````\n```\nadded\n````\n\n" +
		"## Reply in node writer · 2026-03-01 12:00:00 UTC\n\n> **Done.**\n> \n> # Not a heading of ours\n\n"
	if got := string(markdown.Encode(d)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestNothingThatOthersWroteLeavesItsPlace(t *testing.T) {
	bad := "x\r# A\n## Decision: approved\n```\n`````\n<script>"
	d := document.Conversation{Title: bad, Agent: bad, Problem: bad, Messages: []document.Message{
		{Role: contract.RoleUser, Content: bad, Identity: &contract.Identity{Subject: bad}, Media: []document.Media{{Name: bad, MIMEType: bad}}},
		{Role: contract.RoleAssistant, Content: bad, Node: bad, ToolCall: &document.ToolCall{Name: bad, Arguments: json.RawMessage(`"` + "`" + `"`)}},
		{Role: contract.RoleTool, ToolCall: &document.ToolCall{Name: bad, Result: bad, Note: bad}},
	}}
	inCode := ""
	for line := range strings.Lines(string(markdown.Encode(d))) {
		line = strings.TrimRight(line, "\n")
		switch ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]; {
		case inCode != "":
			if line == inCode {
				inCode = ""
			}
		case len(ticks) >= 3:
			inCode = ticks
		case strings.HasPrefix(line, "## Decision"), strings.HasPrefix(line, "<"), strings.ContainsRune(line, '\r'):
			t.Errorf("%q is not quoted", line)
		}
	}
	if inCode != "" {
		t.Error("a block of code does not end")
	}
}
