package mysql_test

import (
	"strings"
	"testing"

	"agent-stop-and-go/mcpservers/sql/mysql"
	"agent-stop-and-go/mcpservers/sql/statement"
)

func TestClassOfStatements(t *testing.T) {
	for _, tt := range []struct{ class, reads, writes, text string }{
		{"read", "", "", "SELECT 1"},
		{"read", "a", "", "select * from a where id = ?"},
		{"read", "a shop.a", "", "SELECT x FROM `shop`.`a`"},
		{"read", "orders", "", "WITH x AS (SELECT * FROM orders) SELECT * FROM x"},
		{"read", "orders", "", "WITH orders AS (SELECT * FROM orders) SELECT * FROM orders"},
		{"read", "", "", "WITH RECURSIVE n AS (SELECT 1 AS x UNION ALL SELECT x+1 FROM n WHERE x < 5) SELECT * FROM n"},
		{"read", "a b c", "", "SELECT a.x FROM a JOIN b ON a.id = b.id WHERE EXISTS (SELECT 1 FROM c) UNION SELECT 2 ORDER BY 1 LIMIT 5"},
		{"read", "a", "", "SELECT count(*), max(x) OVER (PARTITION BY y), IF(x, 1, 2), CASE WHEN x THEN 1 END, CAST(x AS CHAR), x IN (1,2), y LIKE 'a%', x BETWEEN 1 AND 2, lower(z), DATE_ADD(now(), INTERVAL 1 DAY), json_extract(j, '$.a') FROM a GROUP BY x HAVING x > 1"},
		{"read", "", "", "SHOW TABLES"},
		{"read", "a", "", "SHOW COLUMNS FROM a"},
		{"read", "a", "", "DESCRIBE a"},
		{"read", "a", "a", "EXPLAIN DELETE FROM a"},
		{"read", "", "", "SELECT 'it''s; DROP TABLE a', \"DELETE\" -- DELETE FROM a\n"},
		{"read", "", "", "SELECT '\\'; DELETE FROM a; -- '"},
		{"read", "", "", "SELECT @@version, @x"},
		{"write", "a", "a", "DELETE FROM a"},
		{"write", "a", "a", "# SELECT\nDELETE FROM a"},
		{"write", "a", "a", "/* SELECT */ UPDATE a SET b = 1"},
		{"write", "a", "a", "EXPLAIN ANALYZE DELETE FROM a"},
		{"write", "a b", "a", "INSERT INTO a SELECT * FROM b"},
		{"write", "a", "a", "REPLACE INTO a VALUES (1)"},
		{"write", "a", "", "SELECT * FROM a FOR UPDATE"},
		{"write", "a", "", "SELECT * FROM (SELECT * FROM a LOCK IN SHARE MODE) x"},
		{"write", "a b", "a b", "DELETE a FROM a JOIN b ON a.id = b.id"},
		{"schema", "", "a", "TRUNCATE a"},
		{"schema", "", "a", "DROP TABLE a"},
		{"schema", "", "a", "ALTER TABLE a ADD COLUMN x int"},
		{"schema", "b", "a", "CREATE TABLE a AS SELECT * FROM b"},
		{"schema", "", "", "GRANT ALL ON *.* TO 'x'@'%'"},
		{"schema", "", "a", "CREATE UNIQUE INDEX i ON a (x)"},
		{"schema", "", "a", "DROP INDEX i ON a"},
		{"unknown", "", "", "CREATE TRIGGER p BEFORE INSERT ON a FOR EACH ROW SET @x = 1"},
		{"unsafe_function", "", "", "SELECT sleep(10)"},
		{"unsafe_function", "", "", "SELECT load_file('/etc/passwd')"},
		{"unsafe_function", "", "", "SELECT f(1)"},
		{"unsafe_function", "", "", "SELECT shop.lower('x')"},
		{"unsafe_function", "a", "", "SELECT * FROM a INTO OUTFILE '/tmp/x'"},
		{"unsafe_function", "a", "", "SELECT 1 FROM a ORDER BY get_lock('x', 1)"},
		{"unsafe_function", "", "", "CALL p()"},
		{"unsafe_function", "", "", "DO sleep(1)"},
		{"unknown", "s", "", "SELECT nextval(s)"},
		{"unsafe_function", "a", "", "LOAD DATA INFILE 'x' INTO TABLE a"},
		{"session", "", "", "SET @a = 1"},
		{"session", "", "", "SELECT @a := 1"},
		{"session", "", "", "SET SESSION TRANSACTION READ WRITE"},
		{"session", "", "", "BEGIN"},
		{"session", "", "", "COMMIT"},
		{"session", "", "", "USE mysql"},
		{"session", "", "", "LOCK TABLES a WRITE"},
		{"session", "", "", "PREPARE x FROM 'DELETE FROM a'"},
		{"session", "", "", "EXECUTE x"},
		{"unknown", "", "", "/*!50000 DELETE FROM a */"},
		{"unknown", "", "", "SELECT 1 /*!50000 INTO OUTFILE '/tmp/x' */"},
		{"unknown", "", "", "/*M!100000 DELETE FROM a */"},
		{"unknown", "", "", "/*T! EXPLAIN */ DELETE FROM a"},
		{"unknown", "", "", "SELECT /*+ SET_VAR(sort_buffer_size = 16M) */ 1"},
		{"unknown", "", "", "ANALYZE FORMAT=JSON DELETE FROM a"},
		{"unknown", "", "", "DELETE FROM a RETURNING *"},
		{"unknown", "", "", "HANDLER a OPEN"},
		{"unknown", "", "", "XA START 'x'"},
		{"unknown", "", "", "SET STATEMENT max_statement_time=1 FOR DELETE FROM a"},
		{"unknown", "", "", "EXECUTE IMMEDIATE 'DELETE FROM a'"},
		{"unknown", "", "", "BEGIN NOT ATOMIC DELETE FROM a; END"},
		{"unknown", "", "", "SELECT * FROM"},
	} {
		facts, err := mysql.Classify(tt.text)
		if err != nil || string(facts.Class) != tt.class {
			t.Errorf("%s: %s (%s), %v, want %s", tt.text, facts.Class, facts.Reason, err, tt.class)
		}
		if reads := strings.Join(facts.Reads, " "); reads != tt.reads {
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
	for _, text := range []string{"SELECT 1; DROP TABLE a", "SELECT 1;\nSELECT 2;", "", " ", "-- nothing", ";", "# x"} {
		if facts, err := mysql.Classify(text); err == nil {
			t.Errorf("%q is one statement: %+v", text, facts)
		}
	}
	if _, err := mysql.Classify("SELECT 1;"); err != nil {
		t.Error(err)
	}
}

func TestColumnsOfStatements(t *testing.T) {
	for _, tt := range []struct{ reads, writes, text string }{
		{"a.*", "", "SELECT * FROM a"},
		{"customers.iban customers.id", "", "SELECT c.iban FROM customers c WHERE c.ID = 1"},
		{"a.id b.id x", "", "SELECT x FROM a JOIN b ON a.id = b.id"},
		{"a.id a.price", "a.price", "UPDATE a SET price = 1 WHERE id = 2"},
	} {
		facts, err := mysql.Classify(tt.text)
		if r, w := strings.Join(facts.ColumnsRead, " "), strings.Join(facts.ColumnsWritten, " "); err != nil || r != tt.reads || w != tt.writes {
			t.Errorf("%s: reads %q, writes %q, %v", tt.text, r, w, err)
		}
	}
}

func TestWhatAServerRunsIsInTheNormalizedText(t *testing.T) {
	for text, want := range map[string]string{
		"DELETE FROM t WHERE id=5--1 OR 1=1": "delete from t where id=?--? or ?=?",
		"DELETE FROM t WHERE id=5 -- 1":      "delete from t where id=?",
		"SELECT 1 /*! INTO @x */":            "select ? /*! into @x */",
	} {
		if facts, err := mysql.Classify(text); err != nil || facts.Normalized != want {
			t.Errorf("%s: %q, %v, want %q", text, facts.Normalized, err, want)
		}
	}
}
