// Package workflows is the Temporal code of a conversation: it waits, starts work and
// keeps state. The rules are in package decide, the sentences that people and models
// read in package wording, the wire types and registered names in package contract.
//
//	workflow      started by                    completes when
//	Conversation  the gateway, or by hand       it is closed; a task also when every message is answered
//	Sequential, Parallel, Loop
//	              a turn or another composite   the nodes inside have ended
//	              node, as a child
//	Approval      the workflow of the leaf      it is decided, expires or is cancelled
//	              that asks, as a child
//	Delivery      the workflow of the leaf      the other agent has received the message, or after
//	              that abandons a task, as a    30 days
//	              child
//	Catalogue     the gateway                   a worker has listed its tools, resources or prompts, or read the system prompt of a server
//	Deputies      the gateway, with the first   never
//	              deputy of an agent
//	Grants        the Approval with the first   never
//	              standing grant of an agent
//	Deletion      the gateway                   a conversation and all that belongs to it is removed,
//	                                            or the deletion is refused
//	Upkeep        a worker, or agent gc         old conversations are deleted, and values collected
//	Rate          the activity that makes a     none of the calls that it has counted counts any more
//	              call that a limit is about
//	Hook          an Approval, as a child,      the web hooks have been told, or after a day
//	              for each event
//	Audit         a worker                      never: it appends to the audit log
//	Push          the gateway, with the first   the task is over, its webhooks have been called, and
//	              webhook of a task             a day has passed
//
//	Conversation: signals message, cancel, close, rename, adopt; report from nodes; question from the
//	              activity that calls a tool (nodes take it too); follow from its Push;
//	              queries conversation, pending, tree, agent; update await_settled (read-only)
//	Approval:     signal and update decide; update later (package contract/later); updates judge and
//	              release, signal release (package contract/review); query approval
//	Push:         signals set and delete, and task from its conversation; query push_configs
//
// # Where to look
//
//	register.go      the workflows; options.go timeouts and retries; package activity executes
//	                 activities, with package handover where they may be local or not
//	conversation.go  Conversation: its loop; requests.go and package signal its signals;
//	                 refusals.go its refusals; publish.go its queries and exports;
//	                 rename.go titles, in the memo of package listing; task.go conversations that
//	                 are tasks
//	turn.go          a turn; pipeline.go a turn of a tree
//	composite.go     nodes with nodes inside: sequential.go, parallel.go, loop.go; child.go
//	                 starts one; report.go its reports; offload.go its values in the store
//	leaf.go          an llm or a2a node: llm.go; generate.go its model; limits.go its limits;
//	                 journal.go its messages
//	call.go          a call of a reply (package doubt: may it have run?); delegate.go to another agent, remote.go its task,
//	                 remote_approval.go its approvals, lost_task.go its loss;
//	                 client_tool.go by the sender of the message
//	ask.go           how a leaf asks a person; askrules.go before a call (package panel), facts.go
//	                 what rules know; describe.go descriptions; grant.go again,
//	                 when the tool has changed; question.go for a tool server
//	answers.go       messages that answer; pause.go calls that a switch pauses
//	rates.go         calls that a rate limit holds (package rates counts)
//	credentials.go   whose token a call uses, and the wait for a login
//	delivery.go      Delivery
//	notify.go        the conversation's side of Push, which is package push
//
// Package approval is Approval, package deputies is Deputies, package grants is Grants. Package adoption has the configuration that a conversation takes over (adopt in turn.go).
//
// Package reset ends what a reset leaves, package deletion is Deletion and Upkeep, package control
// Control, package catalogue Catalogue, package numbers Numbers, package appender Audit, which package ledger tells of changes;
// package console has the commands in details, package proof says who has sent what names a
// caller, package board tells the gateway of the process what has settled.
//
// # How a conversation runs
//
// One loop owns every signal channel (conversation.go). It starts a turn for the oldest
// queued message and keeps receiving while the turn runs in its own coroutine (turn.go):
// further messages are queued, cancel stops the turn, close ends the conversation. A turn
// calls the model, then runs the calls of the reply, or asks a person first, and calls the
// model again, until a reply is text only. Whenever the turn pauses or ends, the
// conversation is exported to its file. Only then are the pending requests settled, which
// completes their await_settled updates. A failed export is retried between turns, while an
// approval waits, and before a closed conversation completes, as long as the history has room.
//
// # How a tree runs
//
// A leaf (leaf.go; llm.go and call.go, delegate.go) is an llm or a2a node that runs. It
// knows the workflow that contains it only as the interface parent: the turn of an agent
// that is a single node (turn.go), or a composite node (composite.go). A composite node is a
// workflow: it runs its leaves in coroutines and its composite nodes as children, and merges
// their results with decide.Merge. It never fails: rejections, failures and cancellations
// are outcomes in its result. State is returned as a delta, which the parent merges in
// declared order.
//
// The messages of a leaf are collected in its segment. When the leaf ends they move behind
// those of the nodes before it (collect), so that parallel branches do not interleave. In
// the surrounding transcript a long segment is a single entry, contract.Segment.
//
// A composite node reports to its parent workflow by signal (report.go); the parent adds its
// own report in front and passes both on, up to the conversation: at once when an approval
// opens or closes, else at decreasing frequency. So the messages before an approval always
// arrive before it, and the conversation, which cannot continue as new during a turn,
// receives signals from one child only, however many nodes run below. (Signalling the
// conversation directly would need a wait at every level for the first report, and cost it
// four events for every nested node.) A report is a complete snapshot and one coroutine
// sends them, so a late report is harmless. Decisions and lost nodes are in no snapshot and
// in no result; they are resent until they have arrived. The conversation (pipeline.go)
// keeps the latest report of each running node and derives from them what the API returns:
// messages, pending approvals, the tree.
//
// A composite node offloads large values to the blob store before it reports or returns
// them (offload.go): no signal, result or input grows with the number of nodes or with the
// length of their messages.
//
// A conversation that is an A2A task (task.go) completes with the turn after which nothing is
// left to answer, unless the caller has to log in first. The export of the answer already has
// the status completed, so that a task costs no more than a turn.
//
// # How work is delegated
//
// A message to another agent creates a task there (remote.go), which is polled until it
// ends, at decreasing frequency and for at most the peer's timeout. When the task asks for
// something, a person here decides (remote_approval.go). Meanwhile polling continues: an
// approval that was decided elsewhere is withdrawn here. A workflow that stops waiting for a
// task cancels it: when the turn was cancelled, the node's time is up, the agent cannot be
// asked any more, it requires a login, or it continues after a refusal. A refusal or a
// cancellation that the agent does not receive at once is left to a Delivery (delivery.go),
// which outlives the conversation.
//
// The first message of a delegation is completed even when the turn is cancelled, as a
// destructive call is: an interrupted activity would not know the task that the message may
// have created, and nobody could cancel it. Agents of the present protocol answer within a
// minute; one of an old dialect holds the turn until it is done, ten minutes at most.
//
// A task of a peer with dialogues continues the one that ended before it (package delegation). The
// conversation carries the dialogues; composite nodes get theirs as input and return them.
//
// A destructive call or delegation, or an approval sent to another agent, is repeated
// automatically only if it was not sent, or if the receiver has declared that it
// deduplicates. The activities report this by the kind of their failure. Every other
// failure, including one that no activity produced (outcomeUnknown in call.go), asks a person.
//
// # How a tool server asks
//
// A call whose server may ask a person (Call.MayAsk) is a regular activity that may take a
// day. The activity signals a question to its own workflow, where the leaf opens an approval
// for it (question.go), and waits for the decision. The end of the call withdraws its open
// questions. A message to a conversation with an open question is the answer (answers.go):
// it is validated here, sent to the approval, and settled like a decision. If the schema of
// the answer is too large for history it is in the blob store, and an activity reads the
// answer (approval/read.go).
//
// An Approval sends its reminders to the workflow that asks on the same channel; readers see them
// as notices (ask.go).
//
// A client tool (Call.Client) is executed by the sender of the message: the call waits as an
// approval whose answer is the result (client_tool.go).
//
// # How webhooks are called
//
// A Push holds the webhooks of a task. At its start it signals follow to the conversation,
// which from then on signals each new state (notify.go), the last one before it completes. A
// conversation that was started with Notify does so from the start; signals before the Push
// exists are lost without harm, because follow is answered with the present state. Every
// webhook has its own coroutine and queue (push/webhook.go). A newer state replaces an undelivered
// one, unless that is final. The replaced delivery ends before the next begins, so a webhook
// never receives an older state after a newer one. Retries are done by the server and cost no
// history.
//
// # How a model is called
//
// Before each call a leaf asks a person for every limit that is reached (limits.go). It tries
// the models of its route in order (generate.go), each in activities with their own retries.
// An activity that finds the messages too long returns which of them need a summary; the leaf
// has it made and calls the model again. The summary is kept with the conversation, or with the
// leaf in a tree. The transcript keeps all messages.
//
// A message may demand that the model calls one of the sender's tools (package toolchoice). That is
// for the first reply in the turn that is carried out; for all replies it would never end. In
// a tree it is for one node (package choice, Inside). Only the activity knows what is offered: it
// drops a demand for anything but a tool of the sender.
//
// # What a node's timeout counts
//
// A node's timeout counts elapsed time without the time spent waiting for people: leaves
// measure it (run.Stopwatch), composite nodes pass on the remainder.
//
// # How a destructive call is paused
//
// The activity that is about to make a destructive call reads the switches of the namespace first
// (package control). If one pauses the call, it fails with KindPaused, before anything was sent or
// claimed, and the leaf waits in an Approval of its own (pause.go), whatever has been approved. That
// registers with the Control (approval/release.go) and ends when the Control releases it; then the call is made with its
// grant, and checked again.
//
// A turn waits deep inside of its calls, and a cached conversation keeps its stack, which Go doubles
// when it is full. So the functions on that path pass what is long by pointers, and do what they do
// before and after the wait in functions of their own. Measured, it has 17 KB in use and a stack of 32
// KiB (deploy/standalone/bench/README.md).
//
// # How an approval is decided
//
// The gateway decides with an update, which checks, decides and answers in one round trip. An
// update that is refused leaves no event; one that decides takes three or four database
// transactions fewer than the signal and the wait for the result (approval/update.go). An update
// is not durable before a worker has accepted it, so the gateway sends the signal when none does
// in time, and to workers that do not know the update. The signal stays what people type. One
// loop takes both, signals first: they were recorded when they came. Each update has its own
// ID. With the ID of its request, the server would return the first result to a repeated
// request too, and the gateway could not mark the reply as repeated.
//
// # How rules that change reach what waits
//
// A worker that starts with rules sends the update judge, with their version, to each Approval that
// has not seen them. An activity judges the call (any worker that has these rules), and the loop takes
// the result: more demands count at once, fewer are only noted. The update release has the call judged
// once more and ends the Approval by the rules alone; package panel then asks whom they name.
//
// # Whose token is used
//
// A turn and all its calls use the requester's token. If the agent is configured so
// (Agent.CallAs), the token that came with a decision is used for the approved call, or for
// sending the decision to another agent, and for nothing else (credentials.go). The memo of
// an approval says which token applies (contract.MemoCallAs), so that the gateway stores no
// token that is not used.
//
// # What lists show
//
// A list never queries a workflow: it reads memos and search attributes. An approval gets its
// card as a memo when it opens (wording.Card). A conversation gets its title from the caller
// that starts it, or else with its first message, and the time of its last change in the
// memo, at most once a minute (package listing). A title that somebody gives by the signal
// rename replaces it, and is carried from run to run (rename.go).
//
// # What people approve
//
// A description is complete and shows every character visibly (wording.Shown), or its first
// line says that it is cut and where the rest is. Values are quoted so that they cannot be
// mistaken for words of this program; only calls of a server that the configuration marks as
// ours (Call.Wording) have sentences of their own.
//
// A grant is for one address and one tool: every destructive call of a model's reply is bound
// to the server's address and the tool's definition (contract.Binding). The activity compares
// them before it sends; a difference asks again (grant.go), once for each change. Calls of
// older histories have no binding. A delegation goes to the URL that the conversation was
// started with.
//
// # What details show
//
// Workflow details are not part of the history. They are produced when somebody looks, and so
// may contain what only the worker knows: the server address for the commands (package console).
//
// # What a reset does
//
// A run that an operator resets starts again from a point of its history. The server hands
// children started before that point over to the new run. Children started after it keep
// running without a parent: the new run cancels them (package reset), and starts its nodes under
// other workflow IDs. The idempotency keys of their calls stay the same, and workers remember
// outside of histories which destructive calls they have sent: a call that the previous run
// has sent has an unknown outcome, and a person is asked (activities.Claims).
//
// # Determinism
//
// No clock, no randomness, no map iteration that leads to a command; workflowcheck enforces
// it, and every build replays testdata/histories (replay_test.go). Anything that changes the order or number
// of commands needs workflow.GetVersion while conversations of the old shape may be waiting,
// and they may wait for months.
//
// # Continue-as-new
//
// A conversation continues as new only between turns: no turn, no approval, all handlers
// finished, all channels empty, the workflow not cancelled. Queued messages are carried over:
// a long run leaves the next turn to its successor, but each run has at least one turn. State
// carried over is contract.Carried, besides memo and search attributes; the static summary of
// the start is lost, because the server keeps it with the first run only. Sequences continue
// as new between steps and loops between iterations, when no child runs, because a parent's
// continue-as-new counts as its close; they carry contract.NodeCarried. A Push interrupts its
// deliveries and continues as new when none is under way; contract.PushCarried has the
// undelivered states with their deadlines. An Approval does so after many signals that decided
// nothing; its parent stays the same.
//
// While an approval waits, its conversation cannot continue as new. What callers can send
// meanwhile is bounded elsewhere: the gateway queries before it signals (predictRefusal) and
// does not signal a Push without need; validateAwait rejects updates that would wait for
// nothing, which leaves no event.
package workflows
