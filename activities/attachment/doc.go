// Package attachment gives a request to a model the files of its conversation that the model takes:
// images of users and of tools, and PDFs of users. The others are mentioned in the texts of users;
// tools describe their results themselves.
//
// Histories have the addresses of files; only here their bytes are read from the blob store.
package attachment
