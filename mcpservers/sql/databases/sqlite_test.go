package databases_test

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/sql/statement"

	"github.com/mark3labs/mcp-go/mcp"
)

func TestRowsAsTextAndAsValues(t *testing.T) {
	c := serve(t, shopConfig(t))
	c.wants("id | name | iban\n1 | Ann | DE1\n2 | Bob | DE2\n3 | Cid | NULL", "query", "SELECT * FROM customers")
	c.wants("(no rows)", "query", "SELECT * FROM customers WHERE id = ?", 17)
	c.wants("name\nBob", "query", "SELECT name FROM customers WHERE id = ? AND iban = ?", 2, "DE2")
	c.wants(`x`+"\n"+`a\nb \| c`, "query", "SELECT ? AS x", "a\nb | c")
	got := c.sql("query", "SELECT price, note, 9007199254740993 FROM orders ORDER BY id")
	want := []any{[]any{9.5, nil, 9007199254740992.0}, []any{20.0, "base64:AP8=", 9007199254740992.0}, []any{1.0, "text", 9007199254740992.0}}
	if !reflect.DeepEqual(got.value["rows"], want) || !strings.Contains(got.text, "9007199254740993") {
		t.Errorf("%+v", got)
	}
}

func TestChangesAreCountedAndKept(t *testing.T) {
	c := serve(t, shopConfig(t))
	c.wants("OK — rows affected: 2", "execute", "UPDATE customers SET iban = ? WHERE id > ?", "DE9", 1)
	c.wants("OK — rows affected: 1\nid\n4", "execute", "INSERT INTO customers (name) VALUES ('Dee') RETURNING id")
	c.wants("OK — rows affected: 0", "execute", "CREATE TABLE t (x)")
	c.wants("OK — rows affected: 0", "execute", "DELETE FROM t")
	c.wants("name | iban\nBob | DE9\nCid | DE9\nDee | NULL", "query", "SELECT name, iban FROM customers WHERE id > 1")
}

// bypasses are statements that look like reads, and are none.
var bypasses = []string{
	"DELETE FROM orders", "/* SELECT */ DELETE FROM orders", "-- SELECT\nDELETE FROM orders", "WITH x AS (SELECT 1) DELETE FROM orders",
	"SELECT 1; DELETE FROM orders", "SELECT ';'; DELETE FROM orders", "EXPLAIN SELECT 1; DELETE FROM orders",
	"WITH x AS (SELECT 1) INSERT INTO log SELECT * FROM x", "REPLACE INTO orders VALUES (1, 1, 1, 1)", "UPDATE orders SET price = 0 RETURNING *",
	"DROP TABLE orders", "CREATE TABLE x AS SELECT * FROM orders", "CREATE TEMP TABLE x (y)", "ALTER TABLE orders ADD COLUMN x", "CREATE INDEX i ON orders (price)",
	"ATTACH '/tmp/attached.db' AS x", "DETACH main", "VACUUM", "VACUUM INTO '/tmp/vacuumed.db'", "REINDEX", "ANALYZE",
	"PRAGMA journal_mode = WAL", "PRAGMA user_version = 7", "PRAGMA query_only = off", "PRAGMA writable_schema = on", "PRAGMA wal_checkpoint", "PRAGMA optimize",
	"BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT x", "END", "SELECT load_extension('/tmp/x.so')", "SELECT writefile('/tmp/x', 'y')",
	"INSERT INTO orders (id) SELECT 9 WHERE 'SELECT' = 'SELECT'", "DELETE FROM sqlite_schema", "UPDATE sqlite_schema SET sql = ''",
	"SELECT * FROM orders ORDER BY (DELETE FROM orders)", "", ";", "-- nothing", "SELECT", "\x00SELECT 1", "SELECT 1\x00; DELETE FROM orders",
}

func TestNothingThatQueryRunsChangesTheFile(t *testing.T) {
	config := shopConfig(t)
	c := serve(t, config)
	file := func() string {
		data, err := os.ReadFile(config.Databases[0].Path)
		must(t, err)
		return string(data)
	}
	before := file()
	for _, text := range bypasses {
		if got := c.sql("query", text); !got.refused {
			t.Errorf("query ran %q: %s", text, got.text)
		}
	}
	for _, text := range []string{
		"SELECT * FROM names", "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 3) SELECT * FROM n", "VALUES (1)",
		"EXPLAIN DELETE FROM orders", "EXPLAIN QUERY PLAN DELETE FROM orders", "PRAGMA table_info(orders)", "SELECT * FROM pragma_table_info('orders')",
		"SELECT 'DROP TABLE orders; --' /* ; DELETE FROM orders */ -- ; DELETE\n;", "SELECT count(*), json_object('a', 1), random() FROM orders GROUP BY customer",
		"SELECT sql FROM sqlite_schema",
	} {
		if got := c.sql("query", text); got.refused {
			t.Errorf("query refused %q: %s", text, got.text)
		}
	}
	if file() != before {
		t.Error("the file changed")
	}
}

