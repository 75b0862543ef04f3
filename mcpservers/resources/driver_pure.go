//go:build !cgo || sqlite_pure

package resources

import _ "modernc.org/sqlite"

// Driver names the database/sql driver this binary was built with.
const Driver = "sqlite"
