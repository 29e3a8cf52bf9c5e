/**
 * The published package: packed, installed into an empty directory and run from there, like a user without the
 * checkout. Nothing is downloaded: npm uses its cache, and takes the dependencies from the checkout.
 */
import { execFile, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestContext } from "vitest";
import { fromPackage } from "@flotilla/cli";
import { temporaryDirectory } from "../programs/flotilla-process.ts";
import { SHIPPED_BIN } from "../shipped.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** The package contains JavaScript for one program, the tables of the APIs that it serves, the web UI, and examples. */
const MAX_PACKED_BYTES = 4 * 1024 * 1024;
const MAX_UNPACKED_BYTES = 12 * 1024 * 1024;
const NPM = ["--offline", "--no-audit", "--no-fund", "--loglevel=error"];

const run = promisify(execFile);
const folder = temporaryDirectory();
const staged = join(folder.path, "staged");
const app = join(folder.path, "app");
// Our own Node comes first, in case npm cannot provide the package with one.
const environment = {
  ...process.env,
  PATH: `${join(app, "node_modules", ".bin")}${delimiter}${dirname(process.execPath)}${delimiter}${process.env["PATH"]}`,
  HOME: folder.path,
  npm_config_cache: process.env["npm_config_cache"] ?? join(process.env["HOME"] ?? "", ".npm"),
};

interface Packed {
  filename: string;
  size: number;
  unpackedSize: number;
  files: { path: string }[];
}
const isOurs = (path: string): boolean => path.startsWith("node_modules/@flotilla/");

/**
 * The dependencies that the checkout has installed, with theirs. npm's cache holds their archives, but not the lists of
 * versions that it would ask the registry for.
 */
function installedHere(): Record<string, string> {
  const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as {
    packages: Record<string, { dev?: boolean; optional?: boolean }>;
  };
  return Object.fromEntries(
    Object.entries(packages)
      .filter(([path, { dev, optional }]) => path.startsWith("node_modules/") && !isOurs(path) && !dev && !optional)
      .map(([path]) => [path.slice("node_modules/".length), `file:${realpathSync(join(ROOT, path))}`]),
  );
}

let packed: Packed | undefined;
let whyNot = "";

beforeAll(async () => {
  // Packed from a copy, so that a `dist` in use is not deleted.
  for (const entry of [
    "package.json",
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "bin",
    "docs",
    "examples",
    "monitoring",
  ])
    if (existsSync(join(ROOT, entry))) cpSync(join(ROOT, entry), join(staged, entry), { recursive: true });
  cpSync(join(SHIPPED_BIN, "..", "dist"), join(staged, "dist"), { recursive: true });
  const { stdout } = await run(
    "npm",
    ["pack", "--json", "--ignore-scripts", "--pack-destination", folder.path, ...NPM],
    { cwd: staged, env: environment },
  );
  const [made] = JSON.parse(stdout) as [Packed];
  mkdirSync(app);
  writeFileSync(join(app, "package.json"), JSON.stringify({ name: "app", private: true, overrides: installedHere() }));
  // A failing pack is our bug; a missing entry in npm's cache is not.
  try {
    await run("npm", ["install", join(folder.path, made.filename), ...NPM], { cwd: app, env: environment });
    packed = made;
  } catch (error) {
    whyNot = `npm cannot install here without a network: ${error instanceof Error ? error.message.split("\n").slice(0, 3).join(" ") : String(error)}`;
    process.stdout.write(`skipped: ${whyNot}\n`);
  }
}, 120_000);
afterAll(() => folder.remove());

test("the package contains only what runs, and is small", (context: TestContext) => {
  if (!packed) context.skip(whyNot);
  const { size, unpackedSize, files } = packed;
  process.stdout.write(
    `package: ${files.length} files, ${Math.round(size / 1024)} KiB packed, ${Math.round(unpackedSize / 1024)} KiB unpacked\n`,
  );
  const paths = files.map(({ path }) => path);

  expect(
    paths.filter((path) => /\.ts$|(^|\/)(test|tools|node_modules|testdata)\/|^(src|packages)\/|\.map$/.test(path)),
  ).toEqual([]);
  for (const needed of [
    "LICENSE",
    "README.md",
    "package.json",
    "bin/flotilla",
    "bin/node24",
    "bin/kubectl_complete-flotilla",
    "dist/server/main.js",
    "dist/apiserver/src/store/sqlite-worker.js",
    "dist/flotilla/src/interpreter/scripts/quarantine-worker.js",
    "dist/licenses/js-yaml.txt",
    "dist/licenses/ws.txt",
    "examples/shop/shop.yaml",
  ])
    expect(paths).toContain(needed);
  expect(size).toBeLessThan(MAX_PACKED_BYTES);
  expect(unpackedSize).toBeLessThan(MAX_UNPACKED_BYTES);
});

