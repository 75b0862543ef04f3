package postgres

import (
	"maps"
	"slices"
	"strings"

	"agent-stop-and-go/mcpservers/sql/statement"
)

// object is a node of the tree: its members by name.
type object = map[string]any

// walker collects the facts of a tree. Every node has to be known: see parts.
type walker struct {
	statement.Builder
	extra   map[string]bool // functions that are harmless, too
	aliases map[string][]string
	columns []column
	any     bool // every node is permitted, because the statement is not a read anyway
	depth   int  // of queries and changes; outside of them any means that tables are written
}

// column is a reference that is resolved when all aliases are known.
type column struct {
	table, name string
	write       bool
}

// scope has the names of the common table expressions that a part can see.
type scope struct {
	names map[string]bool
	outer *scope
}

func (s *scope) has(name string) bool {
	for ; s != nil; s = s.outer {
		if s.names[name] {
			return true
		}
	}
	return false
}

// parts are the nodes that a statement that only reads may have, besides the statements.
var parts = set(`
A_ArrayExpr A_Const A_Expr A_Indices A_Indirection A_Star Alias BoolExpr BooleanTest BitString CaseExpr CaseWhen
CoalesceExpr CollateClause ColumnDef ColumnRef CommonTableExpr DefElem Float FuncCall GroupingFunc GroupingSet
IndexElem InferClause Integer JoinExpr JsonAggConstructor JsonArgument JsonArrayAgg JsonArrayConstructor
JsonArrayQueryConstructor JsonBehavior JsonFormat JsonFuncExpr JsonIsPredicate JsonKeyValue JsonObjectAgg
JsonObjectConstructor JsonOutput JsonParseExpr JsonReturning JsonScalarExpr JsonSerializeExpr JsonTable JsonTableColumn
JsonTablePathSpec JsonValueExpr List LockingClause MergeWhenClause MergeSupportFunc MinMaxExpr MultiAssignRef NamedArgExpr NullTest
ParamRef RangeFunction RangeSubselect RangeTableFunc RangeTableFuncCol RangeTableSample RangeVar ResTarget RowExpr
SQLValueFunction SetToDefault SortBy String SubLink TypeCast TypeName WindowDef XmlExpr XmlSerialize Boolean
SelectStmt InsertStmt UpdateStmt DeleteStmt MergeStmt`)

func set(words string) map[string]bool {
	out := map[string]bool{}
	for _, word := range strings.Fields(words) {
		out[word] = true
	}
	return out
}

// value walks a member of unknown form. An object with relname is a RangeVar that is not wrapped.
func (w *walker) value(v any, s *scope) {
	switch v := v.(type) {
	case []any:
		for _, each := range v {
			w.value(each, s)
		}
	case object:
		if name, inner, ok := node(v); ok {
			w.node(name, inner, s)
		} else if v["relname"] != nil {
			w.rangeVar(v, s)
		} else {
			w.members(v, s)
		}
	}
}

// rangeVar notes a table of a query as read, and one that is named elsewhere as written.
func (w *walker) rangeVar(v object, s *scope) {
	w.table(v, s, w.any && w.depth == 0)
}

// node unwraps {"Name": {…}}. Members that have only one type are not wrapped.
func node(v object) (name string, inner object, ok bool) {
	if len(v) != 1 {
		return "", nil, false
	}
	for name, value := range v {
		inner, ok = value.(object)
		return name, inner, ok && name[0] >= 'A' && name[0] <= 'Z'
	}
	return "", nil, false
}

// members walks the members of a node in a fixed order, those of one type first.
func (w *walker) members(v object, s *scope) {
	for _, name := range slices.Sorted(maps.Keys(v)) {
		switch name {
		case "larg", "rarg": // of a SelectStmt; of a JoinExpr they have a name
			if inner := child(v, name); inner["op"] != nil {
				w.selects(inner, s)
				continue
			}
			w.value(v[name], s)
		default:
			w.value(v[name], s)
		}
	}
}

func child(v object, name string) object {
	inner, _ := v[name].(object)
	return inner
}

func (w *walker) node(name string, v object, s *scope) {
	if !parts[name] && !w.any {
		w.Raise(statement.Unknown, "has a part that is not known here: "+name)
		return
	}
	switch name {
	case "SelectStmt":
		w.selects(v, s)
	case "InsertStmt", "UpdateStmt", "DeleteStmt", "MergeStmt":
		w.changes(name, v, s)
	case "RangeVar":
		w.rangeVar(v, s)
	case "ColumnRef":
		w.column(v)
	case "FuncCall":
		w.call(v)
		w.members(v, s)
	case "A_Expr":
		if names := texts(v["name"]); len(names) > 1 && names[0] != "pg_catalog" {
			w.Call("operator " + strings.Join(names, "."))
		}
		w.members(v, s)
	case "RangeSubselect", "RangeFunction", "RangeTableFunc", "JsonTable":
		w.alias(child(v, "alias"), "")
		w.members(v, s)
	default:
		w.members(v, s)
	}
}

// selects walks a SELECT, which can lock rows or create a table.
func (w *walker) selects(v object, s *scope) {
	w.depth++
	defer func() { w.depth-- }()
	s = w.with(v, s)
	if into := child(v, "intoClause"); into != nil {
		w.Raise(statement.Schema, "SELECT INTO creates a table")
		w.table(child(into, "rel"), nil, true)
	}
	if v["lockingClause"] != nil {
		w.Raise(statement.Write, "locks rows")
	}
	w.members(without(v, "withClause", "intoClause", "lockingClause"), s)
}

