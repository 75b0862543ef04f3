//go:build foreign

package databases_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"agent-stop-and-go/mcpservers/sql/databases"
	"agent-stop-and-go/mcpservers/sql/engine"
	"agent-stop-and-go/mcpservers/sql/mysql"
	"agent-stop-and-go/mcpservers/sql/postgres"
)

// far is a real database server with the tables of tables(): its configuration, its content as
// text, and a way to run statements as its owner.
type far struct {
	config databases.DatabaseConfig
	admin  databases.DatabaseConfig // reads as the owner, who may do everything
	dump   func() string
	run    func(text string) string
}

// freePort returns a port that nobody listens on.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// owned is a folder of a user without rights, as whom the servers run if the tests run as root.
func owned(t *testing.T) (string, *syscall.SysProcAttr) {
	t.Helper()
	dir, err := os.MkdirTemp("", "sql-server-") // t.TempDir is below folders of root
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if os.Getuid() != 0 {
		return dir, nil
	}
	nobody, err := user.Lookup("nobody")
	must(t, err)
	uid, _ := strconv.Atoi(nobody.Uid)
	gid, _ := strconv.Atoi(nobody.Gid)
	must(t, os.Chown(dir, uid, gid))
	return dir, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
}

// output runs a program to its end.
func output(t *testing.T, owner *syscall.SysProcAttr, stdin, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.SysProcAttr, cmd.Dir = owner, "/"
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", filepath.Base(name), err, out)
	}
	return string(out)
}

// background starts a server and waits until it answers.
func background(t *testing.T, owner *syscall.SysProcAttr, port int, stop syscall.Signal, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.SysProcAttr, cmd.Dir = owner, "/"
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(stop)
		_ = cmd.Wait()
	})
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			_ = c.Close()
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s does not answer: %v", name, err)
		}
	}
}

// accepts returns once a command succeeds: a server may listen before it accepts anybody.
func accepts(t *testing.T, name string, args ...string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		out, err := exec.Command(name, args...).CombinedOutput()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v: %s", name, err, out)
		}
	}
}

const farTables = `
CREATE TABLE customers (id int PRIMARY KEY, name varchar(20) NOT NULL, iban varchar(20));
CREATE TABLE orders (id int PRIMARY KEY, customer int REFERENCES customers (id), price decimal(9,2), at timestamp NULL, paid boolean);
CREATE VIEW names AS SELECT name FROM customers;
INSERT INTO customers VALUES (1, 'Ann', 'DE1'), (2, 'Bob', 'DE2'), (3, 'Cid', NULL);
INSERT INTO orders VALUES (1, 1, 9.50, '2026-01-02 03:04:05', true), (2, 1, 20, NULL, false), (3, 2, 1, NULL, NULL);
CREATE SEQUENCE numbers;
`

var restrict = regexp.MustCompile(`(?m)^\\(un)?restrict .*$`)

