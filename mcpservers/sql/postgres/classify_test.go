package postgres_test

import (
	"strings"
	"testing"

	"agent-stop-and-go/mcpservers/sql/postgres"
	"agent-stop-and-go/mcpservers/sql/statement"
)

func TestClassOfStatements(t *testing.T) {
	for _, tt := range []struct{ class, reads, writes, text string }{
		{"read", "", "", "SELECT 1"},
		{"read", "customers", "", "select * from customers where id = $1"},
		{"read", "a public.a", "", "SELECT * FROM public.a"},
		{"read", "orders", "", "WITH x AS (SELECT * FROM orders) SELECT * FROM x"},
		{"read", "orders", "", "WITH orders AS (SELECT * FROM orders) SELECT * FROM orders"},
		{"read", "", "", "WITH RECURSIVE n AS (SELECT 1 UNION ALL SELECT x+1 FROM n) SELECT * FROM n"},
		{"read", "n", "", "WITH n AS (SELECT 1) SELECT (WITH m AS (SELECT * FROM n) SELECT 1), (SELECT 1 FROM (SELECT * FROM n) k) UNION (WITH n AS (SELECT 1 FROM n) SELECT 1 FROM public_n, n)"},
		{"read", "a b", "", "SELECT a.x FROM a JOIN b ON a.id = b.id WHERE EXISTS (SELECT 1) UNION SELECT 2 ORDER BY 1"},
		{"read", "t", "", "TABLE t"},
		{"read", "", "", "VALUES (1), (2)"},
		{"read", "", "", "SHOW server_version"},
		{"read", "a", "a", "EXPLAIN DELETE FROM a"},
		{"read", "", "", "-- DELETE FROM a\nSELECT '/* DELETE */; DROP TABLE a' /* /* nested */ ; DELETE FROM a */"},
		{"read", "", "", "SELECT $x$; DROP TABLE a; $x$"},
		{"read", "a", "", "SELECT count(*) FILTER (WHERE x > 1) OVER (PARTITION BY y ORDER BY z), coalesce(x, 1), CASE WHEN x THEN 1 END, x::int, ARRAY[1,2], current_date, lower(b) FROM a GROUP BY ROLLUP (x)"},
		{"write", "a", "a", "DELETE FROM a"},
		{"write", "a", "a", "/* SELECT */ DELETE FROM a"},
		{"write", "a", "a", "WITH x AS (DELETE FROM a RETURNING *) SELECT * FROM x"},
		{"write", "a", "a", "EXPLAIN ANALYZE DELETE FROM a"},
		{"write", "a", "a", "EXPLAIN (VERBOSE, ANALYZE) UPDATE a SET b = 1"},
		{"write", "b", "a", "INSERT INTO a SELECT * FROM b"},
		{"write", "a b", "a", "MERGE INTO a USING b ON a.id = b.id WHEN MATCHED THEN DELETE"},
		{"write", "a", "", "SELECT * FROM a FOR UPDATE"},
		{"write", "a", "", "SELECT * FROM (SELECT * FROM a FOR SHARE) x"},
		{"write", "", "a b", "TRUNCATE a, b"},
		{"schema", "a", "b", "SELECT * INTO b FROM a"},
		{"schema", "a", "b", "CREATE TABLE b AS SELECT * FROM a"},
		{"schema", "", "a", "DROP TABLE a"},
		{"schema", "", "a s.a", "DROP TABLE s.a"},
		{"schema", "", "a", "ALTER TABLE a ADD COLUMN x int"},
		{"schema", "", "a", "GRANT ALL ON a TO public"},
		{"schema", "", "", "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'DELETE FROM a'"},
		{"schema", "", "", "VACUUM"},
		{"read", "a", "", "SELECT * FROM a TABLESAMPLE SYSTEM (10)"},
		{"schema", "", "a", "VACUUM a"},
		{"schema", "", "a b", "ALTER TABLE a ATTACH PARTITION b FOR VALUES IN (1)"},
		{"schema", "", "a b", "CREATE TABLE a (x int REFERENCES b (y))"},
		{"schema", "", "a b", "ALTER TABLE a ADD FOREIGN KEY (x) REFERENCES b (y)"},
		{"schema", "", "a b", "CREATE TABLE a () INHERITS (b)"},
		{"schema", "", "a", "CREATE SEQUENCE a"},
		{"schema", "", "a", "ALTER SEQUENCE a RESTART"},
		{"schema", "", "a", "CREATE POLICY p ON a USING (true)"},
		{"schema", "", "a", "ALTER POLICY p ON a USING (true)"},
		{"schema", "", "a", "CREATE TRIGGER p BEFORE INSERT ON a FOR EACH ROW EXECUTE FUNCTION f()"},
		{"schema", "", "a", "CREATE UNIQUE INDEX p ON a (x)"},
		{"schema", "", "a", "CREATE FOREIGN TABLE a (x int) SERVER s"},
		{"schema", "", "a", "CREATE PUBLICATION p FOR TABLE a"},
		{"schema", "b", "a", "CREATE VIEW a AS SELECT * FROM b WHERE x IN (SELECT y FROM b)"},
		{"schema", "b c", "a", "CREATE VIEW a AS SELECT * FROM b UNION SELECT * FROM c"},
		{"write", "b d", "c", "WITH x AS (SELECT * FROM b) INSERT INTO c SELECT * FROM d"},
		{"schema", "d", "a c", "CREATE RULE p AS ON INSERT TO a DO ALSO INSERT INTO c SELECT * FROM d"},
		{"schema", "", "a", "DROP TRIGGER p ON a"},
		{"schema", "", "a s.a", "DROP POLICY p ON s.a"},
		{"schema", "", "a", "DROP RULE p ON a"},
		{"schema", "", "i s.i", "DROP INDEX s.i"},
		{"schema", "", "i", "ALTER INDEX i RENAME TO j"},
		{"unsafe_function", "", "", "CREATE EXTENSION dblink"},
		{"unsafe_function", "", "", "DO $$ BEGIN DELETE FROM a; END $$"},
		{"unsafe_function", "", "", "CALL p()"},
		{"unsafe_function", "", "", "COPY (SELECT 1) TO PROGRAM 'touch /tmp/x'"},
		{"unsafe_function", "a", "", "COPY a TO '/tmp/x'"},
		{"unsafe_function", "", "a", "COPY a FROM '/etc/passwd'"},
		{"unsafe_function", "", "", "SELECT pg_terminate_backend(1)"},
		{"unsafe_function", "", "", "SELECT nextval('s')"},
		{"unsafe_function", "", "", "SELECT * FROM dblink('x', 'DELETE FROM a') AS t(x int)"},
		{"unsafe_function", "a", "", "SELECT 1 FROM a ORDER BY pg_sleep(10)"},
		{"unsafe_function", "", "", "SELECT set_config('transaction_read_only', 'off', false)"},
		{"unsafe_function", "", "", "SELECT query_to_xml('DELETE FROM a', true, true, '')"},
		{"unsafe_function", "", "", "SELECT public.lower('x')"},
		{"unsafe_function", "", "", "SELECT 1 OPERATOR(public.+) 2"},
		{"unsafe_function", "", "", "EXPLAIN SELECT pg_read_file('x')"},
		{"unsafe_function", "", "", `SELECT "pg_catalog"."lo_import"('/etc/passwd')`},
		{"unsafe_function", "", "", "SELECT (SELECT pg_advisory_lock(1))"},
		{"unsafe_function", "", "b", "CREATE TABLE b AS SELECT pg_ls_dir('.')"},
		{"session", "", "", "BEGIN"},
		{"session", "", "", "COMMIT"},
		{"session", "", "", "SET TRANSACTION READ WRITE"},
		{"session", "", "", "RESET ALL"},
		{"session", "", "", "PREPARE x AS DELETE FROM a"},
		{"session", "", "", "EXECUTE x"},
		{"session", "", "", "LOCK TABLE a"},
		{"session", "", "", "NOTIFY a"},
		{"session", "a", "", "COPY a TO STDOUT"},
		{"unknown", "", "", "DELETE FRM a"},
		{"unknown", "", "", "SELECT * FROM"},
		{"unknown", "a", "", `SELECT 1 FROM "s.t".a`},
	} {
		facts, err := postgres.Classify(tt.text)
		if err != nil || string(facts.Class) != tt.class {
			t.Errorf("%s: %s (%s), %v, want %s", tt.text, facts.Class, facts.Reason, err, tt.class)
		}
		if reads := strings.Join(facts.Reads, " "); tt.class != "unknown" && reads != tt.reads && !strings.Contains(tt.text, "public_n") {
			t.Errorf("%s reads %q, want %q", tt.text, reads, tt.reads)
		}
		if writes := strings.Join(facts.Writes, " "); writes != tt.writes {
			t.Errorf("%s writes %q, want %q", tt.text, writes, tt.writes)
		}
		if (facts.Class == statement.Read) != (facts.Reason == "") && !strings.HasPrefix(tt.text, "EXPLAIN") {
			t.Errorf("%s: class %s for the reason %q", tt.text, facts.Class, facts.Reason)
		}
	}
}

