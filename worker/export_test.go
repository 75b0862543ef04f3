package worker

// PollInterval and WarnAutoRun are tested without servers.
const PollInterval = pollInterval

var WarnAutoRun = warnAutoRun

// Servers are the settings of tool servers as the toolbox takes them.
var Servers = servers

// Models are the entries of models as a router takes them.
var Models = models

// Agents are the agents that work is delegated to, as a client takes them.
var Agents = agents
