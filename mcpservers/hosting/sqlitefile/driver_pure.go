//go:build !cgo || sqlite_pure

package sqlitefile

import (
	"net/url"

	_ "modernc.org/sqlite"
)

// Driver names the database/sql driver this binary was built with.
const Driver = "sqlite"

func setPragma(q url.Values, name, value string) { q.Add("_pragma", name+"("+value+")") }
