package databases

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/sql/engine"
	"agent-stop-and-go/mcpservers/sql/statement"

	"github.com/mark3labs/mcp-go/mcp"
)

var (
	reads    = hosting.Hints{ReadOnly: true, Idempotent: true}
	undoes   = hosting.Hints{Idempotent: true} // changes that do not last
	modifies = hosting.Hints{Destructive: true}
)

// FactsMeta is the _meta key of the tool that rules of an agent ask for facts.
const FactsMeta = "agent-stop-and-go/facts"

func (s *Server) tools() []tool {
	list := []tool{
		{s.define("query", "Query a database", reads, "Run one SQL statement that only reads, and return its rows. Anything else is refused.", true,
			resultOf[engine.Table]()), query},
		{s.define("explain", "Explain a statement", reads, "Show the plan of one SQL statement, and what it reads and writes. It is not run.", true,
			hosting.ResultOf[explanation]()), explain},
		{s.define("schema", "Describe tables", reads, "List tables and views with their columns.", false,
			mcp.WithString("table", mcp.Description("Only this table, as name or schema.name")), hosting.ResultOf[engine.Schema]()), describe},
		{factsTool(), facts},
	}
	if slices.ContainsFunc(s.databases, func(d *database) bool { return d.writable() }) {
		list = append(list, tool{s.define("execute", "Change a database", modifies,
			"Run one SQL statement that changes something, in one transaction. It is not for reading: see query.", true, resultOf[engine.Result]()), execute})
	}
	if slices.ContainsFunc(s.databases, func(d *database) bool { return d.DryRun }) {
		list = append(list, tool{s.define("dry_run", "Try a change", undoes,
			"Run one SQL statement that changes rows, say how many, and roll it back.", true, resultOf[engine.Result]()), dryRun})
	}
	return list
}

// valueSchema is the schema of a parameter, and of a value in a row. Lists of types in one schema
// are legal, and not understood everywhere.
func valueSchema() map[string]any {
	var types []map[string]any
	for _, name := range []string{"string", "number", "boolean", "null"} {
		types = append(types, map[string]any{"type": name})
	}
	return map[string]any{"anyOf": types}
}

// resultOf declares T as the result of a tool, with [valueSchema] for values in rows, whose Go type
// says nothing.
func resultOf[T any]() mcp.ToolOption {
	return func(t *mcp.Tool) {
		hosting.ResultOf[T]()(t)
		describeValues(t.OutputSchema.Properties)
	}
}

func describeValues(schema any) {
	object, _ := schema.(map[string]any)
	if object["items"] == true {
		object["items"] = valueSchema()
		return
	}
	for _, inner := range object {
		describeValues(inner)
	}
}

func (s *Server) define(name, title string, h hosting.Hints, description string, withSQL bool, more ...mcp.ToolOption) mcp.Tool {
	options := []mcp.ToolOption{mcp.WithDescription(description + " " + s.listed()), h.Annotation(title), s.databaseParameter()}
	if withSQL {
		options = append(options,
			mcp.WithString("sql", mcp.Required(), mcp.MinLength(1), mcp.Description("One statement, without values of users: those go into params")),
			mcp.WithArray("params", mcp.Description("Values of the parameters, in order: $1, $2 in PostgreSQL, ? in SQLite and MySQL"),
				mcp.Items(valueSchema())))
	}
	return mcp.NewTool(name, append(options, more...)...)
}

// databaseParameter is required if there are several databases.
func (s *Server) databaseParameter() mcp.ToolOption {
	names := make([]string, len(s.databases))
	for i, d := range s.databases {
		names[i] = d.Name
	}
	options := []mcp.PropertyOption{mcp.Description("Name of the database"), mcp.Enum(names...)}
	if len(names) > 1 {
		options = append(options, mcp.Required())
	}
	return mcp.WithString("database", options...)
}

