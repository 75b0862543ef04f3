// Package workercomponent would have the workflows that start workers.
package workercomponent

import "go.uber.org/fx"

// Module provides nothing.
var Module = fx.Options()
