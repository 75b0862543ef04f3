package databases

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/sql/statement"

	"github.com/mark3labs/mcp-go/mcp"
)

// factsOf are the tools about whose calls there are facts.
var factsOf = []string{"query", "execute"}

func factsTool() mcp.Tool {
	t := mcp.NewTool("sql_facts",
		mcp.WithDescription("Facts about a call of query or execute, for rules that decide about it. Nothing is run."),
		reads.Annotation("Facts about a call"),
		mcp.WithString("tool", mcp.Required(), mcp.Enum(factsOf...), mcp.Description("Name of the tool")),
		mcp.WithObject("arguments", mcp.Required(), mcp.Description("Arguments of the call")),
		hosting.ResultOf[callFacts](),
	)
	t.Meta = &mcp.Meta{AdditionalFields: map[string]any{FactsMeta: map[string]any{"name": "sql", "for": factsOf}}}
	return t
}

// callFacts is the result of sql_facts.
type callFacts struct {
	Database string `json:"database"`
	Engine   string `json:"engine"`
	statement.Facts
	// Plan and EstimatedRows are of EXPLAIN, for changes of rows that can be explained.
	Plan          []string `json:"plan,omitempty"`
	EstimatedRows *float64 `json:"estimated_rows,omitempty"`
}

// facts classifies the statement of a call. It fails for a call that would be refused before its
// statement is looked at.
func facts(ctx context.Context, c call) (answer, error) {
	name, err := c.args.Required("tool")
	if err != nil {
		return answer{}, err
	}
	if !slices.Contains(factsOf, name) {
		return answer{}, fmt.Errorf("there are no facts about %s", name)
	}
	inner := call{Server: c.Server, args: hosting.Arguments{}}
	if err := json.Unmarshal(c.args["arguments"], &inner.args); err != nil {
		return answer{}, fmt.Errorf("arguments must be an object")
	}
	if inner.db, err = c.Server.database(inner.args); err != nil {
		return answer{}, err
	}
	if err := inner.parse(ctx); err != nil {
		return answer{}, err
	}
	f := callFacts{Database: inner.db.Name, Engine: inner.db.DatabaseConfig.Engine, Facts: inner.Facts}
	if f.Class == statement.Write {
		// Without a plan, for instance while the database is down, the facts still hold.
		if plan, err := inner.db.engine.Explain(ctx, inner.Call); err != nil {
			c.log.Warn("no plan for the facts of a call", "database", f.Database, "err", err)
		} else {
			f.Plan = plan.Lines
			if plan.Rows >= 0 {
				f.EstimatedRows = &plan.Rows
			}
		}
	}
	text, err := json.Marshal(f)
	return answer{f, string(text)}, err
}
