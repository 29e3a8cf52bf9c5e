/** The web UI in a real browser, in front of one fleet that `flotilla up` starts. */
import { existsSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { flotilla, temporaryDirectory, up } from "../programs/flotilla-process.ts";
import type { Up } from "../programs/flotilla-process.ts";
import { takeScreenshot } from "./screenshots.ts";
import { accessibilityProblems, openBrowser, openView, scrollsSideways, useTheme } from "./browser.ts";

const WAIT = 40_000;
let folder: ReturnType<typeof temporaryDirectory>;
let fleet: Up;
let browser: Browser | undefined;
let context: BrowserContext;
let page: Page;
let skipped = "";
/** Addresses that the page asked, and what the browser complained about. */
const asked = new Set<string>();
const complaints: string[] = [];

beforeAll(async () => {
  const opened = await openBrowser();
  if (typeof opened === "string") {
    skipped = opened;
    process.stderr.write(`the web UI is not tested: ${skipped}\n`);
    return;
  }
  browser = opened;
  folder = temporaryDirectory();
  fleet = await up(
    folder.path,
    "--nodes",
    "2",
    "--start-ms",
    "0",
    "--ephemeral",
    "--cluster-failure-threshold",
    "1",
    "--cluster-success-threshold",
    "1",
  );
  context = await browser.newContext({ viewport: { width: 1280, height: 720 } });
  page = await context.newPage();
  page.setDefaultTimeout(WAIT);
  page.on("request", (request) => asked.add(new URL(request.url()).host));
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(fleet.ui);
  await page.getByRole("link", { name: "member1" }).waitFor();
  await kubectl("apply", "-f", "examples/shop/shop.yaml");
}, 60_000);

afterAll(async () => {
  await browser?.close();
  await fleet?.stop("SIGTERM");
  folder?.remove();
});

const browsing = (name: string, run: () => Promise<void>): void =>
  test(name, { timeout: 120_000 }, async ({ skip }) => {
    if (skipped !== "") skip(skipped);
    await expect(run()).resolves.toBeUndefined();
  });

async function kubectl(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await flotilla("kubectl", "--kubeconfig", fleet.kubeconfig("hub"), ...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
}
const open = (hash: string): Promise<void> => openView(page, hash);
const origin = (): string => new URL(fleet.ui).origin;
const WEB = "#/w/apps.kruise.io~v1alpha1/CloneSet/shop/web";

browsing("the link of flotilla up signs in once and leaves no code in the address", async () => {
  expect(page.url()).toBe(`${origin()}/ui/#/fleet`);
  expect(await page.getByRole("grid", { name: "Members" }).getAttribute("aria-rowcount")).toBe("4");

  const other = await browser?.newPage();
  await other?.goto(fleet.ui);
  await other?.getByRole("alert").waitFor();

  expect(await other?.getByRole("alert").textContent()).toContain("used already");
  await other?.close();
});

browsing("the cookie is for /ui only, out of reach of scripts, and no credential is in the page", async () => {
  const [cookie] = await context.cookies();
  const stored = await page.evaluate<string>(
    "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])",
  );

  expect(cookie).toMatchObject({ httpOnly: true, secure: true, sameSite: "Strict", path: "/ui" });
  expect(stored).not.toMatch(/eyJ|BEGIN|code=/);
});

browsing("requests of other origins, of other host names and without the token are refused", async () => {
  const [cookie] = await context.cookies();
  const headers = { cookie: `${cookie?.name ?? ""}=${cookie?.value ?? ""}` };
  const status = async (path: string, init: RequestInit & { headers: Record<string, string> }): Promise<number> =>
    (await fetch(`${origin()}/ui/${path}`, init)).status;
  const own = { ...headers, origin: origin() };

  expect({
    evilOrigin: await status("session", { headers: { ...headers, origin: "http://evil.test" } }),
    noProof: await status("session", { headers }),
    own: await status("session", { headers: own }),
    noToken: await status("api/plan", { method: "POST", headers: own, body: "{}" }),
    wrongToken: await status("api/plan", { method: "POST", headers: { ...own, "x-flotilla-csrf": "x" }, body: "{}" }),
    proxyPath: (await fetch(`${fleet.ui.split("/ui")[0] ?? ""}/api/v1/namespaces`, { headers: own })).status,
  }).toEqual({ evilOrigin: 401, noProof: 401, own: 200, noToken: 403, wrongToken: 403, proxyPath: 404 });
});

browsing("the page allows no foreign scripts, and data never runs as a page", async () => {
  const html = await fetch(`${origin()}/ui/`);
  const asset = /assets\/[\w.-]+\.js/.exec(await html.text())?.[0] ?? "";

  expect(html.headers.get("content-security-policy")).toMatch(
    /^default-src 'none'; script-src 'self'; style-src 'self' 'nonce-[\w+/=]+'; .*frame-ancestors 'none'; require-trusted-types-for 'script'$/,
  );
  expect((await fetch(`${origin()}/ui/${asset}`)).headers.get("cache-control")).toContain("immutable");
  expect((await fetch(`${origin()}/ui/../../package.json`)).status).toBe(404);
});

browsing("a workload appears by itself, with a cell for each member", async () => {
  await open("#/workloads");
  await page.getByRole("row", { name: /shop\/web.*healthy.*10\/10/ }).waitFor();

  await open("#/matrix");
  await page.getByRole("application").focus();
  await page.keyboard.press("ArrowDown");

  expect(await page.locator("#matrix-cell").textContent()).toMatch(/shop\/web CloneSet · member1: healthy, 5\/5 ready/);
});

browsing("the slider sets a draft, shows what it would do, and only Apply writes", async () => {
  await open(`${WEB}/release`);
  const slider = page.getByRole("slider");
  await slider.focus();
  for (let step = 0; step < 4; step++) await page.keyboard.press("ArrowLeft");
  await page.getByText(/changes on members/).waitFor();
  const before = await kubectl(
    "get",
    "cloneset",
    "web",
    "-n",
    "shop",
    "-o",
    "jsonpath={.spec.updateStrategy.rollingUpdate.partition}",
  );

  await page.getByRole("button", { name: /^Apply: 4 stay behind/ }).click();
  await page.getByText("The partition is 4 now").waitFor();

  expect(before).not.toBe("4");
  expect(
    await kubectl(
      "get",
      "cloneset",
      "web",
      "-n",
      "shop",
      "-o",
      "jsonpath={.spec.updateStrategy.rollingUpdate.partition}",
    ),
  ).toBe("4");
});

browsing("the views of the documents have their pictures", async () => {
  await takeScreenshot(page, "fleet", "#/fleet", ".fleet-map canvas");
  await takeScreenshot(page, "matrix", "#/matrix", ".matrix-scroll canvas");
  await takeScreenshot(page, "release", `${WEB}/release`, ".lane");
  const images = ["fleet", "matrix", "release"].map(
    (name) => new URL(`../../docs/images/ui-${name}.png`, import.meta.url),
  );

  expect(images.filter((image) => !existsSync(image))).toEqual([]);
});

browsing("a workload that cannot be scheduled is a problem, with the command that explains it", async () => {
  await kubectl("apply", "-f", new URL("testdata/nowhere.yaml", import.meta.url).pathname);
  await open("#/problems");

  const finding = page.getByRole("article").filter({ hasText: "lonely" }).first();
  await finding.waitFor();

  expect(await finding.textContent()).toContain("flotilla");
});

browsing("every view is accessible in light and dark, and does not scroll sideways on a phone", async () => {
  const views = [
    "#/fleet",
    "#/workloads",
    "#/matrix",
    "#/problems",
    "#/apply",
    "#/ocm",
    "#/history",
    "#/member/member1",
    "#/member/member1/nodes",
    "#/member/member1/what-if",
    WEB,
    `${WEB}/members`,
    `${WEB}/release`,
    `${WEB}/why`,
    `${WEB}/logs`,
    `${WEB}/yaml`,
    `${WEB}/history`,
  ];
  const found: Record<string, string[]> = {};
  for (const view of views) {
    await open(view);
    await page.locator("main .view, main .blank").first().waitFor();
    await page.waitForLoadState("networkidle");
    for (const theme of ["light", "dark"] as const) {
      await useTheme(page, theme);
      // Only colours differ between the themes.
      const problems = await accessibilityProblems(page, theme === "light" ? undefined : ["color-contrast"]);
      if (problems.length > 0) found[`${view} ${theme}`] = problems;
    }
    await page.setViewportSize({ width: 390, height: 844 });
    if (await scrollsSideways(page)) found[`${view} phone`] = ["scrolls sideways"];
    await page.setViewportSize({ width: 1280, height: 720 });
  }
  await useTheme(page, "light");

  expect(found).toEqual({});
});

browsing("the palette finds a workload by keyboard alone, and the focus returns", async () => {
  await open("#/fleet");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("shop/web");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "shop/web" }).waitFor();

  expect(await page.getByRole("dialog").count()).toBe(0);
});

