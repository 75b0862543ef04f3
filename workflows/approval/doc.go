// Package approval is the workflow Approval, which waits for the decision of a person.
//
//	approval.go  its loop and its result; options.go starts it; log.go logs its end
//	update.go    the update that decides; edit.go changes of the arguments; read.go reads answers, also those that came as messages
//	always.go    the standing grant that may come with a yes
//	hooks.go     tells web hooks
//	continued.go what a delegation continues
//	audit.go     what the audit log gets of it
//	judge.go     has it judged by rules that have changed; free.go releases it by them
//	later.go     who has put it off; remind.go reminders; release.go calls that a switch pauses
package approval
