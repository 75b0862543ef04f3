package main

// Main allows the test binary to run as the program.
var Main = main
