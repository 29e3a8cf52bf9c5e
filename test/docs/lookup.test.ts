import { listPages, testPages } from "./pages.ts";

// Reference pages. Most examples share a fleet, in test/e2e/examples.test.ts.
testPages([
  ...listPages("docs/guides/troubleshooting*.md"),
  ...listPages("docs/*/**/*.md").filter((page) => !page.startsWith("docs/guides/")),
  ...listPages("examples/interpreter-webhook/*.md"),
]);
