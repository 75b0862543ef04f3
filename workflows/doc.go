// Package workflows is the Temporal plumbing of a conversation. The rules are
// in package decide, the sentences that people and models read in package wording,
// the types and names in package contract; what is here waits, starts, remembers
// and hands over.
//
//	workflow      started by                    ends when
//	Conversation  the gateway, or by hand       it is closed; a task also when all is answered
//	Sequential, Parallel, Loop
//	              a turn or another of them,    the nodes inside have ended
//	              as a child
//	Approval      whoever runs the leaf that    it is decided, expires or is cancelled
//	              asks, as a child
//	Delivery      whoever leaves a task of        that agent has heard of it, or 30 days are over
//	              another agent, as a child
//	Catalogue     the gateway                   a worker has listed its tools, resources or prompts
//	Push          the gateway, with the first   the task is over, its webhooks know, and a day
//	              webhook of a task             has passed
//
//	Conversation: signals message, cancel, close, report from nodes, and question
//	              from the activity that calls a tool (nodes take it too); queries
//	              conversation, pending, tree; update await_settled (waits, changes nothing);
//	              signal follow from its Push
//	Approval:     signal decide; query approval
//	Push:         signals set and delete, and task from its conversation; query push_configs
//
// # How a conversation runs
//
// One loop owns every signal channel (conversation.go). It starts a turn for
// the oldest queued message, and goes on receiving while the turn runs in a
// coroutine of its own (turn.go): further messages queue up, cancel stops the
// turn, close ends the conversation. A turn asks the model, runs the calls or
// asks a human first, and asks the model again, until there is a text. Whenever
// it pauses or ends the conversation is exported to its file, and only then are
// the requests behind it settled, which releases their await_settled. An export
// that fails is owed: it is tried again between turns, while an approval waits,
// and before a closed conversation completes, as long as the history has room.
//
// # How a tree runs
//
// A leaf (leaf.go; llm.go and calls.go, delegate.go) is an llm or a2a node at work.
// It knows nothing of what it runs in but the interface host: the turn of an agent
// that is one node (turn.go), or a composite node (composite.go). A composite node
// is a workflow: it runs its leaves in coroutines and its composite nodes as
// children, and adds up their results with decide.Merge. It never fails: a
// rejection, a failure and a cancellation are outcomes in its result. State comes
// back as a delta that the parent merges in declared order.
//
// The messages of a leaf are collected in its part and move behind those of the
// nodes before it when it ends (collect), so that parallel branches do not mix. In
// the transcript around it a long one stands as a single entry, contract.Part.
//
// A composite node reports to the workflow around it by signal (report.go), which
// passes the report on with its own in front, up to the conversation: at once
// when an approval opens or closes, else at a pace that slows down. So what led
// to an approval always arrives before it, and the conversation, which cannot
// continue as new during a turn, hears from one child only, however many nodes
// run below. (Signalling the conversation directly needs a wait at every
// hand-over for the first, and costs it four events for every nested node.) A
// report is a whole snapshot and one coroutine sends them, so a late one does no
// harm; what is in no snapshot and in no result (decisions, lost nodes) is owed
// until it has arrived. The conversation (pipeline.go) keeps the latest report of
// each node that runs, and makes from them what the API shows: messages, pending
// approvals, the tree.
//
// What a composite node holds is folded into the blob store before it is reported
// or returned (fold.go): no signal, result or input grows with the number of nodes
// or the length of what they say.
//
// A conversation that is a task of A2A (task.go) ends with the turn after which
// nothing is left to be answered, unless somebody has to log in first. The answer's
// own export says so already, so that a task costs no more than a turn.
//
// # How work is delegated
//
// A message to another agent makes a task there (remote.go), which is followed to its
// end: while it works it is looked at ever more rarely, for as long as the peer's
// timeout says, and when it asks for something, a person here decides (proxy.go).
// Meanwhile it is looked at too: what was decided elsewhere is withdrawn here. Who
// stops waiting for a task cancels it: the turn was cancelled, the node's time is up,
// the agent cannot be asked any more, it wants a login, or it goes on after a refusal. A
// refusal or a cancellation that the agent does not hear at once is left to a Delivery
// (delivery.go), which outlives the conversation.
//
// The first message of a delegation is seen through when the turn is cancelled, as a
// destructive call is: an activity that is stopped half-way does not know of the task
// that may have come of it, and nobody could cancel that. Agents of today answer within
// a minute; one of an old dialect holds the turn until it is done, ten minutes at most.
//
// What must not be carried out twice, a destructive call or delegation and an approval
// told to another agent, is repeated by itself only where it was not sent, or where the
// far side has declared that it knows it again. The activities tell that by the kind of
// their failure. Every other failure, also one that no activity has made (inDoubt in
// calls.go), asks a person.
//
// # How a tool server asks
//
// A call whose server may ask a person (Call.MayAsk) is a regular activity that may
// take a day. It signals a question to its own workflow, where the leaf opens an
// approval for it (question.go), and waits for what that comes to. Whatever ends
// the call withdraws its questions. A message to a conversation with an open
// question is the answer (answers.go): it is checked here, sent to the approval,
// and settled like a decision. The schema of an answer that is too large for history is
// in the blob store; answers are read by it in an activity then (reading.go).
//
// A tool of the client (Call.Client) is called by whoever sent the message: the
// call waits as an approval whose answer is the result (client.go).
//
// # How webhooks are told
//
// A Push holds the webhooks of a task. When it begins it signals follow to its
// conversation, which from then on signals each state it comes to (notify.go), and the
// last one before it completes. A conversation that began with Notify does so from the
// start; that nobody hears it yet is no matter, because follow is answered with the
// present state. Every webhook has a coroutine and a queue of its own (courier.go). A
// state that is not delivered gives way to the next one, but a final one does not; a
// delivery that gives way has ended before the next begins, so a webhook never hears of
// an older state after a newer one. Retries are the server's: they cost no history.
//
// # How a model is asked
//
// Before each call a leaf asks a person for every limit that is reached (limits.go).
// It asks the models of its route in turn (generate.go), each in activities with
// retries of their own. An activity that finds the messages too many says which
// need a digest; the leaf has that made and asks again. The digest is kept with the
// conversation, or with the leaf in a tree, and the transcript keeps everything.
//
// # What a node's timeout counts
//
// A node's timeout counts time on the clock without the waiting for people: leaves
// measure (stopwatch), composite nodes hand down what is left.
//
// # Whose token
//
// The turn is the requester's, with every call in it. Where the agent says so
// (Agent.CallAs) the token that came with a decision goes with the call that was
// approved, or with the telling of it to another agent, and with nothing else
// (credentials.go). An approval says in its memo which it is (contract.MemoCallAs), so that
// the gateway keeps no token that nobody uses.
//
// # What lists show
//
// A list never asks a workflow: it reads memos and search attributes. An approval gets
// its card as a memo when it opens (wording.Card). A conversation gets its title from who
// starts it, or else with its first message, and the time of its last change in the
// memo, once a minute at most (listing.go).
//
// # What people approve
//
// A description is complete and every character of it is visible (wording.Shown), or its
// first line says that it is not, and where the rest is. Values stand so that they cannot
// be taken for words of ours; only calls of a server that is ours by configuration
// (Call.Wording) have words of ours.
//
// A grant is for one place and one tool: the reply of the model binds every destructive
// call to the server's address and the tool's definition (contract.Binding), the
// activity compares before it sends, and what differs asks again (grant.go), once for
// each change. Calls of older histories are bound to nothing. A delegation goes to the
// URL that the conversation began with.
//
// # What details show
//
// Details are no part of a history. They are made when somebody looks, and so may have
// what only the worker knows: the address of the server that commands are for
// (console.go).
//
// # What a reset does
//
// A run that an operator resets starts again from a point of its history. What was started
// before that point the server hands over to the new run. What was started after it goes
// on, for nobody: the new run cancels it (reset.go), and gives the nodes that it starts
// other workflow IDs. The keys of their calls stay the same, and the workers remember
// outside of histories which destructive calls they have sent: one that the run before
// has sent has an unknown outcome, and a person is asked (activities.Claims).
//
// # Determinism
//
// No clock, no randomness, no map iteration that reaches a command; workflowcheck
// guards it and testdata/histories is replayed in every build. Anything that
// changes the order or number of commands needs workflow.GetVersion while
// conversations of the old shape may be waiting — and they may wait for months.
//
// # Continue-as-new
//
// Only between turns: no turn, no approval, all handlers finished, all channels
// empty, the workflow not cancelled. Queued messages are carried along: a run that is
// long leaves the next turn to its successor, but has one turn itself. What survives is
// contract.Carried, besides memo and search attributes. The static summary given
// at the start does not: the server keeps it with the first run only. Sequences
// continue as new between steps and loops between iterations, when no child runs:
// a parent's continue-as-new counts as its close. What survives is
// contract.NodeCarried. A Push interrupts its deliveries and continues as new when none
// is under way; what is undelivered is in contract.PushCarried, with its deadline. An
// Approval does so after many signals that decided nothing; its parent stays the same.
//
// While an approval waits its conversation cannot. What reaches it then is bounded
// elsewhere: the gateway asks before it signals (foresee) and leaves a Push alone that
// needs nothing; validateAwait refuses updates that wait for nothing, without a trace.
package workflows
