package mysql

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"agent-stop-and-go/mcpservers/sql/statement"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// visitor collects the facts of a tree.
type visitor struct {
	statement.Builder
	extra   map[string]bool
	aliases map[string][]string
	columns []column
	scopes  []map[string]bool // names of common table expressions
	any     bool              // every node is permitted, because the statement is not a read anyway
	written bool              // tables are written, outside of a query
	depth   int               // of queries
}

type column struct {
	table, name string
	write       bool
}

// Enter implements ast.Visitor.
func (v *visitor) Enter(n ast.Node) (ast.Node, bool) {
	switch n := n.(type) {
	case *ast.SelectStmt:
		v.depth++
		v.selects(n)
	case *ast.SetOprStmt:
		v.depth++
		v.with(n.With)
	case *ast.InsertStmt:
		v.inserts(n)
	case *ast.UpdateStmt:
		v.updates(n)
	case *ast.DeleteStmt:
		v.deletes(n)
	case *ast.WithClause:
		return n, true // walked with its statement
	case *ast.TableSource:
		v.source(n)
	case *ast.TableName:
		v.table(n, v.written && v.depth == 0)
	case *ast.ColumnName:
		v.columns = append(v.columns, column{n.Table.O, n.Name.L, false})
	case *ast.SelectField:
		if n.WildCard != nil {
			v.columns = append(v.columns, column{n.WildCard.Table.O, "*", false})
		}
	case *ast.FuncCallExpr:
		v.call(n)
	case *ast.VariableExpr:
		if n.Value != nil {
			v.Raise(statement.Session, "sets the variable "+n.Name)
		}
	case *ast.TableOptimizerHint:
		v.Raise(statement.Unknown, "has a hint")
	default:
		v.known(n)
	}
	return n, false
}

// Leave implements ast.Visitor.
func (v *visitor) Leave(n ast.Node) (ast.Node, bool) {
	switch n.(type) {
	case *ast.SelectStmt, *ast.SetOprStmt:
		v.depth--
		v.scopes = v.scopes[:len(v.scopes)-1]
	case *ast.UpdateStmt, *ast.DeleteStmt:
		v.scopes = v.scopes[:len(v.scopes)-1]
	}
	return n, true
}

// known refuses nodes that a statement that only reads does not have.
func (v *visitor) known(n ast.Node) {
	switch n.(type) {
	case *ast.TableRefsClause, *ast.Join, *ast.OnCondition, *ast.FieldList, *ast.GroupByClause, *ast.ByItem, *ast.HavingClause, *ast.OrderByClause,
		*ast.Limit, *ast.WindowSpec, *ast.PartitionByClause, *ast.FrameClause, *ast.FrameBound, *ast.SetOprSelectList, *ast.CommonTableExpression,
		*ast.Assignment, *ast.DeleteTableList, *ast.ColumnNameExpr, *ast.BetweenExpr, *ast.BinaryOperationExpr, *ast.WhenClause, *ast.CaseExpr,
		*ast.SubqueryExpr, *ast.CompareSubqueryExpr, *ast.ExistsSubqueryExpr, *ast.PatternInExpr, *ast.IsNullExpr,
		*ast.IsTruthExpr, *ast.PatternLikeOrIlikeExpr, *ast.ParenthesesExpr, *ast.PositionExpr, *ast.PatternRegexpExpr, *ast.RowExpr, *ast.UnaryOperationExpr,
		*ast.ValuesExpr, *ast.DefaultExpr, *ast.SetCollationExpr, *ast.FuncCastExpr, *ast.TrimDirectionExpr, *ast.AggregateFuncExpr,
		*ast.WindowFuncExpr, *ast.TimeUnitExpr, *ast.GetFormatSelectorExpr, ast.ValueExpr, ast.ParamMarkerExpr:
	default:
		if !v.any {
			v.Raise(statement.Unknown, fmt.Sprintf("has a part that is not known here: %T", n))
		}
	}
}

// selects notes what a SELECT does besides reading.
func (v *visitor) selects(n *ast.SelectStmt) {
	v.with(n.With)
	if n.LockInfo != nil && n.LockInfo.LockType != ast.SelectLockNone {
		v.Raise(statement.Write, "locks rows")
	}
	if n.SelectIntoOpt != nil {
		v.Raise(statement.Unsafe, "SELECT INTO writes a file of the server")
	}
}

