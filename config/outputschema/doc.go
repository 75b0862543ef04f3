// Package outputschema checks the JSON Schemas of the outputs of nodes, and says which fields an
// output may have.
//
//	for _, f := range outputschema.Faults("agent.output_schema", schema) { … }
//	outputschema.MayHave(schema, []string{"items", "0", "title"})
package outputschema
