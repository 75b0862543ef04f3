// Package attribute has the search attributes of workflows with their types: package workflows
// sets them, and gateway/service/backend lists by them. Their names are in package contract. A
// new attribute also has to be registered with the namespace
// (deploy/standalone/embedded/namespace.go).
package attribute
