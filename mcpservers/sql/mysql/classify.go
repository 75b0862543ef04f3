package mysql

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"agent-stop-and-go/mcpservers/sql/statement"

	"github.com/pingcap/tidb/pkg/parser"
	"github.com/pingcap/tidb/pkg/parser/ast"
	_ "github.com/pingcap/tidb/pkg/parser/test_driver" // the values of literals
)

//go:embed functions.txt
var functionList string

// harmless has the functions of functions.txt.
var harmless = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for line := range strings.Lines(functionList) {
		if !strings.HasPrefix(line, "#") {
			for _, name := range strings.Fields(line) {
				out[name] = true
			}
		}
	}
	return out
})

var syntax = statement.Syntax{Backslash: true, DoubleString: true, Backtick: true, Hash: true, MySQLComments: true}

// runComment is the beginning of a comment that one of the servers, or the parser, runs. It is
// looked for in the whole text, also in strings: a false alarm asks a person.
var runComment = regexp.MustCompile(`/\*\s*(M?!|T!|\+)`)

// Classify parses one statement. extra names further functions that are harmless. A text that
// the parser does not have is Unknown. It is an error if there is no statement or more than one.
func Classify(text string, extra ...string) (facts statement.Facts, err error) {
	normalized := syntax.Normalize(text)
	defer func() {
		if p := recover(); p != nil {
			facts, err = statement.NotUnderstood(fmt.Sprintf("the parser failed: %v", p), normalized), nil
		}
	}()
	switch {
	case runComment.MatchString(text):
		return statement.NotUnderstood("has a comment that a server may run", normalized), nil
	case strings.ContainsRune(text, 0):
		return statement.NotUnderstood("contains a null byte", normalized), nil
	case normalized == "":
		return statement.Facts{}, statement.CountError(0)
	}
	stmts, _, err := parser.New().Parse(text, "utf8mb4", "")
	if err != nil {
		return statement.NotUnderstood(strings.TrimSpace(err.Error()), normalized), nil
	}
	if len(stmts) != 1 {
		return statement.Facts{}, statement.CountError(len(stmts))
	}
	v := visitor{extra: map[string]bool{}, aliases: map[string][]string{}}
	for _, name := range extra {
		v.extra[strings.ToLower(name)] = true
	}
	v.statement(stmts[0])
	v.resolve()
	return v.Facts(normalized), nil
}

// statement classifies the statement itself.
func (v *visitor) statement(s ast.StmtNode) {
	switch s := s.(type) {
	case *ast.SelectStmt, *ast.SetOprStmt, *ast.InsertStmt, *ast.UpdateStmt, *ast.DeleteStmt:
		s.Accept(v)
	case *ast.ShowStmt:
		v.any = true
		s.Accept(v)
	case *ast.ExplainStmt:
		v.explain(s)
	case *ast.BeginStmt, *ast.CommitStmt, *ast.RollbackStmt, *ast.SavepointStmt, *ast.ReleaseSavepointStmt, *ast.UseStmt,
		*ast.SetStmt, *ast.SetRoleStmt, *ast.SetDefaultRoleStmt, *ast.SetSessionStatesStmt, *ast.SetResourceGroupStmt,
		*ast.LockTablesStmt, *ast.UnlockTablesStmt, *ast.PrepareStmt, *ast.ExecuteStmt, *ast.DeallocateStmt:
		v.Raise(statement.Session, words(s)+" is about the transaction or the connection")
	case *ast.CallStmt, *ast.DoStmt, *ast.LoadDataStmt, *ast.KillStmt, *ast.FlushStmt, *ast.ShutdownStmt, *ast.BinlogStmt:
		v.Raise(statement.Unsafe, words(s)+" has effects that are not seen")
		v.any = true
		s.Accept(v)
	case *ast.CreateTableStmt, *ast.CreateViewStmt, *ast.DropTableStmt, *ast.AlterTableStmt, *ast.TruncateTableStmt,
		*ast.RenameTableStmt, *ast.CreateIndexStmt, *ast.DropIndexStmt, *ast.CreateSequenceStmt, *ast.DropSequenceStmt,
		*ast.AlterSequenceStmt, *ast.CreateDatabaseStmt, *ast.DropDatabaseStmt, *ast.AlterDatabaseStmt, *ast.AnalyzeTableStmt,
		*ast.OptimizeTableStmt, *ast.RepairTableStmt, *ast.GrantStmt, *ast.GrantRoleStmt, *ast.RevokeStmt, *ast.RevokeRoleStmt,
		*ast.CreateUserStmt, *ast.AlterUserStmt, *ast.DropUserStmt, *ast.RenameUserStmt, *ast.SetPwdStmt, *ast.DropProcedureStmt:
		v.Raise(statement.Schema, words(s)+" changes the schema")
		v.any, v.written = true, true
		s.Accept(v)
	default:
		v.Raise(statement.Unknown, words(s)+" is not known here")
	}
}

// explain classifies EXPLAIN and DESCRIBE. Only with ANALYZE the statement is run.
func (v *visitor) explain(s *ast.ExplainStmt) {
	if s.Stmt == nil {
		v.Raise(statement.Unknown, "EXPLAIN without a statement")
		return
	}
	inner := visitor{extra: v.extra, aliases: map[string][]string{}}
	inner.statement(s.Stmt)
	inner.resolve()
	facts := inner.Facts("")
	if !s.Analyze && (facts.Class == statement.Write || facts.Class == statement.Schema) {
		facts.Class = statement.Read
	}
	v.Merge(facts)
}

// words makes "CREATE TABLE" of *ast.CreateTableStmt.
func words(s ast.StmtNode) string {
	name := strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%T", s), "*ast."), "Stmt")
	return strings.ToUpper(strings.TrimSpace(capital.ReplaceAllString(name, " $0")))
}

var capital = regexp.MustCompile(`[A-Z]`)
