// Package audit has the types of the audit log: an append-only Merkle log of what was proposed,
// shown, decided, called, and came of it. A Leaf is one event. It has names, times, identities and
// hashes; what people, models and tools wrote is a Text outside of the log, which a leaf commits to
// with a salted hash, so that a text can be erased and the log still be proven.
//
//	kind      id                       written
//	proposal  hash of the call         before its call, usually when an approval opens
//	shown     approval UUID            when an approval opens
//	edit      approval UUID            when somebody approves with changes: the proposal is the changed call
//	decision  approval UUID            when it ends, however that is
//	call      run and activity         when the activity is about to send
//	outcome   run and activity         when it has ended
//	policy    version of the rules     when a worker with other rules starts
//	key       IDs of the keys          when a worker with other keys starts
//	switch    change, target and time  when a switch is set or removed
//	judgement approval and version     when changed rules judge a call that waits
//	release   approval and version     when an operator releases it by them, before its decision
//	limit     agent, limit and time    when a rate limit is changed
//	deputy    change and ID            when a deputy is appointed or revoked
//	grant     change and ID            when a standing grant is given or revoked, and each time it is used
//	deletion  conversation             when a conversation is deleted
//
// The workflow Audit is the one appender. It takes leaves as updates, which wait until the leaf is
// durable, and as signals, which do not.
package audit
