// Package witness countersigns the checkpoints of logs that others keep, as a witness of C2SP tlog-witness
// with signatures of C2SP tlog-cosignature: the log of another agent, or any other whose public key is
// configured. It signs only what continues what it has signed.
//
//	POST /witness/add-checkpoint                    signs a checkpoint
//	GET  /witness/logs/SHA256-OF-ORIGIN/checkpoint  the newest checkpoint that it has signed, as a note
//
// The state of a log are the files SHA256-OF-ORIGIN/0000000/000, …/001 and so on of a Store, one for each
// checkpoint that was signed. A file is created where there is none, before its signature leaves this
// process. So of two gateways one gets the place, and the other reads what is there and goes behind it;
// nothing that was signed is forgotten. A witness whose store is lost, or restored from an older copy, must
// get a new key.
//
// The protocol has no other proof of who calls than the signature of the log. What is not signed by a
// configured key costs a bounded parse and one check of a signature, and leaves nothing behind. What is
// signed is limited per log (Burst, PerSecond).
//
//	endpoint.go  HTTP   request.go  the body of a request
//	state.go     what was signed of a log, and the rules
package witness