func startPostgres(t *testing.T) far {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		t.Fatal("there is no PostgreSQL: install it (apt-get install postgresql)")
	}
	bin := filepath.Dir(found[len(found)-1])
	dir, owner := owned(t)
	port := freePort(t)
	data := filepath.Join(dir, "data")
	output(t, owner, "", filepath.Join(bin, "initdb"), "-D", data, "-A", "trust", "-U", "owner", "--no-sync", "-E", "UTF8", "--locale", "C.UTF-8")
	background(t, owner, port, syscall.SIGINT, filepath.Join(bin, "postgres"), "-D", data, "-p", strconv.Itoa(port), "-k", dir, "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off")
	accepts(t, filepath.Join(bin, "pg_isready"), "-h", "127.0.0.1", "-p", strconv.Itoa(port))
	url := func(role string) string {
		return fmt.Sprintf("postgres://%s@127.0.0.1:%d/postgres?sslmode=disable", role, port)
	}
	f := far{
		config: databases.DatabaseConfig{Name: "far", Engine: "postgres", ReadEnv: "SQL_READ", WriteEnv: "SQL_WRITE", DryRun: true},
		run: func(text string) string {
			return output(t, nil, text, filepath.Join(bin, "psql"), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", url("owner"))
		},
		dump: func() string {
			text := output(t, nil, "", filepath.Join(bin, "pg_dumpall"), "-d", url("owner"))
			return restrict.ReplaceAllString(text, "") // its key is drawn for each dump
		},
	}
	f.admin = f.config
	f.admin.ReadEnv, f.admin.WriteEnv, f.admin.DryRun = "SQL_OWNER", "", false
	t.Setenv("SQL_READ", url("reader"))
	t.Setenv("SQL_WRITE", url("writer"))
	t.Setenv("SQL_OWNER", url("owner"))
	f.run(farTables + `
CREATE FUNCTION wipes() RETURNS int LANGUAGE plpgsql AS 'BEGIN DELETE FROM orders; RETURN 1; END';
CREATE FUNCTION lies() RETURNS int LANGUAGE plpgsql STABLE SECURITY DEFINER AS 'BEGIN EXECUTE ''DELETE FROM orders''; RETURN 1; END';
CREATE VIEW trap AS SELECT lies() AS x;
CREATE ROLE reader LOGIN; CREATE ROLE writer LOGIN;
GRANT SELECT ON customers, orders, names, trap TO reader;
GRANT SELECT, INSERT, UPDATE, DELETE ON customers, orders TO writer; GRANT CREATE ON SCHEMA public TO writer;`)
	return f
}

func startMariaDB(t *testing.T) far {
	install, err := exec.LookPath("mariadb-install-db")
	if err != nil {
		t.Fatal("there is no MariaDB: install it (apt-get install mariadb-server)")
	}
	dir, owner := owned(t)
	port := freePort(t)
	data, socket := filepath.Join(dir, "data"), filepath.Join(dir, "sock")
	output(t, owner, "", install, "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=normal", "--skip-test-db")
	background(t, owner, port, syscall.SIGTERM, "mariadbd", "--no-defaults", "--datadir="+data, "--socket="+socket, "--port="+strconv.Itoa(port),
		"--bind-address=127.0.0.1", "--innodb-flush-log-at-trx-commit=0", "--pid-file="+filepath.Join(dir, "pid"), "--log-error="+filepath.Join(dir, "log"))
	dsn := func(name string) string { return fmt.Sprintf("%s@tcp(127.0.0.1:%d)/shop", name, port) }
	f := far{
		config: databases.DatabaseConfig{Name: "far", Engine: "mysql", ReadEnv: "SQL_READ", WriteEnv: "SQL_WRITE", DryRun: true},
		run: func(text string) string {
			return output(t, nil, text, "mariadb", "--no-defaults", "-uroot", "--socket="+socket, "-N", "-B")
		},
		dump: func() string {
			return output(t, nil, "", "mariadb-dump", "--no-defaults", "-uroot", "--socket="+socket, "--databases", "shop", "--routines", "--skip-dump-date")
		},
	}
	f.admin = f.config
	f.admin.ReadEnv, f.admin.WriteEnv, f.admin.DryRun = "SQL_OWNER", "", false
	t.Setenv("SQL_READ", dsn("reader"))
	t.Setenv("SQL_WRITE", dsn("writer"))
	t.Setenv("SQL_OWNER", dsn("root"))
	f.run("CREATE DATABASE shop; USE shop;" + farTables + `
CREATE TABLE loose (x int) ENGINE = MyISAM;
DELIMITER //
CREATE FUNCTION wipes() RETURNS int DETERMINISTIC MODIFIES SQL DATA BEGIN DELETE FROM orders; RETURN 1; END//
DELIMITER ;
CREATE VIEW trap AS SELECT wipes() AS x;
CREATE USER reader@'%'; CREATE USER writer@'%'; 
GRANT SELECT, SHOW VIEW ON shop.* TO reader@'%';
GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER ON shop.* TO writer@'%';`)
	return f
}

