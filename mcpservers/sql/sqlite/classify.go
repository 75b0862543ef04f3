package sqlite

import (
	"context"
	"strings"

	"agent-stop-and-go/mcpservers/sql/statement"

	"github.com/ncruces/go-sqlite3"
)

var syntax = statement.Syntax{Backtick: true, Bracket: true}

// Classify implements engine.Engine. The statement is compiled with the schema of the file.
func (e *Engine) Classify(ctx context.Context, text string) (statement.Facts, error) {
	normalized := syntax.Normalize(text)
	if strings.ContainsRune(text, 0) {
		return statement.NotUnderstood("contains a null byte", normalized), nil
	}
	db, end, err := e.open(ctx, true, e.timeout)
	if err != nil {
		return statement.Facts{}, err
	}
	defer end()
	var w watcher
	if err := db.SetAuthorizer(w.ask); err != nil {
		return statement.Facts{}, err
	}
	stmt, tail, err := db.Prepare(text)
	if err != nil {
		return statement.NotUnderstood(err.Error(), normalized), nil
	}
	if stmt == nil {
		return statement.Facts{}, statement.CountError(0)
	}
	defer stmt.Close()
	if syntax.Normalize(tail) != "" {
		return statement.Facts{}, statement.CountError(2)
	}
	w.Raise(statement.Read, "")
	if !stmt.ReadOnly() && !w.named {
		w.Raise(statement.Unknown, "changes the file")
	}
	facts := w.Facts(normalized)
	if isExplain(normalized) && (facts.Class == statement.Write || facts.Class == statement.Schema) {
		facts.Class = statement.Read // it is not run
	}
	return facts, nil
}

func isExplain(normalized string) bool { return strings.HasPrefix(normalized, "explain ") }

// watcher is an authorizer that permits everything and notes it.
type watcher struct {
	statement.Builder
	named bool // a reason for a change is known
}

// pragmas only read.
var pragmas = map[string]bool{
	"table_info": true, "table_xinfo": true, "table_list": true, "index_list": true, "index_info": true, "index_xinfo": true,
	"foreign_key_list": true, "database_list": true, "collation_list": true, "compile_options": true, "function_list": true,
}

// unsafe are functions that reach out of the file.
var unsafe = map[string]bool{"load_extension": true, "fts3_tokenizer": true, "readfile": true, "writefile": true, "edit": true, "sqlite_log": true}

func (w *watcher) ask(action sqlite3.AuthorizerActionCode, third, fourth, schema, _ string) sqlite3.AuthorizerReturnCode {
	change := func(class statement.Class, reason string) {
		w.named = true
		w.Raise(class, reason)
	}
	if schema == "main" {
		schema = ""
	}
	switch action {
	case sqlite3.AUTH_SELECT, sqlite3.AUTH_RECURSIVE:
	case sqlite3.AUTH_READ:
		w.reads(schema, third, fourth)
	case sqlite3.AUTH_INSERT, sqlite3.AUTH_DELETE, sqlite3.AUTH_UPDATE:
		w.named = true
		if isSchema(third) {
			break // a part of CREATE or DROP
		}
		w.Raise(statement.Write, map[sqlite3.AuthorizerActionCode]string{
			sqlite3.AUTH_INSERT: "INSERT", sqlite3.AUTH_DELETE: "DELETE", sqlite3.AUTH_UPDATE: "UPDATE",
		}[action]+" changes rows")
		w.WriteTable(schema, third)
		if fourth != "" {
			w.WriteColumn(third, fourth)
		}
	case sqlite3.AUTH_FUNCTION:
		if unsafe[strings.ToLower(fourth)] {
			w.Call(fourth)
		}
	case sqlite3.AUTH_PRAGMA:
		if !pragmas[strings.ToLower(third)] {
			change(statement.Session, "PRAGMA "+third+" is about the connection or the file")
		}
	case sqlite3.AUTH_TRANSACTION, sqlite3.AUTH_SAVEPOINT:
		change(statement.Session, third+" is about the transaction")
	case sqlite3.AUTH_ATTACH, sqlite3.AUTH_DETACH:
		change(statement.Session, "ATTACH and DETACH are about the connection")
	case sqlite3.AUTH_ALTER_TABLE:
		change(statement.Schema, "changes the schema")
		w.WriteTable("", fourth)
	case sqlite3.AUTH_CREATE_INDEX, sqlite3.AUTH_CREATE_TEMP_INDEX, sqlite3.AUTH_DROP_INDEX, sqlite3.AUTH_DROP_TEMP_INDEX,
		sqlite3.AUTH_CREATE_TRIGGER, sqlite3.AUTH_CREATE_TEMP_TRIGGER, sqlite3.AUTH_DROP_TRIGGER, sqlite3.AUTH_DROP_TEMP_TRIGGER:
		change(statement.Schema, "changes the schema")
		w.WriteTable("", third)
		w.WriteTable("", fourth) // it decides what its table takes
	default: // CREATE, DROP, REINDEX, ANALYZE
		change(statement.Schema, "changes the schema")
		w.WriteTable("", third)
	}
	return sqlite3.AUTH_OK
}

func (w *watcher) reads(schema, table, column string) {
	if isSchema(table) {
		schema = ""
	}
	w.ReadTable(schema, table)
	if column != "" && table != "" {
		w.ReadColumn(table, column)
	}
}

func isSchema(table string) bool {
	return table == "sqlite_master" || table == "sqlite_schema" || table == "sqlite_temp_master"
}
