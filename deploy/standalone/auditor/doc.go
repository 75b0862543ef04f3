// Package auditor reads the audit log for the commands of operators: open.go finds it and what it is
// compared with, reconcile.go compares it with the histories, importer.go sends it deletions that are older, export.go proves a conversation, and
// figures.go counts how people decide.
package auditor
