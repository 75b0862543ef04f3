package worker

// LookEvery and WarnUnasked are tested without servers.
const LookEvery = lookEvery

var WarnUnasked = warnUnasked
