package commands

// Missing lets tests ask for machines that they do not run on.
var Missing = missing

// AnswerOf is answerOf.
var AnswerOf = answerOf