// with begins the scope of a statement with its common table expressions, after walking them.
// Without RECURSIVE an expression sees only those before it.
func (v *visitor) with(clause *ast.WithClause) {
	names := map[string]bool{}
	if clause != nil && clause.IsRecursive {
		for _, cte := range clause.CTEs {
			names[cte.Name.L] = true
		}
	}
	if clause != nil {
		for _, cte := range clause.CTEs {
			v.scopes = append(v.scopes, maps.Clone(names))
			cte.Query.Accept(v)
			v.scopes = v.scopes[:len(v.scopes)-1]
			names[cte.Name.L] = true
		}
	}
	v.scopes = append(v.scopes, names)
}

func (v *visitor) inserts(n *ast.InsertStmt) {
	what := "INSERT"
	if n.IsReplace {
		what = "REPLACE"
	}
	v.Raise(statement.Write, what+" changes rows")
	name := v.targets(n.Table)
	for _, c := range n.Columns {
		v.columns = append(v.columns, column{name, c.Name.L, true})
	}
	v.assigned(n.OnDuplicate, name)
}

func (v *visitor) updates(n *ast.UpdateStmt) {
	v.Raise(statement.Write, "UPDATE changes rows")
	v.with(n.With)
	v.assigned(n.List, v.targets(n.TableRefs))
}

// assigned notes columns that are set. With several tables the one is that of the name.
func (v *visitor) assigned(list []*ast.Assignment, table string) {
	for _, a := range list {
		if a.Column.Table.O != "" {
			table = a.Column.Table.O
		}
		v.columns = append(v.columns, column{table, a.Column.Name.L, true})
	}
}

func (v *visitor) deletes(n *ast.DeleteStmt) {
	v.Raise(statement.Write, "DELETE changes rows")
	v.with(n.With)
	v.targets(n.TableRefs) // those that are only joined, too: an alias may stand for each
}

// targets notes all tables of a clause as written, and returns the name of the only one.
func (v *visitor) targets(refs *ast.TableRefsClause) (only string) {
	collect := tables{}
	refs.Accept(&collect)
	for _, t := range collect.names {
		v.WriteTable(t.Schema.O, t.Name.O)
	}
	if len(collect.names) == 1 {
		only = collect.names[0].Name.O
	}
	return only
}

// tables collects the names of tables outside of subqueries.
type tables struct{ names []*ast.TableName }

func (t *tables) Enter(n ast.Node) (ast.Node, bool) {
	switch n := n.(type) {
	case *ast.TableName:
		t.names = append(t.names, n)
	case *ast.SelectStmt, *ast.SetOprStmt, *ast.SubqueryExpr:
		return n, true
	}
	return n, false
}

func (t *tables) Leave(n ast.Node) (ast.Node, bool) { return n, true }

func (v *visitor) source(n *ast.TableSource) {
	t, ok := n.Source.(*ast.TableName)
	switch {
	case ok && n.AsName.O != "":
		v.alias(n.AsName.L, t.Name.O)
	case n.AsName.O != "":
		v.alias(n.AsName.L, "")
	}
}

func (v *visitor) alias(name, table string) {
	if !slices.Contains(v.aliases[name], table) {
		v.aliases[name] = append(v.aliases[name], table)
	}
}

// table notes a table, unless it is a common table expression or an alias.
func (v *visitor) table(n *ast.TableName, write bool) {
	if n.IsAlias {
		return
	}
	if n.Schema.O == "" {
		for _, scope := range v.scopes {
			if scope[n.Name.L] {
				v.alias(n.Name.L, "")
				return
			}
		}
	}
	v.alias(n.Name.L, n.Name.O)
	if write {
		v.WriteTable(n.Schema.O, n.Name.O)
	} else {
		v.ReadTable(n.Schema.O, n.Name.O)
	}
}

func (v *visitor) call(n *ast.FuncCallExpr) {
	name := n.FnName.L
	if n.Schema.L != "" {
		name = n.Schema.L + "." + name
	}
	if !harmless()[name] && !v.extra[name] {
		v.Call(name)
	}
}

// resolve adds the columns, with the tables that their aliases can stand for.
func (v *visitor) resolve() {
	only := ""
	if named := slices.Collect(maps.Values(v.aliases)); len(named) > 0 {
		only = named[0][0]
		for _, tables := range named {
			if len(tables) != 1 || tables[0] != only {
				only = ""
			}
		}
	}
	for _, c := range v.columns {
		tables := []string{c.table}
		if c.table == "" {
			tables = []string{only}
		} else if found := v.aliases[strings.ToLower(c.table)]; found != nil {
			tables = found
		}
		for _, table := range tables {
			if c.write {
				v.WriteColumn(table, c.name)
			} else {
				v.ReadColumn(table, c.name)
			}
		}
	}
}
