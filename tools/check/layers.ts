/**
 * Compares every import of the packages with `tools/layers.ts` and with their package.json, and looks for cycles between
 * packages and folders.
 */
import { posix } from "node:path";
import { packages, stages, subjects, testImports } from "../layers.ts";
import type { SourceFile } from "./sources.ts";

/** Also what tests replace or load with `vi`, and what is found or loaded by name. */
const CALLS = "import\\.meta\\.resolve|require(?:\\.resolve)?|vi\\.(?:importActual|importMock|mock|doMock)";
const IMPORT = new RegExp(
  `(?:from|import|(?:${CALLS})(?:<[^>]*>)?)\\s*(\\(?)\\s*["']((?:\\.{1,2}/|@flotilla/)[^"']+)["']`,
  "g",
);
const STAGES = "packages/flotilla/src/propagation/";

/** An import between two places, and the file that has it. */
interface Edge {
  from: string;
  to: string;
  file: string;
}

export function checkLayers(sources: readonly SourceFile[]): string[] {
  const files = sources.filter(({ path }) => isProduct(path));
  const imports = files.flatMap(importsOf);
  return [
    ...imports.flatMap(checkImport),
    ...checkDeclared(sources),
    ...checkTests(sources),
    ...cyclesOf(imports.flatMap(betweenPackages)).map((cycle) => `cycle between packages: ${cycle.join(" -> ")}`),
    ...folderCycles(imports).map(
      ({ cycle, example }) => `cycle between folders: ${cycle.join(" -> ")} (for example ${example})`,
    ),
    ...fileCycles(imports).map((cycle) => `cycle between files: ${cycle.join(" -> ")}`),
  ];
}

/** The packages in order, each with what it imports; for people. */
export function renderGraph(sources: readonly SourceFile[]): string[] {
  const edges = sources
    .filter(({ path }) => isProduct(path) || /^packages\/testing\/src\/.*\.ts$/.test(path))
    .flatMap(importsOf)
    .flatMap(betweenPackages);
  return Object.keys(packages).map((name) => {
    const used = new Set(edges.filter(({ from }) => from === name).map(({ to }) => to));
    return `${name.padEnd(20)} ${[...used].sort().join(" ") || "-"}`;
  });
}

const isTest = (path: string): boolean =>
  /\.test\.ts$|\/testdata\/|\/test-[a-z-]+\.ts$|^packages\/testing\//.test(path);
const isProduct = (path: string): boolean => /^packages\/[^/]+\/(?:src|ui)\/.*\.tsx?$/.test(path) && !isTest(path);
const packageOf = (path: string): string => path.split("/")[1] ?? "";

interface Import {
  file: string;
  /** A path in the repository, or `@flotilla/<package>`. */
  target: string;
  /** `import("…")`: loaded when it is needed. */
  isLazy: boolean;
}

function importsOf({ path, text }: SourceFile): Import[] {
  return Array.from(text.matchAll(IMPORT), ([, lazy, specifier = ""]) => ({
    file: path,
    isLazy: lazy === "(",
    target: specifier.startsWith("@") ? specifier : posix.join(posix.dirname(path), specifier),
  }));
}