// corpus are statements for both kinds of servers: reads, changes, and changes that look like reads.
var corpus = append([]string{
	"SELECT * FROM customers", "SELECT count(*), max(price) FROM orders GROUP BY customer", "SELECT * FROM names", "WITH x AS (SELECT * FROM orders) SELECT * FROM x",
	"SELECT 'a; DROP TABLE orders' -- x\n", "SELECT /* DELETE FROM orders */ 1", "EXPLAIN SELECT * FROM orders", "EXPLAIN DELETE FROM orders", "VALUES (1)",
	"SELECT upper(name) FROM customers WHERE id IN (SELECT customer FROM orders)", "SELECT * FROM trap", "EXPLAIN SELECT * FROM trap", "SELECT wipes()", "SELECT lies()",
	"EXPLAIN ANALYZE DELETE FROM orders", "EXPLAIN (ANALYZE) DELETE FROM orders", "ANALYZE FORMAT=JSON DELETE FROM orders", "ANALYZE DELETE FROM orders",
	"WITH x AS (DELETE FROM orders RETURNING *) SELECT * FROM x", "SELECT * INTO copied FROM orders", "SELECT * FROM orders INTO OUTFILE '/tmp/mcp-sql-outfile'", "SELECT 1 INTO @x",
	"COPY orders TO '/tmp/mcp-sql-copy'", "COPY (SELECT 1) TO PROGRAM 'touch /tmp/mcp-sql-program'", "COPY orders TO STDOUT", "DO $$ BEGIN DELETE FROM orders; END $$", "DO sleep(0)",
	"/*!50000 DELETE FROM orders */", "/*M!100000 DELETE FROM orders */", "SELECT 1 /*!, wipes() */", "DELETE FROM orders /*! WHERE id = 1 */", "/*T! EXPLAIN */ DELETE FROM orders",
	"SELECT nextval('numbers')", "SELECT nextval(numbers)", "SELECT setval('numbers', 77)", "SELECT NEXT VALUE FOR numbers", "SELECT lo_create(0)", "SELECT pg_notify('a', 'b')",
	"SELECT set_config('transaction_read_only', 'off', false)", "SELECT set_config('transaction_read_only', 'off', true), wipes()", "SET TRANSACTION READ WRITE", "SET SESSION TRANSACTION READ WRITE",
	"SELECT query_to_xml('DELETE FROM orders', true, true, '')", "SELECT pg_terminate_backend(pg_backend_pid())", "SELECT pg_read_file('/etc/passwd')", "SELECT load_file('/etc/passwd')",
	"CALL wipes()", "PREPARE x AS DELETE FROM orders", "EXECUTE x", "EXECUTE IMMEDIATE 'DELETE FROM orders'", "BEGIN NOT ATOMIC DELETE FROM orders; END", "SET STATEMENT max_statement_time=1 FOR DELETE FROM orders",
	"SELECT @x := 1", "LOCK TABLE orders", "LOCK TABLES orders WRITE", "SELECT * FROM orders FOR UPDATE", "TRUNCATE orders", "HANDLER orders OPEN", "GRANT ALL ON orders TO reader", "ALTER ROLE reader SUPERUSER",
	"CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'", "REFRESH MATERIALIZED VIEW x", "MERGE INTO orders USING customers ON true WHEN MATCHED THEN DELETE", "NOTIFY a", "LISTEN a", "DISCARD ALL",
	"SELECT 1\\; DELETE FROM orders", "SELECT 1\n\nDELETE FROM orders", "SELECT 1;;DELETE FROM orders;", "SELECT '\\'; DELETE FROM orders; -- '", "SELECT \"\\\"; DELETE FROM orders; -- \"", "SELECT $a$'$a$; DELETE FROM orders",
	"SELECT /*/ */ 1; DELETE FROM orders /* */", "SELECT 1 --\n; DELETE FROM orders", "SELECT 1 --x; DELETE FROM orders", "SELECT 5--1", "SELECT 1 # \n; DELETE FROM orders", "INSERT INTO orders SELECT 9, 1, 1, NULL, NULL",
	"PREPARE x FROM 'DELETE FROM orders'", "EXECUTE x USING @a", "DEALLOCATE PREPARE x", "HANDLER orders OPEN AS h", "HANDLER h READ FIRST", "HANDLER h CLOSE", "DO wipes()", "DO 1, wipes()", "SELECT * FROM orders INTO DUMPFILE '/tmp/mcp-sql-outfile'",
	"SELECT * INTO OUTFILE '/tmp/mcp-sql-outfile' FROM orders", "(SELECT 1) UNION (SELECT 2) INTO OUTFILE '/tmp/mcp-sql-outfile'", "LOAD DATA INFILE '/etc/passwd' INTO TABLE customers", "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE customers (name)",
	"LOAD XML LOCAL INFILE '/etc/passwd' INTO TABLE customers", "SELECT 1 /*!99999 INTO OUTFILE '/tmp/x' */", "/*!DELETE*//*!FROM*/orders", "SELECT 1 /*M!50000 INTO OUTFILE '/tmp/mcp-sql-outfile' */", "/*!50000SELECT*/ wipes()", "SELECT/*!,wipes()*/1", "/*!/*!*/DELETE FROM orders*/",
	"SELECT rand(), uuid(), now(6), last_insert_id(77)", "SELECT get_lock('a', 1)", "SELECT benchmark(1, wipes())", "SELECT nextval(shop.numbers)", "SELECT PREVIOUS VALUE FOR numbers", "SELECT lastval(numbers)", "SELECT setval(numbers, 99)", "SELECT master_pos_wait('a', 1)",
	"SELECT * FROM orders PROCEDURE ANALYSE()", "XA START 'x'", "RESET QUERY CACHE", "FLUSH TABLES", "OPTIMIZE TABLE orders", "ANALYZE TABLE orders", "CHECKSUM TABLE orders", "SHOW CREATE TABLE orders", "TABLE orders", "SET @x = (SELECT wipes())", "SELECT (SELECT wipes()) FROM dual",
	"SELECT * FROM orders WHERE id = wipes()", "SELECT * FROM orders ORDER BY wipes()", "SELECT * FROM orders GROUP BY id HAVING wipes()", "SELECT * FROM orders LIMIT 1 INTO @x", "DELETE FROM orders RETURNING id", "INSERT INTO customers VALUES (9, 'x', NULL) RETURNING wipes()", "WITH x AS (SELECT wipes()) SELECT * FROM x",
	// read otherwise with ANSI_QUOTES or NO_BACKSLASH_ESCAPES
	"SELECT \"a\", '\\', wipes() -- '", "SELECT '\\'' , 1 -- ', wipes()", "SELECT \"\\\" , wipes() -- \"", "SELECT \"'\", wipes(), '\"'", "SELECT 'a\\' OR wipes() -- '", "SELECT `a\\`, wipes() -- `",
}, bypasses...)

