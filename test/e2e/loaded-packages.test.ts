/** What a command loads decides how long it takes to start: every package has an index that loads all of it. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { SHIPPED_MAIN } from "../shipped.ts";

const MAIN = fileURLToPath(new URL("../../packages/server/src/main.ts", import.meta.url));
/** Prints all loaded modules of packages, such as `apiserver/src/server.ts`, or files of the build, on the last line. */
const REPORT = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from "node:module";
  const seen = new Set();
  registerHooks({
    load(url, context, next) {
      const [, name] = /(?:packages|shipped\\/dist)\\/([a-z-]+\\/.*)/.exec(url) ?? [];
      if (name !== undefined) seen.add(name);
      return next(url, context);
    },
  });
  process.on("exit", () => process.stdout.write("\\n" + JSON.stringify([...seen].sort())));
`)}`;
const NODE = ["--disable-warning=ExperimentalWarning", "--import", REPORT];

const modulesIn = (output: string): string[] => JSON.parse(output.slice(output.lastIndexOf("\n"))) as string[];

function packagesLoadedBy(...args: string[]): unknown {
  const modules = modulesIn(execFileSync(process.execPath, [...NODE, MAIN, ...args], { encoding: "utf8" }));
  return [...new Set(modules.map((path) => path.slice(0, path.indexOf("/"))))];
}

test.each([
  { line: "version", want: ["apimachinery", "base", "cli", "server"] },
  { line: "help", want: ["apimachinery", "base", "cli", "server"] },
  { line: "up --help", want: ["apimachinery", "base", "cli", "server"] },
])("flotilla $line loads neither kinds nor controllers", ({ line, want }) => {
  expect(packagesLoadedBy(...line.split(" "))).toEqual(want);
});

/** Groups that one cluster has for itself, and whose objects few clusters have. */
const RARE = /^kubernetes\/src\/(?:dra|csi|service-cidr)\/|^apiserver\/src\/admission\/device-claims\.ts$/;

/** What a server loads until it is ready, and while it stops. */
async function loadedUntilReady(main: string, ...args: string[]): Promise<string[]> {
  const server = spawn(process.execPath, [...NODE, main, ...args, "--port", "0"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  server.stdout.setEncoding("utf8").on("data", (text: string) => {
    if (!output.includes("Ctrl-C stops") && `${output}${text}`.includes("Ctrl-C stops")) server.kill("SIGINT");
    output += text;
  });
  await once(server, "close");
  return modulesIn(output);
}

test("a fleet without viewers, devices, storage drivers and ranges of its own loads no code for them", async () => {
  const modules = await loadedUntilReady(MAIN, "up", "--ephemeral", "--members", "2");

  // What serves the page and signs viewers in.
  expect(modules.filter((path) => path.startsWith("server/src/console/"))).toEqual([
    "server/src/console/assets.ts",
    "server/src/console/console.ts",
    "server/src/console/credentials-error.ts",
    "server/src/console/hub-console.ts",
    "server/src/console/open-streams.ts",
    "server/src/console/page-headers.ts",
    "server/src/console/page-response.ts",
    "server/src/console/request-checks.ts",
    "server/src/console/serve-console.ts",
    "server/src/console/sessions.ts",
    "server/src/console/start-console.ts",
    "server/src/console/ui-certificate.ts",
    "server/src/console/viewer-pool.ts",
  ]);
  // Names and columns of the kinds.
  expect(modules.filter((path) => RARE.test(path))).toEqual([
    "kubernetes/src/csi/csi-definitions.ts",
    "kubernetes/src/csi/csi-driver.ts",
    "kubernetes/src/csi/csi-node.ts",
    "kubernetes/src/csi/csi-storage-capacity.ts",
    "kubernetes/src/csi/volume-attachment.ts",
    "kubernetes/src/csi/volume-attributes-class.ts",
    "kubernetes/src/dra/claim-devices.ts",
    "kubernetes/src/dra/device-class.ts",
    "kubernetes/src/dra/device-definitions.ts",
    "kubernetes/src/dra/resource-claim-template.ts",
    "kubernetes/src/dra/resource-claim.ts",
    "kubernetes/src/dra/resource-slice.ts",
    "kubernetes/src/service-cidr/ip-address.ts",
    "kubernetes/src/service-cidr/service-cidr.ts",
    "kubernetes/src/service-cidr/service-range-definitions.ts",
  ]);
});

/** The files of the package that are loaded with the one that defines the command, by what it imports statically. */
function shippedFilesOf(command: string): string[] {
  const chunks = join(dirname(SHIPPED_MAIN), "..", "chunks");
  const files = globSync("*.js", { cwd: chunks }).map((name) => join(chunks, name));
  const defining = files.filter((file) => readFileSync(file, "utf8").includes(`${command}Command = defineCommand(`));
  const loaded = new Set(defining);
  for (const file of loaded)
    for (const [, path = ""] of readFileSync(file, "utf8").matchAll(/^(?:im|ex)port .*"(\.[^"]+)";$/gm))
      loaded.add(join(dirname(file), path));
  return [...loaded];
}

test.each(["get", "status", "why"])("flotilla %s of the package loads no controllers", (command) => {
  const files = shippedFilesOf(command);
  const texts = files.map((file) => readFileSync(file, "utf8"));

  expect(files.length).toBeGreaterThan(10);
  expect(files.filter((_, index) => /\bdefine(Keyed)?Controller\(/.test(texts[index] ?? ""))).toEqual([]);
});

test("no file of the package imports node:http, whose module namespace loads fetch and WebSocket: 10 MB and 30 ms", () => {
  const chunks = join(dirname(SHIPPED_MAIN), "..", "chunks");
  const files = globSync("*.js", { cwd: chunks });

  expect(files.length).toBeGreaterThan(100);
  expect(files.filter((name) => /from "(node:)?http"/.test(readFileSync(join(chunks, name), "utf8")))).toEqual([]);
});

const servers: { line: string; not: string[] }[] = [
  {
    line: "apiserver --ephemeral",
    not: ["createHubControllers", "createMemberControllers", "createSimulation", "createReleasesController"],
  },
  { line: "up --ephemeral --members 1", not: ["createConsoleApi", "createViewer", "openTopic", "runAgent"] },
];

test.each(servers)("flotilla $line of the package loads no code that it does not run", async ({ line, not }) => {
  const loaded = await loadedUntilReady(SHIPPED_MAIN, ...line.split(" "));
  const texts = loaded.map((path) => readFileSync(join(dirname(SHIPPED_MAIN), "..", path), "utf8"));

  expect(loaded.length).toBeGreaterThan(100);
  expect(not.filter((name) => texts.some((text) => text.includes(`function ${name}(`)))).toEqual([]);
});
