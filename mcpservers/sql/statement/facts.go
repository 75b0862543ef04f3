package statement

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Facts are what a parser knows of a statement. Names are as the database folds them. A table
// that the statement qualifies is listed twice, as orders and as shop.orders, so that a rule
// about orders also finds shop.orders. Lists are sorted and without duplicates.
type Facts struct {
	Class Class `json:"class"`
	// Reason says what made the class, for a person; empty for most reads.
	Reason string   `json:"reason,omitempty"`
	Reads  []string `json:"reads"`
	Writes []string `json:"writes"`
	// ColumnsRead and ColumnsWritten have table.column where the table is known, the bare
	// column where it is not, and * for all columns.
	ColumnsRead    []string `json:"columns_read"`
	ColumnsWritten []string `json:"columns_written"`
	// Functions are those that are called and not known to be harmless.
	Functions []string `json:"functions"`
	// Normalized is the text without comments, with single spaces, and with ? for literals.
	Normalized string `json:"normalized"`
}

// Builder collects facts. The zero value is ready to use.
type Builder struct {
	class                                      Class
	reasons                                    []reason
	reads, writes, columnsRead, columnsWritten names
	functions                                  names
}

type reason struct {
	class Class
	text  string
}

type names map[string]bool

func (n *names) add(name string) {
	if *n == nil {
		*n = names{}
	}
	(*n)[name] = true
}

func (n names) sorted() []string {
	if len(n) == 0 {
		return []string{}
	}
	return slices.Sorted(maps.Keys(n))
}

// Raise notes that a part has a class, and why.
func (b *Builder) Raise(class Class, why string) {
	b.class = b.class.Max(class)
	if why != "" && !slices.Contains(b.reasons, reason{class, why}) {
		b.reasons = append(b.reasons, reason{class, why})
	}
}

// ReadTable notes a table that is read. The schema may be empty.
func (b *Builder) ReadTable(schema, table string) { b.table(&b.reads, schema, table) }

// WriteTable notes a table that is changed. The schema may be empty.
func (b *Builder) WriteTable(schema, table string) { b.table(&b.writes, schema, table) }

func (b *Builder) table(list *names, schema, table string) {
	if table == "" {
		return
	}
	if strings.Contains(schema+table, ".") {
		b.Raise(Unknown, "a name contains a dot")
	}
	list.add(table)
	if schema != "" {
		list.add(schema + "." + table)
	}
}

// ReadColumn notes a column of a table, which may be unknown ("").
func (b *Builder) ReadColumn(table, column string) { b.columnsRead.add(qualified(table, column)) }

// WriteColumn notes a column that is set.
func (b *Builder) WriteColumn(table, column string) { b.columnsWritten.add(qualified(table, column)) }

func qualified(table, column string) string {
	if table == "" {
		return column
	}
	return table + "." + column
}

// Call notes a function that is not known to be harmless.
func (b *Builder) Call(function string) {
	b.functions.add(function)
	b.Raise(Unsafe, "calls "+function)
}

// maxReasons bounds the reasons that are listed.
const maxReasons = 5

// Facts returns what was collected.
func (b *Builder) Facts(normalized string) Facts {
	var reasons []string
	for _, r := range b.reasons {
		if r.class == b.class && len(reasons) <= maxReasons {
			reasons = append(reasons, r.text)
		}
	}
	if len(reasons) > maxReasons {
		reasons[maxReasons] = "…"
	}
	return Facts{
		Class: b.class.Max(Read), Reason: strings.Join(reasons, "; "),
		Reads: b.reads.sorted(), Writes: b.writes.sorted(),
		ColumnsRead: b.columnsRead.sorted(), ColumnsWritten: b.columnsWritten.sorted(),
		Functions: b.functions.sorted(), Normalized: normalized,
	}
}

// NotUnderstood returns the facts of a text that the parser refused.
func NotUnderstood(reason, normalized string) Facts {
	var b Builder
	b.Raise(Unknown, reason)
	return b.Facts(normalized)
}

// Merge adds the facts of a part.
func (b *Builder) Merge(part Facts) {
	b.Raise(part.Class, part.Reason)
	for list, names := range map[*names][]string{
		&b.reads: part.Reads, &b.writes: part.Writes, &b.functions: part.Functions,
		&b.columnsRead: part.ColumnsRead, &b.columnsWritten: part.ColumnsWritten,
	} {
		for _, name := range names {
			list.add(name)
		}
	}
}

// CountError is the error of a text with no statement or with several.
func CountError(n int) error {
	if n == 0 {
		return errors.New("there is no statement")
	}
	return fmt.Errorf("one statement per call: these are %d", n)
}