// batch is how many statements run between two looks at the database.
const batch = 20

// For every statement that query runs, the database is the same afterwards. That holds with the
// classes, and for the engines alone, even for an owner who may do everything, as far as READ ONLY
// reaches.
func testCorpus(t *testing.T, f far) {
	config := databases.DefaultConfig()
	config.Databases = []databases.DatabaseConfig{f.config}
	c := serve(t, config)
	config.Databases = []databases.DatabaseConfig{f.admin}
	owner := serve(t, config)
	before := f.dump()
	ran := 0
	for texts := range slices.Chunk(corpus, batch) {
		for _, text := range texts {
			for _, each := range []*caller{c, owner} {
				if got := each.sql("query", text); !got.refused {
					ran++
				}
			}
		}
		if f.dump() != before {
			t.Fatalf("one of these changed the database: %q", texts)
		}
	}
	if ran < 20 {
		t.Errorf("only %d statements ran", ran)
	}
	for _, file := range []string{"/tmp/mcp-sql-outfile", "/tmp/mcp-sql-copy", "/tmp/mcp-sql-program", "/tmp/attached.db", "/tmp/vacuumed.db"} {
		if _, err := os.Stat(file); err == nil {
			t.Errorf("%s was written", file)
		}
	}
}

// testEngine runs the corpus past the classes, with a role that may only SELECT.
func testEngine(t *testing.T, f far, e engine.Engine) {
	defer func() { must(t, e.Close()) }()
	before := f.dump()
	for texts := range slices.Chunk(corpus, batch) {
		for _, text := range texts {
			call := engine.Call{Text: text, Limits: engine.Limits{Rows: 10, Bytes: 10_000, Timeout: 5 * time.Second}}
			call.Facts.Class = "unknown"     // the connection is not used again
			_, _ = e.Read(t.Context(), call) // with or without an error
		}
		if f.dump() != before {
			t.Fatalf("the engine let one of these change the database: %q", texts)
		}
	}
}

