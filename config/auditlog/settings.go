// Package auditlog has the settings of the audit log.
package auditlog

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// Audit are the settings of the audit log. A nil *Audit means that there is none.
type Audit struct {
	Origin  string   `yaml:"origin" jsonschema:"default=agent-stop-and-go/audit,minLength=1" jsonschema_description:"The name of the log, which its checkpoints and keys have, such as agents.example.com/audit. It cannot be changed later."`
	Trusted []string `yaml:"trusted" jsonschema_description:"Public keys that have signed the log before, after its key was changed."`
	Witness string   `yaml:"witness" jsonschema_description:"A folder on another volume, in which each checkpoint is countersigned and kept: whoever changes the log and has its key too cannot change these. Empty: none."`
	// Witnesses are reached by HTTP.
	Witnesses []Cosigner `yaml:"witnesses" jsonschema_description:"Witnesses that countersign each checkpoint over HTTP (C2SP tlog-witness): other agents, or programs that others wrote."`
	Required  int        `yaml:"required" jsonschema:"default=0,minimum=0" jsonschema_description:"How many of these witnesses must have signed before a destructive call starts. With 0 calls do not wait for witnesses, which sign within seconds."`
}

// DefaultOrigin is the name of a log without a configured one.
const DefaultOrigin = "agent-stop-and-go/audit"

// KeyVariable is the environment variable with the key of the log, as agent audit key --new prints it.
const KeyVariable = "AGENT_AUDIT_KEY"

// keyFile is the file in data_dir with the key, if it is not in the environment.
const keyFile = "audit.key"

// KeyFile returns the path of the key in a data folder.
func KeyFile(dataDir string) string { return filepath.Join(dataDir, keyFile) }

var (
	origin    = regexp.MustCompile(`^[A-Za-z0-9._/-]{1,200}$`)
	publicKey = regexp.MustCompile(`^[^+\s]+\+[0-9a-f]{8}\+[A-Za-z0-9+/=]+$`)
)

// Check reports what is wrong with the settings, by their keys.
func (s *Audit) Check(report func(key, problem string)) {
	if s == nil {
		return
	}
	if !origin.MatchString(s.Origin) {
		report("origin", "must have letters, digits, and . _ / - only, such as agents.example.com/audit")
	}
	for i, k := range s.Trusted {
		switch {
		case strings.HasPrefix(k, private):
			report(fmt.Sprintf("trusted[%d]", i), isPrivate)
		case !publicKey.MatchString(k):
			report(fmt.Sprintf("trusted[%d]", i), "must be a public key, NAME+HASH+BASE64")
		}
	}
	s.checkCosigners(report)
}
