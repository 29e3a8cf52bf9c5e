/**
 * `npm run facts`: reads the published Go modules and writes the fact tables and types of `packages/apimachinery/src/kind/facts/`.
 *
 * Needs Go, and only here: the results are committed. Running it again gives the same files.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readDefinition } from "./definitions.ts";
import { readGoPackage, type GoPackage } from "./go-types.ts";
import { DEFINITIONS, MODULES, SOURCES } from "./sources.ts";
import { buildTables } from "./tables.ts";
import { renderTypes } from "./typescript.ts";

const target = new URL("../../packages/apimachinery/src/kind/facts/", import.meta.url);

function download(module: string): string {
  const version = MODULES[module];
  try {
    const answer: { Dir?: string; Error?: string } = JSON.parse(
      execFileSync("go", ["mod", "download", "-json", `${module}@${version}`], {
        encoding: "utf8",
        cwd: tmpdir(),
        env: { ...process.env, GO111MODULE: "on", GOFLAGS: "-mod=mod" },
      }),
    );
    if (!answer.Dir) throw new Error(answer.Error ?? "no directory");
    return answer.Dir;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") {
      throw new Error(
        "`go` was not found. It is needed to re-generate the fact tables and for nothing else; install Go 1.21 or newer, or use the committed tables.",
        { cause: error },
      );
    }
    throw new Error(`downloading ${module}@${version}`, { cause: error });
  }
}

const directories = new Map(Object.keys(MODULES).map((module) => [module, download(module)]));

const read = new Map<string, GoPackage>();
function packageAt(path: string): GoPackage {
  const known = read.get(path);
  if (known) return known;
  const module = Object.keys(MODULES).find((name) => path === name || path.startsWith(`${name}/`));
  if (!module) throw new Error(`no module has the package ${path}`);
  const directory = join(directories.get(module) ?? "", path.slice(module.length));
  const files = readdirSync(directory).filter(
    (name) => name.endsWith(".go") && !name.endsWith("_test.go") && !/generated/.test(name),
  );
  const result = readGoPackage(files.sort().map((name) => readFileSync(join(directory, name), "utf8")));
  read.set(path, result);
  return result;
}

function write(name: string, text: string): void {
  writeFileSync(new URL(name, target), text);
  process.stdout.write(`${name}  ${text.length} characters\n`);
}

/** One line per type: small, and a difference shows where it is. */
function renderTable(table: object): string {
  return `{\n${Object.entries(table)
    .map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`)
    .join(",\n")}\n}\n`;
}

for (const [file, table] of buildTables({ of: packageAt }, Object.keys(SOURCES))) {
  const source = SOURCES[file];
  if (!source) continue;
  write(`${file}.ts`, renderTypes(`${source.module}@${MODULES[source.module]}`, source.roots, table));
  if (source.table) write(`${file}.json`, renderTable(table));
}
for (const [name, { module, path }] of Object.entries(DEFINITIONS)) {
  write(`${name}.json`, renderTable(readDefinition(readFileSync(join(directories.get(module) ?? "", path), "utf8"))));
}
