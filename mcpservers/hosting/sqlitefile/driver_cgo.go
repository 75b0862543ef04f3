//go:build cgo && !sqlite_pure

package sqlitefile

import (
	"net/url"

	_ "github.com/mattn/go-sqlite3"
)

// Driver names the database/sql driver this binary was built with.
const Driver = "sqlite3"

func setPragma(q url.Values, name, value string) { q.Set("_"+name, value) }