// listed says which databases there are, for the model.
func (s *Server) listed() string {
	words := make([]string, len(s.databases))
	for i, d := range s.databases {
		words[i] = fmt.Sprintf("%s (%s)", d.Name, d.Engine)
		if !d.writable() {
			words[i] = fmt.Sprintf("%s (%s, reading only)", d.Name, d.Engine)
		}
	}
	return "Databases: " + strings.Join(words, ", ") + "."
}

// query runs a statement that only reads.
func query(ctx context.Context, c call) (answer, error) {
	if c.Facts.Class != statement.Read {
		return answer{}, refuse(c.Facts, "query only reads")
	}
	table, err := c.db.engine.Read(ctx, c.Call)
	if err != nil {
		return answer{}, err
	}
	return answer{table, tableText(table)}, nil
}

// execute runs a statement that changes something.
func execute(ctx context.Context, c call) (answer, error) {
	if err := c.mayChange(c.db.executes()); err != nil {
		return answer{}, err
	}
	result, err := c.db.engine.Write(ctx, c.Call)
	if err != nil {
		return answer{}, err
	}
	return answer{result, resultText(result, "OK — rows affected: %d")}, nil
}

// dryRun runs a statement that changes rows, and rolls it back.
func dryRun(ctx context.Context, c call) (answer, error) {
	if !c.db.DryRun {
		return answer{}, fmt.Errorf("dry_run is not allowed for database %s", c.db.Name)
	}
	if err := c.mayChange([]statement.Class{statement.Write}); err != nil {
		return answer{}, err
	}
	result, err := c.db.engine.DryRun(ctx, c.Call)
	if err != nil {
		return answer{}, err
	}
	return answer{result, resultText(result, "Rolled back — rows affected would be: %d")}, nil
}

// mayChange refuses statements that a tool does not take.
func (c call) mayChange(classes []statement.Class) error {
	switch {
	case !c.db.writable():
		return fmt.Errorf("database %s is for reading only", c.db.Name)
	case c.Facts.Class == statement.Read:
		return refuse(c.Facts, "use query")
	case c.Facts.Class == statement.Session:
		return refuse(c.Facts, "such statements are never run")
	case !slices.Contains(classes, c.Facts.Class):
		return refuse(c.Facts, fmt.Sprintf("database %s takes %s", c.db.Name, joined(classes)))
	case slices.ContainsFunc(c.Facts.Writes, func(name string) bool { return strings.EqualFold(name, engine.KeyTable) }),
		strings.Contains(strings.ToLower(c.Text), engine.KeyTable):
		return fmt.Errorf("refused: only the server may change %s", engine.KeyTable)
	}
	return nil
}

func joined(classes []statement.Class) string {
	words := make([]string, len(classes))
	for i, class := range classes {
		words[i] = string(class)
	}
	return strings.Join(words, ", ")
}

// explanation is the result of explain.
type explanation struct {
	Class  string   `json:"class"`
	Reason string   `json:"reason,omitempty"`
	Reads  []string `json:"reads"`
	Writes []string `json:"writes"`
	engine.Plan
}

func explain(ctx context.Context, c call) (answer, error) {
	f := c.Facts
	if f.Class != statement.Read && f.Class != statement.Write {
		return answer{}, refuse(f, "only reads and changes of rows have a plan")
	}
	plan, err := c.db.engine.Explain(ctx, c.Call)
	if err != nil {
		return answer{}, err
	}
	e := explanation{string(f.Class), f.Reason, f.Reads, f.Writes, plan}
	return answer{e, planText(e)}, nil
}

func describe(ctx context.Context, c call) (answer, error) {
	table, err := c.args.Text("table", "")
	if err != nil {
		return answer{}, err
	}
	schema, err := c.db.engine.Schema(ctx, table)
	if err != nil {
		return answer{}, err
	}
	if table != "" && len(schema.Tables) == 0 {
		return answer{}, fmt.Errorf("there is no table %s in database %s", table, c.db.Name)
	}
	return answer{schema, schemaText(schema)}, nil
}
