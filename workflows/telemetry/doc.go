// Package telemetry has the metrics and traces of all processes of an agent: the names, units, help
// texts and attributes of metrics in one table (Table), and functions to record and to trace.
//
// It is the only package through which workflows, activities, gateway and configuration use
// OpenTelemetry. It needs no set-up: while no provider is set (package config/telemetry), a
// recording costs a few nanoseconds and keeps nothing. Functions with a workflow.Context record
// nothing in replays, and may be called by workflows.
//
// Names that come from outside (models, tools, agents) are attributes only up to a number of
// different values; further ones are recorded as "other". Nothing that a person has written is
// an attribute.
//
//	table.go     the table and its instruments
//	record.go    functions for activities, gateway and stores
//	failure.go   the kinds of errors
//	observe.go   values that are read when metrics are collected
//	workflow.go  functions for workflows
//	names.go     the limit of different names
//	trace.go     spans of requests and calls; ids.go their IDs
//	propagate.go the trace in headers of workflows, signals and activities
//	turn.go      spans of a turn
package telemetry
