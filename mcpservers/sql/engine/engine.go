package engine

import (
	"context"
	"time"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/sql/statement"
)

// Engine is one database. It is safe for concurrent use. Every method ends soon after its
// context or Limits.Timeout.
type Engine interface {
	// Classify says what a statement does, without running it.
	Classify(ctx context.Context, text string) (statement.Facts, error)
	// Read runs a statement in a transaction in which nothing can be changed.
	Read(ctx context.Context, call Call) (*Table, error)
	// Write runs a statement in one transaction and commits it, once for each key.
	Write(ctx context.Context, call Call) (Result, error)
	// DryRun runs a statement in one transaction and rolls it back.
	DryRun(ctx context.Context, call Call) (Result, error)
	// Explain returns the plan of a statement, which is not run.
	Explain(ctx context.Context, call Call) (Plan, error)
	// Schema returns tables and views; of one if name is not empty.
	Schema(ctx context.Context, name string) (Schema, error)
	Close() error
}

// Call is a statement with the values of its parameters: nil, bool, string, or json.Number.
type Call struct {
	Text   string
	Params []any
	Facts  statement.Facts
	Limits Limits
	// Key is the idempotency key of a write, if there is one.
	Key hosting.CallKey
}

// Limits bound one call.
type Limits struct {
	Rows    int           // rows in a result
	Bytes   int           // size of a result in JSON
	Timeout time.Duration // of the statement, including its wait for locks
}

// Result is the result of a write.
type Result struct {
	RowsAffected int64  `json:"rows_affected"`
	Returned     *Table `json:"returned,omitempty"` // of RETURNING
	// Repeated reports that the result is that of an earlier call with the same key.
	Repeated bool `json:"-"`
}

// Plan is the plan of a statement, for people.
type Plan struct {
	Lines []string `json:"plan"`
	// Rows is the number of rows that the engine expects to read or change; -1 if it does not say.
	Rows float64 `json:"estimated_rows"`
}

// Schema describes tables and views.
type Schema struct {
	Tables    []TableInfo `json:"tables"`
	Truncated bool        `json:"truncated"`
}

// TableInfo describes one table or view.
type TableInfo struct {
	Schema  string       `json:"schema,omitempty"`
	Name    string       `json:"name"`
	Type    string       `json:"type"` // table or view
	Columns []ColumnInfo `json:"columns"`
}

// ColumnInfo describes one column.
type ColumnInfo struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Nullable bool   `json:"nullable"`
	Key      bool   `json:"key"` // is part of the primary key
}

// MaxTables bounds the tables of a Schema.
const MaxTables = 200

// Add adds a column to the last table, or to table, if that is another one. It returns false if
// there are too many tables.
func (s *Schema) Add(table TableInfo, column ColumnInfo) bool {
	last := len(s.Tables) - 1
	if last < 0 || s.Tables[last].Name != table.Name || s.Tables[last].Schema != table.Schema {
		if len(s.Tables) == MaxTables {
			s.Truncated = true
			return false
		}
		s.Tables = append(s.Tables, table)
		last++
	}
	s.Tables[last].Columns = append(s.Tables[last].Columns, column)
	return true
}