browsing("a member that is cut off is shown as away, and comes back", async () => {
  await open("#/member/member3");
  await page.getByRole("button", { name: "Cut off" }).click();
  await page.locator(".object-state").getByText("away").waitFor();
  await page.getByRole("button", { name: "Connect again" }).click();
  await page.locator(".object-state").getByText("ready", { exact: true }).waitFor();
});

browsing("names, annotations and messages of other users never run, and nothing leaves the origin", async () => {
  await kubectl("apply", "-f", new URL("testdata/hostile.yaml", import.meta.url).pathname);
  await open("#/w/v1/ConfigMap/shop/hostile/yaml");
  await page.getByText("onerror").first().waitFor();
  await open("#/w/v1/ConfigMap/shop/<img src=x onerror=alert(1)>/tree");
  await page.getByText("The hub has no such object").waitFor();

  expect([...asked]).toEqual([new URL(fleet.ui).host]);
  expect(complaints.filter((text) => !/status of 40[134]/.test(text))).toEqual([]);
});

browsing("signing out ends the session and its stream", async () => {
  await open("#/fleet");
  await page.getByLabel(/^Signed in as/).click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("flotilla ui --open").waitFor();

  expect(await page.evaluate<number>("fetch('session').then(({ status }) => status)")).toBe(401);
});
