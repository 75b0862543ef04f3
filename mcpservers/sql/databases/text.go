package databases

import (
	"fmt"
	"strings"

	"agent-stop-and-go/mcpservers/sql/engine"
)

// clean keeps a value in its cell.
var clean = strings.NewReplacer("\n", `\n`, "\r", `\r`, " | ", ` \| `)

// tableText writes rows with " | " between columns.
func tableText(t *engine.Table) string {
	if t.RowCount == 0 && !t.Truncated {
		return "(no rows)"
	}
	var out strings.Builder
	out.WriteString(strings.Join(t.Columns, " | "))
	for _, row := range t.Rows {
		words := make([]string, len(row))
		for i, v := range row {
			words[i] = "NULL"
			if v != nil {
				words[i] = clean.Replace(fmt.Sprint(v))
			}
		}
		out.WriteString("\n" + strings.Join(words, " | "))
	}
	if t.Truncated {
		fmt.Fprintf(&out, "\n(cut after %d rows; ask for less, such as with WHERE, LIMIT or fewer columns)", t.RowCount)
	}
	return out.String()
}

func resultText(r engine.Result, format string) string {
	text := fmt.Sprintf(format, r.RowsAffected)
	if r.Returned != nil && len(r.Returned.Columns) > 0 {
		text += "\n" + tableText(r.Returned)
	}
	return text
}

func planText(e explanation) string {
	var out strings.Builder
	fmt.Fprintf(&out, "class: %s\n", e.Class)
	if e.Reason != "" {
		fmt.Fprintf(&out, "because: %s\n", e.Reason)
	}
	if len(e.Reads) > 0 {
		fmt.Fprintf(&out, "reads: %s\n", strings.Join(e.Reads, ", "))
	}
	if len(e.Writes) > 0 {
		fmt.Fprintf(&out, "writes: %s\n", strings.Join(e.Writes, ", "))
	}
	if e.Rows >= 0 {
		fmt.Fprintf(&out, "estimated rows: %.0f\n", e.Rows)
	}
	return out.String() + strings.Join(e.Lines, "\n")
}

func schemaText(s engine.Schema) string {
	if len(s.Tables) == 0 {
		return "(no tables)"
	}
	var lines []string
	for _, t := range s.Tables {
		name := t.Name
		if t.Schema != "" {
			name = t.Schema + "." + t.Name
		}
		columns := make([]string, len(t.Columns))
		for i, c := range t.Columns {
			columns[i] = strings.TrimSpace(c.Name + " " + c.Type)
			if c.Key {
				columns[i] += " KEY"
			} else if !c.Nullable {
				columns[i] += " NOT NULL"
			}
		}
		lines = append(lines, fmt.Sprintf("%s %s (%s)", t.Type, name, strings.Join(columns, ", ")))
	}
	if s.Truncated {
		lines = append(lines, fmt.Sprintf("(cut after %d; name a table)", len(s.Tables)))
	}
	return strings.Join(lines, "\n")
}
