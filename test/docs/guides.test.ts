import { listPages, testPages } from "./pages.ts";

// Apart from the other pages, so that two workers share them. Most examples share a fleet, in test/e2e/examples.test.ts.
testPages([...listPages("docs/*/**/*.md"), ...listPages("examples/interpreter-webhook/*.md")]);
