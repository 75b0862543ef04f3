// Package auditing connects activities with the audit log. Appender has the activity that writes it
// (package merkle), for the workflow Audit; Recorder says what happens to approvals, calls and
// conversations, and keeps the texts. All updates of a process go through one sender, so that calls
// that come together need one.
package auditing
