package postgres

import (
	"strings"

	"agent-stop-and-go/mcpservers/sql/statement"
)

// sessions are the statements about the transaction or the connection.
var sessions = set(`TransactionStmt VariableSetStmt DiscardStmt PrepareStmt ExecuteStmt DeallocateStmt LockStmt
ListenStmt UnlistenStmt NotifyStmt DeclareCursorStmt FetchStmt ClosePortalStmt ConstraintsSetStmt`)

// reaching are those whose effects are not in the tables that they name.
var reaching = set(`DoStmt CallStmt LoadStmt AlterSystemStmt CreateExtensionStmt AlterExtensionStmt CheckPointStmt
CreateSubscriptionStmt AlterSubscriptionStmt DropSubscriptionStmt CreateTableSpaceStmt CreateFdwStmt CreateForeignServerStmt
AlterForeignServerStmt CreateUserMappingStmt AlterUserMappingStmt ImportForeignSchemaStmt CreatePLangStmt`)

// statement classifies the statement itself.
func (w *walker) statement(v object) {
	name, inner, ok := node(v)
	switch {
	case !ok:
		w.Raise(statement.Unknown, "the tree of the parser is not understood")
	case name == "ExplainStmt":
		w.explain(inner)
	case name == "VariableShowStmt":
		w.Raise(statement.Read, "")
	case name == "CopyStmt":
		w.copies(inner)
	case sessions[name]:
		w.Raise(statement.Session, words(name)+" is about the transaction or the connection")
	case reaching[name]:
		w.Raise(statement.Unsafe, words(name)+" has effects that are not seen")
		w.any = true
		w.members(inner, nil)
	case name == "TruncateStmt":
		w.Raise(statement.Write, "TRUNCATE removes all rows")
		w.written(inner["relations"], nil)
	case parts[name]:
		w.node(name, inner, nil)
	case strings.HasSuffix(name, "Stmt"):
		w.changesSchema(name, inner)
	default:
		w.Raise(statement.Unknown, words(name)+" is not known here")
	}
}

// explain classifies EXPLAIN, which runs its statement only with ANALYZE. What a planner may
// evaluate stays what it is.
func (w *walker) explain(v object) {
	runs := false
	options, _ := v["options"].([]any)
	for _, each := range options {
		wrapped, _ := each.(object)
		runs = runs || child(wrapped, "DefElem")["defname"] == "analyze"
	}
	inner := walker{extra: w.extra}
	inner.statement(child(v, "query"))
	inner.resolve()
	facts := inner.Facts("")
	if !runs && (facts.Class == statement.Write || facts.Class == statement.Schema) {
		facts.Class = statement.Read
	}
	w.Merge(facts)
}

// copies classifies COPY, which moves rows between a table and a file, a program, or the
// connection, which has no use here.
func (w *walker) copies(v object) {
	switch {
	case v["is_program"] == true:
		w.Raise(statement.Unsafe, "COPY runs a program")
	case v["filename"] != nil:
		w.Raise(statement.Unsafe, "COPY uses a file of the server")
	default:
		w.Raise(statement.Session, "COPY moves rows over the connection")
	}
	w.table(child(v, "relation"), nil, v["is_from"] == true)
	w.value(v["query"], nil)
}

// changesSchema classifies every other statement: it creates, changes or drops something. What
// it names is written, and a query in it is walked.
func (w *walker) changesSchema(name string, v object) {
	w.any = true
	w.Raise(statement.Schema, words(name)+" changes the schema")
	w.table(child(v, "relation"), nil, true)
	w.table(child(child(v, "into"), "rel"), nil, true)
	w.table(child(v, "view"), nil, true)
	w.written(v["objects"], v["removeType"])
	w.members(without(v, "relation", "into", "view", "objects"), nil)
}

// ofTable are the objects whose names follow those of their table: schema, table, name.
var ofTable = set("OBJECT_TRIGGER OBJECT_POLICY OBJECT_RULE")

// written notes the objects of DROP, GRANT and TRUNCATE as written. DROP says what they are.
func (w *walker) written(list, removed any) {
	each, _ := list.([]any)
	kind, _ := removed.(string)
	for _, v := range each {
		wrapped, _ := v.(object)
		name, inner, _ := node(wrapped)
		switch name {
		case "RangeVar":
			w.table(inner, nil, true)
		case "List":
			names := texts(inner["items"])
			if len(names) > 0 && ofTable[kind] {
				names = names[:len(names)-1]
			}
			switch len(names) {
			case 0:
			case 1:
				w.WriteTable("", names[0])
			default:
				w.WriteTable(names[len(names)-2], names[len(names)-1])
			}
		}
	}
}

// words makes "CREATE TABLE AS" of CreateTableAsStmt.
func words(name string) string {
	var out strings.Builder
	for i, r := range strings.TrimSuffix(name, "Stmt") {
		if i > 0 && r >= 'A' && r <= 'Z' {
			out.WriteByte(' ')
		}
		out.WriteRune(r)
	}
	return strings.ToUpper(out.String())
}
