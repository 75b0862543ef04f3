// Package witness has witnesses of the audit log that are reached by HTTP (C2SP tlog-witness): other agents, or
// programs that others wrote. They countersign its checkpoints (C2SP tlog-cosignature).
//
//	remote.go     Remote, the client of one       panel.go  Panel, all of a log: sends them the newest
//	                                                       checkpoint, and keeps what they sign
package witness