// testChanges makes changes, once for each key.
func testChanges(t *testing.T, f far, param func(int) string) {
	config := databases.DefaultConfig()
	config.Databases = []databases.DatabaseConfig{f.config}
	config.Timeout = 2e9
	c := serve(t, config)
	c.wants("id | price | paid\n1 | 9.50 | "+map[bool]string{true: "true", false: "1"}[f.config.Engine == "postgres"], "query", "SELECT id, price, paid FROM orders WHERE id = "+param(1), 1)
	c.wants("OK — rows affected: 2", "execute", "UPDATE orders SET price = price + "+param(1)+" WHERE customer = "+param(2), 0.5, 1)
	c.wants("Rolled back — rows affected would be: 3", "dry_run", "DELETE FROM orders")
	add := map[string]any{"sql": "INSERT INTO customers VALUES (9, 'Dee', NULL)"}
	var running sync.WaitGroup
	for range 6 {
		running.Go(func() {
			if got := c.call("execute", "key", add); got.refused || got.text != "OK — rows affected: 1" {
				t.Errorf("%+v", got)
			}
		})
	}
	running.Wait()
	for i := range 2 {
		if got := c.call("execute", "table", map[string]any{"sql": "CREATE TABLE made (x int)"}); got.refused {
			t.Errorf("%d: %+v", i, got)
		}
	}
	for range 2 { // a refused statement stores no key
		if got := c.call("execute", "twice", map[string]any{"sql": "INSERT INTO customers VALUES (1, 'x', NULL)"}); !got.refused || !strings.Contains(got.text, "uplicate") {
			t.Errorf("%+v", got)
		}
	}
	c.wants("count(*)\n4", "query", "SELECT count(*) AS \"count(*)\" FROM customers")
	if got := c.sql("explain", "DELETE FROM orders WHERE id = 1"); got.refused || !strings.Contains(got.text, "writes: orders\nestimated rows: 1") {
		t.Errorf("%+v", got)
	}
	facts := c.call("sql_facts", "", map[string]any{"tool": "execute", "arguments": map[string]any{"sql": "DELETE FROM orders"}})
	if facts.value["estimated_rows"] == nil || facts.value["class"] != "write" {
		t.Errorf("%+v", facts)
	}
	if got := c.call("schema", "", map[string]any{"table": "customers"}); !strings.Contains(got.text, "customers (id int") || !strings.Contains(got.text, "KEY, name ") {
		t.Errorf("%+v", got)
	}
	if got := c.sql("execute", "DELETE FROM mcp_sql_calls"); !got.refused {
		t.Errorf("%+v", got)
	}
	// PostgreSQL rolls back what does not end. Of a function of MySQL it is not known what it did.
	slow := map[string]string{"postgres": "SELECT pg_sleep(9)", "mysql": "SELECT sleep(9)"}[f.config.Engine]
	start := time.Now()
	got, err := c.try(t.Context(), "execute", "", map[string]any{"sql": slow})
	unknown := err != nil && strings.Contains(err.Error(), "not known whether")
	if unknown != (f.config.Engine == "mysql") || err == nil && !got.refused || time.Since(start) > 8*time.Second {
		t.Errorf("%+v, %v after %s", got, err, time.Since(start))
	}
}

