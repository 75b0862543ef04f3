// Package store is what the tools of mcp-drive need of a place for files, and what all places have in common:
// names, versions and marks of calls. Packages google, bucket and folder implement [Store].
//
// A file has an ID. At Google Drive it says nothing of where the file is; elsewhere it is the path below the
// configured folder, with slashes. The empty ID is the configured folder itself.
package store