func TestExecuteTakesWhatItsClassesPermit(t *testing.T) {
	config := shopConfig(t)
	config.Databases[0].Execute = []statement.Class{statement.Write}
	c := serve(t, config)
	c.call("execute", "a key makes the table", map[string]any{"sql": "DELETE FROM log"})
	for text, why := range map[string]string{
		"SELECT 1":                           "the class of the statement is read; use query",
		"DROP TABLE orders":                  "the class of the statement is schema (changes the schema); database shop takes write",
		"BEGIN":                              "the class of the statement is session (BEGIN is about the transaction); such statements are never run",
		"PRAGMA journal_mode = DELETE":       "such statements are never run",
		"DELETE FROM mcp_sql_calls":          "only the server may change mcp_sql_calls",
		"DELETE FROM MCP_sql_calls":          "only the server may change mcp_sql_calls",
		"DELETE FROM orders; SELECT 1":       "one statement per call",
		"DELETE FRM orders":                  "the class of the statement is unknown",
		"INSERT INTO customers VALUES (?,?)": "table customers has 3 columns but 2 values were supplied",
		"DELETE FROM orders WHERE id = ?":    "the statement has 1 parameters, and 0 values were given",
	} {
		if got := c.sql("execute", text); !got.refused || !strings.Contains(got.text, why) {
			t.Errorf("%s: %q, want %q", text, got.text, why)
		}
	}
}

func TestADatabaseForReadingIsNotChanged(t *testing.T) {
	config := shopConfig(t)
	config.Databases = append(config.Databases, config.Databases[0])
	config.Databases[1].Name, config.Databases[1].Write = "archive", false
	c := serve(t, config)
	got := c.call("execute", "", map[string]any{"database": "archive", "sql": "DELETE FROM orders"})
	if !got.refused || got.text != "database archive is for reading only" {
		t.Errorf("%+v", got)
	}
	if got := c.sql("query", "SELECT 1"); !got.refused || got.text != "database is required: one of shop, archive" {
		t.Errorf("%+v", got)
	}
	if got := c.call("query", "", map[string]any{"database": "x", "sql": "SELECT 1"}); !got.refused || got.text != `unknown database "x": one of shop, archive` {
		t.Errorf("%+v", got)
	}
}

func TestARepeatedCallChangesNothing(t *testing.T) {
	c := serve(t, shopConfig(t))
	add := map[string]any{"sql": "INSERT INTO log VALUES ('once') RETURNING at"}
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() {
			if got := c.call("execute", "key", add); got.refused || got.text != "OK — rows affected: 1\nat\nonce" {
				t.Errorf("%+v", got)
			}
		})
	}
	running.Wait()
	c.wants("count(*)\n1", "query", "SELECT count(*) FROM log WHERE at = 'once'")
	if got := c.call("execute", "key", map[string]any{"sql": "INSERT INTO log VALUES ('twice')"}); !got.refused || got.text != hosting.ErrKeyReused.Error() {
		t.Errorf("%+v", got)
	}
	if got := c.call("execute", "failed", map[string]any{"sql": "INSERT INTO customers VALUES (1, 'x', 'y')"}); !got.refused || !strings.Contains(got.text, "UNIQUE") {
		t.Errorf("%+v", got)
	}
	c.wants("call_key\nkey", "query", "SELECT call_key FROM mcp_sql_calls")
}

func TestResultsAndStatementsAreBounded(t *testing.T) {
	config := shopConfig(t)
	config.MaxRows, config.MaxBytes, config.Timeout, config.MaxStatement = 10, 1<<10, hosting.Span(300*time.Millisecond), 1000
	c := serve(t, config)
	numbers := "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n%s) SELECT %s FROM n"
	if got := c.sql("query", fmt.Sprintf(numbers, "", "x")); got.value["truncated"] != true || got.value["row_count"] != 10.0 || !strings.Contains(got.text, "cut after 10 rows") {
		t.Errorf("%+v", got)
	}
	if got := c.sql("query", fmt.Sprintf(numbers, "", "printf('%.400c', 'x')")); got.value["row_count"] != 2.0 || len(got.text) > 1200 {
		t.Errorf("%+v", got)
	}
	for _, tool := range []string{"query", "execute"} {
		start, text := time.Now(), fmt.Sprintf(numbers, "", "sum(x)")
		if tool == "execute" {
			text = "INSERT INTO log " + text
		}
		if got := c.sql(tool, text); !got.refused || got.text != "the statement took longer than 300ms and was ended; nothing was changed" || time.Since(start) > 10*time.Second {
			t.Errorf("%s: %+v after %s", tool, got, time.Since(start))
		}
	}
	if got := c.sql("query", "SELECT zeroblob(100000000)"); !got.refused || !strings.Contains(got.text, "too big") {
		t.Errorf("%.200v", got)
	}
	if got := c.sql("query", "SELECT '"+strings.Repeat("x", 1000)+"'"); !got.refused || !strings.Contains(got.text, "at most 1000 are allowed") {
		t.Errorf("%+v", got)
	}
}

