package auditing

// Late is what Record does with a decision after many attempts.
var Late = (*Recorder).decided