test("the package contains everything that its README links to", (context: TestContext) => {
  if (!packed) context.skip(whyNot);
  const links = Array.from(
    readFileSync(join(ROOT, "README.md"), "utf8").matchAll(/\]\((?!https?:|#)([^)#]+)/g),
    ([, link = ""]) => link,
  );

  expect(links.length).toBeGreaterThan(10);
  expect(packed.files.map(({ path }) => path)).toEqual(expect.arrayContaining(links));
});

test("the package contains every file that the source starts by name", (context: TestContext) => {
  if (!packed) context.skip(whyNot);
  const started = globSync("packages/*/src/**/*-worker.ts", { cwd: ROOT }).map((file) =>
    file.replace(/^packages\/(.*)\.ts$/, "dist/$1.js"),
  );

  expect(started.length).toBeGreaterThan(1);
  expect(packed.files.map(({ path }) => path)).toEqual(expect.arrayContaining(started));
});

test("the package contains the code of its dependencies, which starts faster", () => {
  const imported = globSync("dist/**/*.js", { cwd: staged }).flatMap((file) =>
    Array.from(
      readFileSync(join(staged, file), "utf8").matchAll(/^(?:import|export) .*?from "([^."][^"]*)";$/gm),
      ([, name = ""]) => name,
    ),
  );

  expect(imported).toContain("node:crypto");
  expect([...new Set(imported)].filter((name) => !isBuiltin(name))).toEqual([]);
});

test("the installed command prints its version", async (context: TestContext) => {
  if (!packed) context.skip(whyNot);

  const { stdout } = await run("npx", ["--offline", "flotilla", "version"], { cwd: app, env: environment });

  expect(stdout).toMatch(/^flotilla {4}\d+\.\d+\.\d+\nkubernetes {2}v1\.36\.\d+ \(API\)\nnode {8}2[4-9]\./);
});

test("the installed command starts a fleet that kubectl can read, and stops", async (context: TestContext) => {
  if (!packed) context.skip(whyNot);
  const kubectl = fromPackage();
  if (kubectl === undefined) context.skip("the packaged kubectl runs on Linux x64 only");
  const data = join(folder.path, "fleet");
  const child = spawn(
    "flotilla",
    ["up", "--members", "1", "--nodes", "1", "--start-ms", "0", "--port", "0", "--data", data],
    { cwd: app, env: environment, stdio: ["ignore", "pipe", "pipe"] },
  );
  const { output, ended } = follow(child);
  try {
    await output(/^ready /m);

    expect(
      (await run(kubectl, ["--kubeconfig", join(data, "hub.kubeconfig"), "get", "clusters", "-o", "name"])).stdout,
    ).toBe("cluster.cluster.karmada.io/member1\n");
    expect((await run("flotilla", ["status", "--data", data], { cwd: app, env: environment })).stdout).toContain(
      "member1",
    );
    expect(
      (await run("flotilla", ["__complete", "unjoin", "--data", data, ""], { cwd: app, env: environment })).stdout,
    ).toBe("member1\n:4\n");
  } finally {
    child.kill("SIGTERM");
  }
  expect(await ended).toBe(0);
}, 60_000);

/** The output of a process until it matches a pattern, and its exit code. */
function follow(child: ChildProcess): { output(pattern: RegExp): Promise<void>; ended: Promise<number | null> } {
  let text = "";
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  return {
    ended,
    output: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => void (pattern.test(text) && resolve());
        child.stdout?.on("data", look);
        void ended.then((code) => reject(new Error(`it ended with exit code ${code}: ${text}`)));
      }),
  };
}
