import { listPages, testPages } from "./pages.ts";

// Pages are split over three files, so that two workers share them.
testPages(listPages("docs/guides/*.md").filter((page) => !page.includes("troubleshooting")));
