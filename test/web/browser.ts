/** A real browser: Chromium of the system, or the one that an npm package brings. */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";
import type { Browser, Page } from "playwright-core";

const INSTALLED = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/**
 * Arguments of the bundled browser that a test must not have: in a single process a second context never renders, and the
 * page is tested behind the web security that its users have.
 */
const UNSUITABLE = new Set(["--single-process", "--disable-web-security", "--allow-running-insecure-content"]);

/** The reason why there is none, as a string. */
export async function openBrowser(): Promise<Browser | string> {
  const named = process.env["CHROMIUM"];
  const installed = named ?? INSTALLED.find((path) => existsSync(path));
  // Containers have no user namespaces for the sandbox of Chromium; the pages are our own.
  const args = ["--no-sandbox", "--disable-dev-shm-usage"];
  if (installed !== undefined) return chromium.launch({ executablePath: installed, args });
  try {
    const { default: bundled } = await import("@sparticuz/chromium");
    return await chromium.launch({
      executablePath: await bundled.executablePath(),
      args: [...bundled.args.filter((argument) => !UNSUITABLE.has(argument)), ...args],
    });
  } catch (error) {
    return `no browser runs here: ${error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error)}; install chromium, or name one in $CHROMIUM`;
  }
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/** What axe finds of WCAG 2.2 A and AA: `rule: element`. */
export async function accessibilityProblems(page: Page, only: readonly string[] = RULES): Promise<string[]> {
  // As the test and not as the page, whose policy allows no scripts of others.
  await page.evaluate(axe);
  // Texts, because the types of a page are not those of Node.
  const { violations } = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>(
    `axe.run({ runOnly: ${JSON.stringify(only)}, resultTypes: ["violations"] })`,
  );
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
}

/** Whether the page, as a whole, scrolls sideways. */
export const scrollsSideways = (page: Page): Promise<boolean> =>
  page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth");

/** Opens a view by its address. */
export const openView = (page: Page, hash: string): Promise<void> =>
  page.evaluate(`void (location.hash = ${JSON.stringify(hash)})`);

export const useTheme = (page: Page, theme: "light" | "dark"): Promise<void> =>
  page.evaluate(`void (document.documentElement.dataset.theme = ${JSON.stringify(theme)})`);