/** Imports, also those of tests, of packages that the package.json of the importing one does not name. */
function checkDeclared(sources: readonly SourceFile[]): string[] {
  const declared = new Map(
    sources
      .filter(({ path }) => /^packages\/[^/]+\/package\.json$/.test(path))
      .map(({ path, text }) => [packageOf(path), namesIn(text)]),
  );
  return sources
    .filter(({ path }) => /^packages\/[^/]+\/(?:src|ui)\/.*\.tsx?$/.test(path))
    .flatMap(importsOf)
    .flatMap(({ file, target }) => {
      const [from, to] = [packageOf(file), packageOf(target)];
      if (!/^(?:@flotilla|packages)\//.test(target) || from === to) return [];
      return declared.get(from)?.has(to) === false
        ? [`${file}: imports @flotilla/${to}, which packages/${from}/package.json does not declare`]
        : [];
    });
}

/**
 * Imports of tests that point upwards: of a package that theirs may not import. `testing` has what tests need of the
 * packages above. Builders of tests and internals of packages below may be imported by their path.
 */
function checkTests(sources: readonly SourceFile[]): string[] {
  return sources
    .filter(({ path }) => /^packages\/(?!testing\/)[^/]+\/(?:src|ui)\/.*\.tsx?$/.test(path) && isTest(path))
    .flatMap(importsOf)
    .flatMap(({ file, target }) => {
      const [from, to] = [packageOf(file), packageOf(target)];
      const allowed = [...(packages[from] ?? []), ...Object.keys(testImports[from] ?? {}), from, "testing"];
      return allowed.includes("*") || allowed.includes(to)
        ? []
        : [
            `${file}: a test of ${from} imports ${to}, which builds on it or beside it; see testImports in tools/layers.ts`,
          ];
    });
}

/** The packages of this repository that a package.json names. */
function namesIn(text: string): ReadonlySet<string> {
  const { dependencies, devDependencies } = JSON.parse(text) as Partial<Record<string, object>>;
  return new Set(
    Object.keys({ ...dependencies, ...devDependencies })
      .filter((name) => name.startsWith("@flotilla/"))
      .map(packageOf),
  );
}

function checkImport({ file, target }: Import): string[] {
  const from = packageOf(file);
  if (isTest(target)) return [`${file}: imports ${target}, which is for tests`];
  if (!target.startsWith("@")) {
    if (!target.startsWith(`packages/${from}/`)) return [`${file}: imports ${target}; import other packages by name`];
    return file.startsWith(STAGES) && target.startsWith(STAGES) ? checkStage(file, target) : [];
  }
  const [, to = "", ...rest] = target.split("/");
  const allowed = packages[from];
  if (!allowed) return [`${file}: the package ${from} is missing from tools/layers.ts`];
  if (to === "testing") return [`${file}: imports ${target}, which is for tests`];
  if (to === from) return [`${file}: imports its own package by name; import the file`];
  if (rest.length > 0 && rest[0] !== "facts")
    return [`${file}: imports ${target}; other packages are imported through their index.ts`];
  if (!allowed.includes("*") && !allowed.includes(to))
    return [`${file}: ${from} may not import ${to} (tools/layers.ts)`];
  return [];
}

/** Stages meet in the API objects: one may import another's pure functions only where the table says so. */
function checkStage(file: string, target: string): string[] {
  const [from = "", to = ""] = [file, target].map((path) => path.slice(STAGES.length).split("/")[0]);
  if (from === to || to.endsWith(".ts") || from.endsWith(".ts") || to in subjects) return [];
  const allowed = stages[from] ?? subjects[from];
  if (!allowed) return [`${file}: the folder ${from} of propagation is missing from tools/layers.ts`];
  return allowed.includes(to)
    ? []
    : [`${file}: the ${from in stages ? "stage" : "subject"} ${from} may not import the stage ${to} (${target})`];
}

function betweenPackages({ file, target }: Import): Edge[] {
  const [name = "", to = ""] = target.split("/");
  return name === "@flotilla" ? [{ from: packageOf(file), to, file }] : [];
}

/**
 * The two places below the folder that both files share: `write/` and `store/` of `apiserver/src/write/admit.ts` and
 * `apiserver/src/store/cache.ts`. A place is a folder, or a file beside the folders.
 */
function siblings(file: string, target: string): Edge {
  const parts = (path: string): string[] =>
    path
      .replace(/^packages\/(?:([^/]+)\/src\/)?/, "$1/")
      .split("/")
      .filter(Boolean);
  const [from, to] = [parts(file), parts(target)];
  let depth = 0;
  while (depth < from.length - 1 && depth < to.length - 1 && from[depth] === to[depth]) depth++;
  const place = (path: readonly string[]): string =>
    `${path.slice(0, depth + 1).join("/")}${depth < path.length - 1 ? "/" : ""}`;
  return { from: place(from), to: place(to), file: `${file} -> ${target}` };
}

/** Cycles through at least one folder, at every depth. A registry may load lazily what imports it. */
function folderCycles(imports: readonly Import[]): { cycle: string[]; example: string }[] {
  const edges = imports
    .filter(({ target, isLazy }) => !target.startsWith("@") && !isLazy)
    .map(({ file, target }) => siblings(file, target))
    .filter(({ from, to }) => from !== to);
  return cyclesOf(edges)
    .filter((cycle) => cycle.some((place) => place.endsWith("/")))
    .map((cycle) => ({
      cycle,
      example: edges.find(({ from, to }) => from === cycle[0] && to === cycle[1])?.file ?? "",
    }));
}

/** Two files that are one recursion: neither can be read without the other. */
const ONE_RECURSION: readonly (readonly string[])[] = [
  // A value of Lua may be a table, and a table has values; iterators call functions of the machine that runs them.
  ["packages/lua/src/lua-table.ts", "packages/lua/src/values.ts"],
  ["packages/lua/src/iterate.ts", "packages/lua/src/machine.ts"],
  // An expression contains comprehensions and calls, which contain expressions.
  ["packages/cel/src/compile/comprehensions.ts", "packages/cel/src/compile/compiler.ts"],
  ["packages/cel/src/cost/call-estimates.ts", "packages/cel/src/cost/static-cost.ts"],
];

/** Cycles between files of one folder, also of types alone; those through folders are cycles between folders. */
function fileCycles(imports: readonly Import[]): string[][] {
  const edges = imports
    .filter(({ file, target, isLazy }) => posix.dirname(file) === posix.dirname(target) && !isLazy)
    .map(({ file, target }) => ({ from: file, to: target, file }));
  return cyclesOf(edges).filter((cycle) => !ONE_RECURSION.some((files) => cycle.every((file) => files.includes(file))));
}

/** Pairs of places that reach each other, the shortest way first; each pair once. */
function cyclesOf(edges: readonly Edge[]): string[][] {
  const next = new Map<string, Set<string>>();
  for (const { from, to } of edges) next.set(from, (next.get(from) ?? new Set()).add(to));
  const cycles = new Map<string, string[]>();
  for (const start of next.keys()) {
    const path = shortestCycle(start, next);
    if (path) cycles.set([...new Set(path)].sort().join(), path);
  }
  return [...cycles.values()];
}

function shortestCycle(start: string, next: ReadonlyMap<string, ReadonlySet<string>>): string[] | undefined {
  const queue: string[][] = [[start]];
  const seen = new Set<string>();
  for (const path of queue) {
    for (const to of next.get(path.at(-1) ?? "") ?? []) {
      if (to === start) return [...path, to];
      if (!seen.has(to)) {
        seen.add(to);
        queue.push([...path, to]);
      }
    }
  }
  return undefined;
}