func TestADryRunIsRolledBack(t *testing.T) {
	config := shopConfig(t)
	config.Databases[0].DryRun = true
	c := serve(t, config)
	c.wants("Rolled back — rows affected would be: 3", "dry_run", "DELETE FROM orders")
	c.wants("count(*)\n3", "query", "SELECT count(*) FROM orders")
	for text, why := range map[string]string{"DROP TABLE orders": "database shop takes write", "SELECT 1": "use query", "COMMIT": "never run"} {
		if got := c.sql("dry_run", text); !got.refused || !strings.Contains(got.text, why) {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

func TestFactsOfACall(t *testing.T) {
	c := serve(t, shopConfig(t))
	got := c.call("sql_facts", "", map[string]any{"tool": "execute", "arguments": map[string]any{
		"sql": "insert into orders (customer, price)\n select id, 5 from names, main.customers where names.name = 'x' -- all", "params": []any{},
	}})
	want := map[string]any{
		"database": "shop", "engine": "sqlite", "class": "write", "reason": "INSERT changes rows", "reads": []any{"customers", "names"}, "writes": []any{"log", "orders"},
		"columns_read": []any{"customers.id", "customers.name", "names.name"}, "columns_written": []any{}, "functions": []any{},
		"normalized": "insert into orders (customer, price) select id, ? from names, main.customers where names.name = ?",
	}
	plan, _ := got.value["plan"].([]any)
	delete(got.value, "plan")
	if !reflect.DeepEqual(got.value, want) || len(plan) == 0 {
		t.Errorf("%+v, plan %v", got.value, plan)
	}
	for _, arguments := range []map[string]any{
		{"tool": "schema", "arguments": map[string]any{}}, {"tool": "query", "arguments": map[string]any{}}, {"tool": "query"},
		{"tool": "query", "arguments": map[string]any{"sql": "SELECT 1; SELECT 2"}}, {"tool": "query", "arguments": map[string]any{"sql": "SELECT 1", "database": "x"}},
	} {
		if got := c.call("sql_facts", "", arguments); !got.refused {
			t.Errorf("%v: %+v", arguments, got)
		}
	}
}

func TestPlansAndTables(t *testing.T) {
	c := serve(t, shopConfig(t))
	if got := c.sql("explain", "DELETE FROM orders WHERE id = ?", 1); got.refused || !strings.Contains(got.text, "class: write\nbecause: DELETE changes rows\nreads: customers, orders\nwrites: orders\nSEARCH orders USING INTEGER PRIMARY KEY") {
		t.Errorf("%+v", got)
	}
	c.wants("count(*)\n3", "query", "SELECT count(*) FROM orders")
	got := c.call("schema", "", nil)
	want := "table customers (id INTEGER KEY, name TEXT NOT NULL, iban TEXT)\ntable log (at TEXT)\nview names (name TEXT)\ntable orders (id INTEGER KEY, customer INTEGER, price REAL, note BLOB)"
	if got.text != want {
		t.Errorf("%s", got.text)
	}
	if got := c.call("schema", "", map[string]any{"table": "Log"}); got.text != "table log (at TEXT)" {
		t.Errorf("%+v", got)
	}
	if got := c.call("schema", "", map[string]any{"table": "x"}); !got.refused || got.text != "there is no table x in database shop" {
		t.Errorf("%+v", got)
	}
}

func TestWrongArgumentsAreRefused(t *testing.T) {
	c := serve(t, shopConfig(t))
	for why, arguments := range map[string]map[string]any{
		"sql is required":                    {},
		`unknown argument "statement"`:       {"statement": "SELECT 1"},
		"params must be a list":              {"sql": "SELECT 1", "params": map[string]any{"a": 1}},
		"params[0] must be null, a boolean":  {"sql": "SELECT ?", "params": []any{[]any{1}}},
		"sql must be a string":               {"sql": 5},
		"the statement has 0 parameters, an": {"sql": "SELECT 1", "params": []any{1}},
	} {
		if got := c.call("query", "", arguments); !got.refused || !strings.Contains(got.text, why) {
			t.Errorf("%v: %+v, want %q", arguments, got, why)
		}
	}
}

// A bare true, and several types in one schema, are refused by strict readers of schemas.
func TestSchemasAreExplicit(t *testing.T) {
	config := shopConfig(t)
	config.Databases[0].DryRun = true
	list, err := serve(t, config).ListTools(t.Context(), mcp.ListToolsRequest{})
	must(t, err)
	if len(list.Tools) != 6 {
		t.Errorf("%d tools", len(list.Tools))
	}
	for _, tool := range list.Tools {
		text, err := json.Marshal(tool)
		must(t, err)
		if strings.Contains(string(text), `"items":true`) || strings.Contains(string(text), `"items":{}`) || strings.Contains(string(text), `"type":[`) {
			t.Errorf("%s", text)
		}
	}
}
