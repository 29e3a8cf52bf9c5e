/**
 * `npm run build [-- FOLDER] [-- --if-changed]`: emits JavaScript to `dist/`, which is the content of the npm package. Node
 * runs TypeScript from a checkout but not from `node_modules`. Modules are bundled into few files, because finding,
 * reading and linking two thousand of them takes longer than running them; `npm run check` checks the types. In a
 * checkout `bin/flotilla` starts `dist`, too, until a source changes (`built-from.ts`).
 */
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { build } from "vite";
import { isCurrent } from "../packages/server/src/built-from.ts";
import { buildPage } from "../packages/web/src/build-page.ts";
import { createBuildInputs, replaceFolder } from "./build-output.ts";

const { values, positionals } = parseArgs({ allowPositionals: true, options: { "if-changed": { type: "boolean" } } });
const root = join(import.meta.dirname, "..");
const source = join(root, "packages");
const DIST = join(root, "dist");
const target = resolve(positionals[0] ?? DIST);
const RECORD = "built-from.json";
if (values["if-changed"] && isCurrent(join(target, RECORD), join(root, "/"))) process.exit();
// Beside the target, which it replaces when it is complete. What was built before stays in use until then.
const output = `${target}.${process.pid}`;
const discard = (): void => rmSync(output, { recursive: true, force: true });
discard();
process.once("exit", discard);

const { note, builtFrom } = createBuildInputs(root);
/**
 * What is read without passing through the bundler below: this program, versions of dependencies, settings of the bundler, fact
 * tables, and the page.
 */
const OTHER_INPUTS = [
  "tools/{build,build-output}.ts",
  "{package,package-lock,tsconfig}.json",
  "packages/*/{package,tsconfig}.json",
  "packages/apimachinery/src/kind/facts/*.json",
  "packages/web/{src,ui}/**/*.*",
];
for (const file of globSync(OTHER_INPUTS, { cwd: root })) note(join(root, file));

/** Worker threads, which are started by name. */
const workers = [
  "apiserver/src/store/sqlite-worker",
  "apiserver/src/store/sqlite-snapshot-worker",
  "flotilla/src/interpreter/scripts/quarantine-worker",
];
/** Bundled with our own modules, so that an installed package needs no other. */
const joined = ["js-yaml", "ws"];

await build({
  configFile: false,
  root,
  logLevel: "warn",
  // A module that reads files next to itself still finds them: every output file is one directory below `dist`.
  plugins: [
    {
      name: "own-place",
      load: (file) => note(file),
      transform: (code, file) =>
        code.replaceAll(
          "import.meta.url",
          `new URL("../${relative(source, file).replace(/\.ts$/, ".js")}", import.meta.url).href`,
        ),
    },
  ],
  // Never by the links in `node_modules`, which may lead to another checkout.
  resolve: { alias: [{ find: /^@flotilla\/([a-z-]+)$/, replacement: join(source, "$1/src/index.ts") }] },
  // Bundled like our own modules, which drops unused parts.
  ssr: { noExternal: joined },
  build: {
    ssr: true,
    outDir: output,
    emptyOutDir: false,
    target: "node24",
    minify: false,
    rolldownOptions: {
      // No module of ours is imported for what it does when it is loaded, so a command does not load what it does not use.
      treeshake: { moduleSideEffects: [{ test: /\/packages\//, sideEffects: false }] },
      input: {
        // One directory below `dist`, because it reads files next to itself.
        "server/main": join(source, "server/src/main.ts"),
        ...Object.fromEntries(workers.map((worker) => [worker, join(source, `${worker}.ts`)])),
      },
      output: {
        entryFileNames: "[name].js",
        chunkFileNames: "chunks/[name].js",
        comments: { legal: true, annotation: false, jsdoc: false },
      },
    },
  },
});
// The engine keeps the source in memory. Node stores a pure ASCII source with one byte per character, and any other
// with two.
for (const file of globSync("**/*.js", { cwd: output })) {
  const code = readFileSync(join(output, file), "utf8");
  writeFileSync(
    join(output, file),
    code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
  );
}
for (const file of globSync("*/*/**/*.js", { cwd: output })) {
  if (readFileSync(join(output, file), "utf8").includes("import.meta.url"))
    throw new Error(
      `dist/${file} reads files next to itself from a deeper directory than others; give it an entry one directory below dist`,
    );
}
for (const name of joined) cpSync(join(root, "node_modules", name, "LICENSE"), join(output, "licenses", `${name}.txt`));
// Fact tables are data, read when a kind is first used.
for (const file of globSync("apimachinery/src/kind/facts/*.json", { cwd: source }))
  cpSync(join(source, file), join(output, file));
await buildPage(join(output, "ui"));
// An installed package is not compared with sources.
if (target === DIST) writeFileSync(join(output, RECORD), JSON.stringify(builtFrom));
replaceFolder(target, output);