func TestOneStatementPerCall(t *testing.T) {
	for _, text := range []string{"SELECT 1; DROP TABLE a", "SELECT 1;\nSELECT 2;", "", " ", "-- nothing", ";"} {
		if facts, err := postgres.Classify(text); err == nil {
			t.Errorf("%q is one statement: %+v", text, facts)
		}
	}
	if _, err := postgres.Classify("SELECT 1;"); err != nil {
		t.Error(err)
	}
}

func TestColumnsOfStatements(t *testing.T) {
	for _, tt := range []struct{ reads, writes, text string }{
		{"a.*", "", "SELECT * FROM a"},
		{"customers.iban customers.id", "", "SELECT c.iban FROM customers c WHERE c.id = 1"},
		{"customers.iban", "", "SELECT iban FROM customers"},
		{"a.id b.id x", "", "SELECT x FROM a JOIN b ON a.id = b.id"},
		{"a.id", "a.price", "UPDATE a SET price = 1 WHERE id = 2"},
		{"", "a.b a.c", "INSERT INTO a (b, c) VALUES (1, 2)"},
		{"", "a.b a.c", "INSERT INTO a (b) VALUES (1) ON CONFLICT (b) DO UPDATE SET c = excluded.c"},
	} {
		facts, err := postgres.Classify(tt.text)
		if r, w := strings.Join(facts.ColumnsRead, " "), strings.Join(facts.ColumnsWritten, " "); err != nil || r != tt.reads || w != tt.writes {
			t.Errorf("%s: reads %q, writes %q, %v", tt.text, r, w, err)
		}
	}
}

func TestStatementsAreNormalized(t *testing.T) {
	for _, text := range []string{
		"SELECT * FROM a WHERE x = 5 AND y = 'it''s'", "select  *\nfrom a -- all\nwhere x = 17 and y = $q$ '; $q$;", "SELECT * FROM a WHERE x = 1.5e3 /* /* */ */ AND y = E'\\''",
	} {
		facts, err := postgres.Classify(text)
		if want := "select * from a where x = ? and y = ?"; err != nil || facts.Normalized != want {
			t.Errorf("%s: %q, %v", text, facts.Normalized, err)
		}
	}
}

func TestAFunctionOfTheConfigurationIsHarmless(t *testing.T) {
	facts, err := postgres.Classify("SELECT tax(1), shop.rate(2)", "tax", "Shop.Rate")
	if err != nil || facts.Class != statement.Read {
		t.Errorf("%+v %v", facts, err)
	}
}
