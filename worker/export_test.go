package worker

// PollInterval and WarnAutoRun are for tests without servers.
const PollInterval = pollInterval

var WarnAutoRun = warnAutoRun

// Servers returns the settings of tool servers for the toolbox.
var Servers = servers

// Models returns the entries of models for a router.
var Models = models

// Agents returns the agents that work is delegated to.
var Agents = agents