// with returns the scope inside of a statement with its common table expressions, after walking
// them. Without RECURSIVE an expression sees only those before it.
func (w *walker) with(v object, outer *scope) *scope {
	clause := child(v, "withClause")
	if clause == nil {
		return outer
	}
	s := &scope{names: map[string]bool{}, outer: outer}
	list, _ := clause["ctes"].([]any)
	if clause["recursive"] == true {
		for _, each := range list {
			s.names[cte(each)] = true
		}
	}
	for _, each := range list {
		inner := &scope{names: maps.Clone(s.names), outer: outer}
		w.value(each, inner)
		s.names[cte(each)] = true
	}
	return s
}

func cte(v any) string {
	wrapped, _ := v.(object)
	name, _ := child(wrapped, "CommonTableExpr")["ctename"].(string)
	return name
}

// changes walks INSERT, UPDATE, DELETE and MERGE. All but a plain INSERT also read their table.
func (w *walker) changes(kind string, v object, s *scope) {
	w.depth++
	defer func() { w.depth-- }()
	w.Raise(statement.Write, strings.ToUpper(strings.TrimSuffix(kind, "Stmt"))+" changes rows")
	s = w.with(v, s)
	table := child(v, "relation")
	w.table(table, nil, true)
	if kind != "InsertStmt" || v["returningList"] != nil || v["onConflictClause"] != nil {
		w.table(table, nil, false)
	}
	name, _ := table["relname"].(string)
	w.targets(v["cols"], name)
	if kind == "UpdateStmt" {
		w.targets(v["targetList"], name)
	}
	w.targets(child(v, "onConflictClause")["targetList"], name)
	if list, ok := v["mergeWhenClauses"].([]any); ok {
		for _, each := range list {
			wrapped, _ := each.(object)
			w.targets(child(wrapped, "MergeWhenClause")["targetList"], name)
		}
	}
	w.members(without(v, "withClause", "relation"), s)
}

// targets notes the columns of a list of ResTarget as written.
func (w *walker) targets(list any, table string) {
	each, _ := list.([]any)
	for _, target := range each {
		wrapped, _ := target.(object)
		if name, ok := child(wrapped, "ResTarget")["name"].(string); ok {
			w.columns = append(w.columns, column{table, name, true})
		}
	}
}

// table notes a RangeVar, unless it is a common table expression.
func (w *walker) table(v object, s *scope, write bool) {
	name, _ := v["relname"].(string)
	schema, _ := v["schemaname"].(string)
	if catalog, ok := v["catalogname"].(string); ok {
		w.Raise(statement.Unknown, "names the database "+catalog)
	}
	if name == "" {
		return
	}
	w.alias(child(v, "alias"), name)
	if schema == "" && s.has(name) {
		return
	}
	if write {
		w.WriteTable(schema, name)
	} else {
		w.ReadTable(schema, name)
	}
}

// alias notes what an alias or a table's own name stands for; table is "" for no table.
func (w *walker) alias(v object, table string) {
	if w.aliases == nil {
		w.aliases = map[string][]string{}
	}
	name, ok := v["aliasname"].(string)
	if !ok {
		name = table
	}
	if name != "" && !slices.Contains(w.aliases[name], table) {
		w.aliases[name] = append(w.aliases[name], table)
	}
}

func (w *walker) column(v object) {
	names := texts(v["fields"])
	if list, ok := v["fields"].([]any); ok && len(names) < len(list) {
		names = append(names, "*")
	}
	switch n := len(names); n {
	case 0:
	case 1:
		w.columns = append(w.columns, column{"", names[0], false})
	default:
		w.columns = append(w.columns, column{names[n-2], names[n-1], false})
	}
}

// resolve adds the columns, with the tables that their aliases can stand for. A bare column is
// that of the only table, if there is only one.
func (w *walker) resolve() {
	var only string
	if len(w.aliases) == 1 {
		for _, tables := range w.aliases {
			only = tables[0]
		}
	}
	for _, c := range w.columns {
		tables := []string{c.table}
		switch {
		case c.table == "":
			tables = []string{only}
		case c.table == "excluded":
			continue // the row that was to be inserted
		case !c.write && w.aliases[c.table] != nil:
			tables = w.aliases[c.table]
		}
		for _, table := range tables {
			if c.write {
				w.WriteColumn(table, c.name)
			} else {
				w.ReadColumn(table, c.name)
			}
		}
	}
}

func (w *walker) call(v object) {
	names := texts(v["funcname"])
	name := strings.Join(names, ".")
	bare := strings.TrimPrefix(name, "pg_catalog.")
	if !harmless()[bare] && !w.extra[name] {
		w.Call(name)
	}
}

// texts returns the strings of a list of String nodes.
func texts(list any) (out []string) {
	each, _ := list.([]any)
	for _, v := range each {
		wrapped, _ := v.(object)
		if text, ok := child(wrapped, "String")["sval"].(string); ok {
			out = append(out, text)
		}
	}
	return out
}

func without(v object, names ...string) object {
	out := maps.Clone(v)
	for _, name := range names {
		delete(out, name)
	}
	return out
}