func TestForeignPostgreSQL(t *testing.T) {
	f := startPostgres(t)
	testCorpus(t, f)
	e, err := postgres.Open(t.Context(), postgres.Config{ReadURL: os.Getenv("SQL_READ"), Timeout: 5 * time.Second})
	must(t, err)
	testEngine(t, f, e)
	testChanges(t, f, func(i int) string { return "$" + strconv.Itoa(i) })
	volatile := f.run("SELECT DISTINCT proname FROM pg_proc WHERE provolatile = 'v' AND pronamespace = 'pg_catalog'::regnamespace")
	for _, name := range strings.Fields(volatile) {
		facts, err := postgres.Classify("SELECT " + name + "()")
		if err == nil && facts.Class == "read" && name != "random" && name != "clock_timestamp" && name != "timeofday" && name != "gen_random_uuid" {
			t.Errorf("%s is volatile, and taken for harmless", name)
		}
	}
}

func TestForeignMariaDB(t *testing.T) {
	f := startMariaDB(t)
	testCorpus(t, f)
	e, err := mysql.Open(t.Context(), mysql.Config{ReadDSN: os.Getenv("SQL_READ"), Timeout: 5 * time.Second})
	must(t, err)
	testEngine(t, f, e)
	// What a server and a data source name set does not count.
	modes := f.run("SELECT @@GLOBAL.sql_mode")
	f.run("SET GLOBAL sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT'")
	odd := f
	for _, name := range []string{"SQL_READ", "SQL_OWNER"} {
		t.Setenv("ODD_"+name, os.Getenv(name)+"?multiStatements=true&interpolateParams=true&allowAllFiles=true&sql_mode=%27ANSI_QUOTES%2CNO_BACKSLASH_ESCAPES%27")
	}
	odd.config.ReadEnv, odd.admin.ReadEnv, odd.config.WriteEnv, odd.config.DryRun = "ODD_SQL_READ", "ODD_SQL_OWNER", "", false
	testCorpus(t, odd)
	e, err = mysql.Open(t.Context(), mysql.Config{ReadDSN: os.Getenv("ODD_SQL_READ"), Timeout: 5 * time.Second})
	must(t, err)
	testEngine(t, odd, e)
	f.run("SET GLOBAL sql_mode = '" + strings.TrimSpace(modes) + "'")
	testChanges(t, f, func(int) string { return "?" })
	config := databases.DefaultConfig()
	config.Databases = []databases.DatabaseConfig{f.config}
	c := serve(t, config)
	if got := c.sql("dry_run", "INSERT INTO loose VALUES (1)"); !got.refused || !strings.Contains(got.text, "has no transactions") {
		t.Errorf("%+v", got)
	}
	// The rows that are not shown are locked, too, and a change after them is made.
	f.run("USE shop;\nDELIMITER //\nCREATE PROCEDURE lists() BEGIN SELECT a.id FROM customers a, customers b, customers c; UPDATE orders SET paid = 0; END//\n" +
		"CREATE PROCEDURE breaks() BEGIN SELECT 1; INSERT INTO customers VALUES (1, 'x', NULL); END//\nDELIMITER ;\nGRANT EXECUTE ON shop.* TO writer@'%';")
	config.MaxRows = 2
	few := serve(t, config)
	if got := few.sql("execute", "CALL lists()"); got.refused || f.run("SELECT count(*) FROM shop.orders WHERE paid = 0") != "3\n" {
		t.Errorf("%+v", got)
	}
	if got := few.sql("execute", "CALL breaks()"); !got.refused || !strings.Contains(got.text, "uplicate") {
		t.Errorf("%+v", got)
	}
	// A key that began and did not come back is not run again.
	f.run("INSERT INTO shop.mcp_sql_calls (call_key, args_sha256, state, result) SELECT 'lost', args_sha256, 'started', '' FROM shop.mcp_sql_calls WHERE call_key = 'table'")
	if got, err := c.try(t.Context(), "execute", "lost", map[string]any{"sql": "CREATE TABLE made (x int)"}); err == nil || !strings.Contains(err.Error(), "not known whether") {
		t.Errorf("%+v %v", got, err)
	}
}
