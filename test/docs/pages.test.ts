import { listPages, testPages } from "./pages.ts";

testPages([...listPages("README.md"), ...listPages("docs/*.md")]);
