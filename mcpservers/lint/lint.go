package lint

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

// Severities of a Fault.
const (
	Error   = "error"
	Warning = "warning"
)

// Fault is one fault. Tool is "" for the server itself.
type Fault struct {
	Severity string `json:"severity"`
	Kind     string `json:"kind"` // hints, name, text, schema, size, time, list
	Tool     string `json:"tool,omitempty"`
	Text     string `json:"text"`
}

// Limits beyond which there is a warning.
const (
	slow           = time.Second
	longText       = 2 << 10
	largeTool      = 8 << 10
	largeList      = 64 << 10
	manyTools      = 128
	maxDepth       = 5
	maxNameOfModel = 64
)

type report struct{ faults []Fault }

func (r *report) add(severity, kind, tool, format string, args ...any) {
	r.faults = append(r.faults, Fault{severity, kind, tool, fmt.Sprintf(format, args...)})
}

// Server reports the faults of a connected server, errors first. An error means that its tools cannot be listed.
func Server(ctx context.Context, c *client.Client) ([]Fault, error) {
	r := new(report)
	begin := time.Now()
	tools, err := r.list(ctx, c)
	if err != nil {
		return nil, err
	}
	r.took("tools/list", begin)
	begin = time.Now()
	//lint:ignore SA1019 servers of the protocols with sessions answer it
	if err := c.Ping(ctx); err != nil {
		r.add(Error, "list", "", "ping fails: %v", err)
	}
	r.took("ping", begin)
	r.otherLists(ctx, c)
	r.tools(tools)
	slices.SortStableFunc(r.faults, func(a, b Fault) int { return strings.Compare(a.Severity, b.Severity) })
	return r.faults, nil
}

func (r *report) took(what string, begin time.Time) {
	if took := time.Since(begin); took > slow {
		r.add(Warning, "time", "", "%s took %v: agents list tools often, and time limits of calls are short", what, took.Round(time.Millisecond))
	}
}

func (r *report) otherLists(ctx context.Context, c *client.Client) {
	can := c.GetServerCapabilities()
	if can.Prompts != nil {
		begin := time.Now()
		if _, err := c.ListPrompts(ctx, mcp.ListPromptsRequest{}); err != nil {
			r.add(Error, "list", "", "the server declares prompts and cannot list them: %v", err)
		}
		r.took("prompts/list", begin)
	}
	if can.Resources != nil {
		begin := time.Now()
		if _, err := c.ListResources(ctx, mcp.ListResourcesRequest{}); err != nil {
			r.add(Error, "list", "", "the server declares resources and cannot list them: %v", err)
		}
		r.took("resources/list", begin)
	}
}

func (r *report) tools(tools []listed) {
	if len(tools) == 0 {
		r.add(Warning, "list", "", "there are no tools")
	}
	if len(tools) > manyTools {
		r.add(Warning, "size", "", "there are %d tools: interfaces of models take %d", len(tools), manyTools)
	}
	total := 0
	names := map[string]string{}
	for _, tool := range tools {
		total += len(tool.text)
		if len(tool.text) > largeTool {
			r.add(Warning, "size", tool.Name, "its definition has %d bytes, which each request to a model repeats", len(tool.text))
		}
		folded := strings.ToLower(tool.Name)
		if other, ok := names[folded]; ok {
			r.add(Error, "name", tool.Name, "there is a tool %s: models mix them up", other)
		}
		names[folded] = tool.Name
		r.tool(tool)
	}
	if total > largeList {
		r.add(Warning, "size", "", "all definitions have %d bytes, which each request to a model repeats", total)
	}
}

var (
	modelName = regexp.MustCompile(fmt.Sprintf(`^[A-Za-z0-9_-]{1,%d}$`, maxNameOfModel))
	reading   = regexp.MustCompile(`(?i)(^|[_.-])(get|list|read|search|find|show|describe|count|stat)([_.-]|$)`)
	removing  = regexp.MustCompile(`(?i)(^|[_.-])(delete|remove|drop|destroy|kill|purge|erase|overwrite|truncate)([_.-]|$)`)
)

func (r *report) tool(t listed) {
	if !modelName.MatchString(t.Name) {
		r.add(Error, "name", t.Name, "interfaces of models take 1 to %d letters, digits, _ and -", maxNameOfModel)
	}
	switch words := strings.TrimSpace(t.Description); {
	case words == "":
		r.add(Error, "text", t.Name, "there is no description: a model cannot know when to call it")
	case len(words) > longText:
		r.add(Warning, "text", t.Name, "its description has %d bytes", len(words))
	}
	r.hints(t.Tool)
	var raw struct {
		InputSchema json.RawMessage `json:"inputSchema"`
	}
	if err := json.Unmarshal(t.text, &raw); err != nil {
		r.add(Error, "schema", t.Name, "it cannot be read: %v", err)
		return
	}
	r.schema(t.Name, raw.InputSchema)
}

func (r *report) hints(t mcp.Tool) {
	a := t.Annotations
	is := func(hint *bool) bool { return hint != nil && *hint }
	switch {
	case a.ReadOnlyHint == nil && a.DestructiveHint == nil:
		r.add(Error, "hints", t.Name, "it has no readOnlyHint and no destructiveHint: agents ask a person for each call")
	case is(a.ReadOnlyHint) && is(a.DestructiveHint):
		r.add(Error, "hints", t.Name, "it is read-only and destructive")
	case is(a.ReadOnlyHint) && removing.MatchString(t.Name):
		r.add(Error, "hints", t.Name, "it is read-only, and its name says that it removes something: nobody would be asked")
	case !is(a.ReadOnlyHint) && a.DestructiveHint == nil:
		r.add(Error, "hints", t.Name, "it has no destructiveHint, which counts as destructive: say so, or say that it is not")
	case !is(a.ReadOnlyHint) && is(a.DestructiveHint) && reading.MatchString(t.Name) && !removing.MatchString(t.Name):
		r.add(Warning, "hints", t.Name, "it is destructive, and its name says that it reads: some libraries set that hint by themselves")
	}
}
