package auditlog

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"agent-stop-and-go/workflows/credential/cosigner"
)

// Witness are the settings of an agent that countersigns the checkpoints of logs which others keep. A nil
// *Witness means that it does not.
type Witness struct {
	Name string   `yaml:"name" jsonschema:"default=agent-stop-and-go/witness,minLength=1" jsonschema_description:"The name of the witness, which its key and signatures have, such as witness.example.com. It cannot be changed later."`
	Logs []string `yaml:"logs" jsonschema:"minItems=1" jsonschema_description:"Public keys of the logs, as agent audit key prints them there. Several keys of one log, after its key was changed, are all of this list."`
}

// Cosigner is a witness of the audit log that is reached by HTTP.
type Cosigner struct {
	URL string `yaml:"url" jsonschema:"minLength=1" jsonschema_description:"Its URL without add-checkpoint, such as https://other.example.com/witness for another agent."`
	Key string `yaml:"key" jsonschema:"minLength=1" jsonschema_description:"Its public key, as agent audit key --witness prints it there."`
}

// DefaultWitnessName is the name of a witness without a configured one.
const DefaultWitnessName = "agent-stop-and-go/witness"

// WitnessKeyVariable is the environment variable with the key of the witness, as agent audit key --witness
// --new prints it.
const WitnessKeyVariable = "AGENT_WITNESS_KEY"

// WitnessKeyFile returns the path of the key of the witness in a data folder, if it is not in the
// environment.
func WitnessKeyFile(dataDir string) string { return filepath.Join(dataDir, "witness.key") }

var witnessName = regexp.MustCompile(`^[^+\s]{1,200}$`)

// Check reports what is wrong with the settings, by their keys.
func (w *Witness) Check(report func(key, problem string)) {
	if w == nil {
		return
	}
	if !witnessName.MatchString(w.Name) {
		report("name", "must be a name without spaces and +, such as witness.example.com")
	}
	if len(w.Logs) == 0 {
		report("logs", "must have the public keys of the logs")
	}
	for i, k := range w.Logs {
		key := fmt.Sprintf("logs[%d]", i)
		if strings.HasPrefix(k, private) {
			report(key, isPrivate)
		} else if _, err := note.NewVerifier(strings.TrimSpace(k)); err != nil {
			report(key, "must be the public key of a log, NAME+HASH+BASE64")
		}
	}
}

// CheckBoth reports what is wrong with the settings of a log and of a witness, by their keys in the file.
func (s *Audit) CheckBoth(w *Witness, report func(key, problem string)) {
	s.Check(func(key, problem string) { report("audit."+key, problem) })
	w.Check(func(key, problem string) { report("witness."+key, problem) })
}

// WitnessNames returns the names of the witnesses that have a URL, as their keys have them.
func (s *Audit) WitnessNames() (names []string) {
	for _, v := range s.verifiers() {
		names = append(names, v.Name())
	}
	return names
}

// WitnessKeys returns the IDs of their keys, sorted.
func (s *Audit) WitnessKeys() (ids []string) {
	for _, v := range s.verifiers() {
		ids = append(ids, fmt.Sprintf("%08x", v.KeyHash()))
	}
	slices.Sort(ids)
	return ids
}

// verifiers returns the keys of witnesses, which Check has checked.
func (s *Audit) verifiers() (out []note.Verifier) {
	if s == nil {
		return nil
	}
	for _, c := range s.Witnesses {
		if v, err := cosigner.Verifier(c.Key); err == nil {
			out = append(out, v)
		}
	}
	return out
}

const (
	private   = "PRIVATE+KEY+"
	isPrivate = "is a private key, which does not belong in this file"
)

// checkCosigners reports what is wrong with the witnesses of a log.
func (s *Audit) checkCosigners(report func(key, problem string)) {
	seen := map[string]bool{}
	for i, c := range s.Witnesses {
		at := fmt.Sprintf("witnesses[%d].", i)
		if !strings.HasPrefix(c.URL, "https://") && !strings.HasPrefix(c.URL, "http://") {
			report(at+"url", "must be an http or https URL")
		}
		switch v, err := cosigner.Verifier(c.Key); {
		case strings.HasPrefix(c.Key, private):
			report(at+"key", isPrivate)
		case err != nil:
			report(at+"key", "must be the public key of a witness, NAME+HASH+BASE64: "+err.Error())
		case seen[fmt.Sprint(v.Name(), v.KeyHash())]:
			report(at+"key", "is there twice")
		default:
			seen[fmt.Sprint(v.Name(), v.KeyHash())] = true
		}
	}
	if s.Required < 0 || s.Required > len(s.Witnesses) {
		report("required", "must be 0, or a number of the witnesses that have a URL")
	}
}
