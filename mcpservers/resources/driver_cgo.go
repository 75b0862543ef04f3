//go:build cgo && !sqlite_pure

package resources

import _ "github.com/mattn/go-sqlite3"

// Driver names the database/sql driver this binary was built with.
const Driver = "sqlite3"
