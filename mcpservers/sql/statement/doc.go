// Package statement says what one SQL statement does, in terms that are the same for every
// database: its [Class], and the tables and columns that it names. The packages of the databases
// fill a [Facts] with their parsers; rules of an agent read it.
//
// A class is for routing and for words. It is never the boundary: what may happen to a database
// is decided by its engine, with a read-only transaction and the rights of the role.
//
//	class.go    the classes, and which of two prevails
//	facts.go    what is known of a statement, and how names are collected
//	normal.go   the text without comments, spacing and literals
//	depth.go    how deep the tree of a text can be
package statement
