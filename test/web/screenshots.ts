/** Screenshots for the documents, made while the tests run: `npm run ui:screenshots`. */
import { join } from "node:path";
import type { Page } from "playwright-core";
import { openView } from "./browser.ts";

const IMAGES = join(import.meta.dirname, "../../docs/images");

/** Small enough for a repository. */
export async function takeScreenshot(page: Page, name: string, hash: string, ready: string): Promise<void> {
  if (process.env["FLOTILLA_SCREENSHOTS"] === undefined) return;
  await page.setViewportSize({ width: 1100, height: 620 });
  await openView(page, hash);
  await page.locator(ready).first().waitFor();
  await page.screenshot({ path: join(IMAGES, `ui-${name}.png`) });
  await page.setViewportSize({ width: 1280, height: 720 });
}
