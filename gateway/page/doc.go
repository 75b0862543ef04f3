// Package page is the page for people: talk to the agent, see what waits, and decide. It serves
// static files. Everything else the page does itself, with the REST API and its event streams,
// so another program can do all of it, too.
//
// # Where to look
//
//	page.go     the document at / and the files below /page/: types, caching, policy
//	files/      the sources of the page
//	bundle.js   the modules of files/ in one small file, made by go generate; this is what
//	            browsers run
//	blocks.js   the same of files/blocks.js, which is loaded when the first Markdown is shown: the
//	            first approvals of an inbox are on the screen before
//
// After a change in files/, run
//
//	go generate ./gateway/page
//
// and commit bundle.js and blocks.js with it. A test fails while one is out of date. To merge two
// branches that changed the page, merge files/ and generate them again.
//
// The modules in files/, from the inside to the outside:
//
//	api.js           requests, and their errors in words; events.js  event streams, with resume
//	session.js       the session of the browser: token, renewal, end; login.js  the login, in place
//	tools.js         the login for tools, which a web process keeps
//	transcript.js    events to entries; shared.js  events to the agent's state
//	exact.js         JSON with its numbers as they were written
//	reveal.js        texts with their invisible characters visible
//	markdown.js      Markdown as templates; blocks.js  its blocks to sanitised HTML
//	files.js         files to send with a message
//	drafts.js        what is typed and not sent, across reloads; time.js  points in time
//	words.js         what an approval means: why, how risky, what a yes, a no and silence do
//	arguments.js     arguments, complete; changes.js  what they change, line by line
//	form.js          a form from a JSON Schema; edit.js  changes of arguments before an approval
//	card.js          an approval, waiting or decided; approval.js  alone at its address
//	waiting.js       what waits; notices.js  notices of the browser about it
//	inbox.js         what waits, to decide by keyboard; secondlook.js  several at once
//	run.js           the nodes of a run
//	whole.js         what is done with a conversation as a whole
//	entries.js       texts, calls and notices; conversation.js  a conversation with its input
//	commands.js      commands such as !list, and their offer
//	welcome.js       what the agent can do
//	sidebar.js       the list of conversations; main.js  starts the page
//	router.js        views and their addresses; html.js  lit-html, for all of them
//	npm/             code of others, unchanged; SHA256SUMS has its hashes
//
// # What is shown
//
// The page keeps nothing of a conversation. It follows the events of the conversation from its
// beginning and reads each approval as the API has it, so a reload, another tab and another
// browser show the same. A browser keeps only unsent texts, the reader's name, and a session ID;
// the cookie of a login is out of the reach of scripts.
//
// # Foreign text
//
// Models, tools, other agents and people write what the page shows. lit-html inserts it as text.
// Only markdown.js makes HTML of it, by way of DOMPurify in blocks.js and a list of harmless elements without
// images. The policy of the document allows scripts and styles of this server only, no inline
// script, no eval, and only the Trusted Types policies of lit-html and DOMPurify.
//
// # A new version of an npm package
//
// What nothing uses of DOMPurify is left out of blocks.js: see unused in bundle_test.go, which fails
// when a version has other parts.
//
// Copy its files and its licence unchanged into npm/NAME-VERSION, correct the imports in html.js
// or blocks.js, generate the scripts, and run in npm/:
//
//	find . -type f ! -name SHA256SUMS | LC_ALL=C sort | sed 's,^\./,,' | xargs sha256sum > SHA256SUMS
package page
