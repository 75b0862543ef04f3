// Package schema checks values of models against the JSON schemas of tools and answers.
//
//	s, err := schema.New(raw)     // with an error it can still coerce
//	value := s.Coerce(arguments)  // "5" becomes 5 where a number is wanted
//	problem := s.Problem(value)   // one line for a model, or ""
//
// Schemas come from others. They are not loaded from elsewhere, and a check ends after a number
// of steps, because nested choices can make a validation take for ever.
//
//	schema.go   a compiled schema
//	coerce.go   scalars of another type
//	problem.go  what does not fit, in words; misfit.go in one step
//	budget.go   the steps of a check
package schema
