package store

import "testing"

func TestADuplicateIsToldFromOtherErrors(t *testing.T) {
	db, err := Open(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, c := range []struct {
		statement        string
		fails, duplicate bool
	}{
		{"CREATE TABLE t (a INT PRIMARY KEY, b INT UNIQUE, c INT NOT NULL)", false, false},
		{"INSERT INTO t VALUES (1, 1, 1)", false, false},
		{"INSERT INTO t VALUES (1, 2, 1)", true, true},
		{"INSERT INTO t VALUES (2, 1, 1)", true, true},
		{"INSERT INTO t VALUES (3, 3, NULL)", true, false},
		{"PRAGMA max_page_count = 1", false, false},
		{"CREATE TABLE full (a)", true, false}, // the disk is full
	} {
		_, err := db.Exec(c.statement)
		if (err != nil) != c.fails || isDuplicate(err) != c.duplicate {
			t.Errorf("%s: %v is a duplicate: %t", c.statement, err, isDuplicate(err))
		}
	}
}
