package prompt

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/prompt/sections"

	"github.com/mark3labs/mcp-go/mcp"
)

// FactsMeta is the _meta key of a tool that agents ask about a call before it is made.
const FactsMeta = "agent-stop-and-go/facts"

var (
	reads   = hosting.Hints{ReadOnly: true, Idempotent: true}
	changes = hosting.Hints{Destructive: true, Idempotent: true} // with its base it is refused the second time
)

func readTool() mcp.Tool {
	return mcp.NewTool("read_prompt", mcp.WithDescription("Read the system prompt: the whole text, or one section. Lists all sections with the base that a change of each needs."),
		reads.Annotation("Read the system prompt"),
		mcp.WithString("section", mcp.Description("name or number of a section; without it the whole prompt")), hosting.ResultOf[sections.Reading]())
}

func updateTool() mcp.Tool {
	names := make([]string, len(sections.Operations()))
	for i, o := range sections.Operations() {
		names[i] = string(o)
	}
	return mcp.NewTool("update_prompt", mcp.WithDescription("Change the text of one section of the system prompt. It counts for new conversations."),
		changes.Annotation("Change the system prompt"),
		mcp.WithString("section", mcp.Required(), mcp.MinLength(1), mcp.Description("name or number of a section that has no sections")),
		mcp.WithString("operation", mcp.Required(), mcp.Enum(names...), mcp.Description("append or prepend the content; replace the first occurrence of the target by the content; delete all lines that contain the target; overwrite the whole section with the content")),
		mcp.WithString("content", mcp.Description("text to write; not with delete")),
		mcp.WithString("target", mcp.Description("exact text to replace or to delete; not with other operations")),
		mcp.WithString("base", mcp.Required(), mcp.Description("base of the section, as read_prompt gives it")),
		mcp.WithString("why", mcp.Description("reason, for the history")), hosting.ResultOf[Change]())
}

func historyTool() mcp.Tool {
	return mcp.NewTool("prompt_history", mcp.WithDescription("List versions of the system prompt, the newest first: who made each, when, why, and what it changed."),
		reads.Annotation("List versions of the system prompt"),
		mcp.WithInteger("limit", mcp.Min(1), mcp.Max(MaxVersions), mcp.Description("how many at most; 20 if it is missing")), hosting.ResultOf[History]())
}

func revertTool() mcp.Tool {
	return mcp.NewTool("revert_prompt", mcp.WithDescription("Make the whole system prompt as it was in an earlier version. It counts for new conversations."),
		changes.Annotation("Restore the system prompt"),
		mcp.WithInteger("version", mcp.Required(), mcp.Min(1), mcp.Description("version to restore, as prompt_history gives it")),
		mcp.WithString("base", mcp.Required(), mcp.Description("base of the whole prompt, as read_prompt gives it")),
		mcp.WithString("why", mcp.Description("reason, for the history")), hosting.ResultOf[Change]())
}

func previewTool() mcp.Tool {
	tool := mcp.NewTool("prompt_preview", mcp.WithDescription("Say what a call of update_prompt or revert_prompt would change. Nothing is changed."),
		reads.Annotation("Preview a change of the system prompt"),
		mcp.WithString("tool", mcp.Required(), mcp.Enum("update_prompt", "revert_prompt")), mcp.WithObject("arguments", mcp.Required(), mcp.Description("arguments of the call")),
		hosting.ResultOf[Preview]())
	tool.Meta = &mcp.Meta{AdditionalFields: map[string]any{FactsMeta: map[string]any{"name": "preview", "for": []string{"update_prompt", "revert_prompt"}}}}
	return tool
}

func (t *tools) read(ctx context.Context, _ call, in struct {
	Section string `json:"section"`
}) (out sections.Reading, text string, err error) {
	now, err := t.store.Read(ctx)
	if err != nil {
		return out, "", err
	}
	out = sections.NewReading(now.Prompt, now.Version.Number)
	var b strings.Builder
	fmt.Fprintf(&b, "Version %d, base %s.\n", out.Version, out.Base)
	for _, s := range out.Sections {
		line := strings.TrimSuffix(fmt.Sprintf("%s[%d] %s: %s", strings.Repeat("  ", s.Depth), s.Number, s.Name, s.Description), ": ")
		if s.Base != "" {
			line += " (base " + s.Base + ")"
		}
		b.WriteString(line + "\n")
	}
	if in.Section != "" {
		e, err := now.Find(in.Section)
		if err != nil {
			return out, "", err
		}
		out.Text = e.Only()
	}
	return out, b.String() + "\n" + out.Text, nil
}

func (t *tools) update(ctx context.Context, c call, in Update) (Change, string, error) {
	a, err := c.author(ctx)
	if err != nil {
		return Change{}, "", err
	}
	out, err := t.store.Update(ctx, in, a)
	return t.done(out, err)
}

func (t *tools) revert(ctx context.Context, c call, in Revert) (Change, string, error) {
	a, err := c.author(ctx)
	if err != nil {
		return Change{}, "", err
	}
	out, err := t.store.Revert(ctx, in, a)
	return t.done(out, err)
}

// done notifies subscribers of a change, and returns it with its text.
func (t *tools) done(out Change, err error) (Change, string, error) {
	if err == nil {
		t.changed.Updated(URI)
		t.changed.Updated(sections.URI)
	}
	return out, fmt.Sprintf("This is version %d, base %s.\n\n%s", out.Version, out.Base, out.Diff), err
}

// History is the result of prompt_history.
type History struct {
	Versions []Entry `json:"versions"`
}

func (t *tools) history(ctx context.Context, _ call, in struct {
	Limit int `json:"limit"`
}) (History, string, error) {
	list, err := t.store.History(ctx, cmp.Or(in.Limit, 20))
	if err != nil {
		return History{}, "", err
	}
	var b strings.Builder
	for _, e := range list {
		b.WriteString(e.String() + "\n")
		if e.Diff != "" {
			b.WriteString(e.Diff + "\n")
		}
	}
	return History{Versions: list}, b.String(), nil
}

// String is a line: version, time, operation, section, who and why.
func (e Entry) String() string {
	line := fmt.Sprintf("%d  %s  %s", e.Version, e.At, e.Operation)
	if e.Section != "" {
		line += " " + e.Section
	}
	if e.Of > 0 {
		line += fmt.Sprintf(" to %d", e.Of)
	}
	if e.By != "" {
		line += "  by " + e.By
	}
	if e.Why != "" {
		line += "  (" + e.Why + ")"
	}
	return line
}

// Preview is the result of prompt_preview.
type Preview struct {
	Text string `json:"text" jsonschema:"the diff, or why the call would be refused"`
}

func (t *tools) preview(ctx context.Context, _ call, in struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}) (Preview, string, error) {
	var u *Update
	var r *Revert
	var err error
	if in.Tool == "update_prompt" {
		err = json.Unmarshal(in.Arguments, &u)
	} else {
		err = json.Unmarshal(in.Arguments, &r)
	}
	if err != nil || u == nil && r == nil {
		return Preview{}, "", fmt.Errorf("arguments: %w", cmp.Or(err, fmt.Errorf("there are none")))
	}
	diff, err := t.store.Preview(ctx, u, r)
	if err != nil {
		diff = "The call would be refused: " + err.Error()
	}
	return Preview{diff}, diff, nil
}
