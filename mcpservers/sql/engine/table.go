package engine

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"
)

// Table is the rows of a result. Values are null, true, false, numbers and strings; bytes that
// are not text are base64 with the prefix "base64:".
type Table struct {
	Columns   []string `json:"columns"`
	Rows      [][]any  `json:"rows"`
	RowCount  int      `json:"row_count"`
	Truncated bool     `json:"truncated"` // there are more rows

	limits Limits
	size   int
}

// NewTable returns an empty table.
func NewTable(columns []string, limits Limits) *Table {
	return &Table{Columns: columns, Rows: [][]any{}, limits: limits}
}

// Add adds a row. It returns false if the row is beyond a limit, and reading ends.
func (t *Table) Add(values []any) bool {
	row := make([]any, len(values))
	size := 0
	for i, v := range values {
		row[i] = Value(v)
		size += cost(row[i])
	}
	if len(t.Rows) >= t.limits.Rows || t.size+size > t.limits.Bytes {
		t.Truncated = true
		return false
	}
	t.size += size
	t.Rows = append(t.Rows, row)
	t.RowCount = len(t.Rows)
	return true
}

// cost is about the size of a value in JSON.
func cost(v any) int {
	if s, ok := v.(string); ok {
		return len(s) + 3
	}
	return 12
}

// Value converts a value of a driver to JSON.
func Value(v any) any {
	switch v := v.(type) {
	case nil, bool, string, json.Number, int64:
		return v
	case int, int8, int16, int32, uint8, uint16, uint32, uint64:
		return json.Number(fmt.Sprint(v))
	case float32:
		return Value(float64(v))
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return strconv.FormatFloat(v, 'g', -1, 64)
		}
		return v
	case []byte:
		if utf8.Valid(v) {
			return string(v)
		}
		return "base64:" + base64.StdEncoding.EncodeToString(v)
	case time.Time:
		return v.Format(time.RFC3339Nano)
	case fmt.Stringer:
		return v.String()
	}
	if text, err := json.Marshal(v); err == nil {
		return string(text)
	}
	return fmt.Sprint(v)
}
