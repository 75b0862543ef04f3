// Package autoscaling stands in for the module go.temporal.io/auto-scaled-workers, by a replace
// directive of deploy/standalone. The Temporal server imports that module to start workers on
// AWS, Google Cloud and Kubernetes as queues grow. That is off in an embedded server, whose
// worker is this process, and its clients of three clouds would take 46 MiB of the resident
// memory, a fifth of the program file, and minutes of the first build.
//
// The packages have the names that service/worker of the server uses, and no more than it uses:
// a server that asks finds no worker controllers, and refuses to be given one. A new version of
// the server that uses more of them does not compile; add what it names.
package autoscaling
