/**
 * `npm run build`: emits JavaScript to `dist/`, which is what the npm package carries. Node runs TypeScript from a checkout but
 * not from `node_modules`. Modules are joined into few files, because finding, reading and linking five hundred of them takes
 * longer than running them; types are for `npm run check` to look at.
 */
import { cpSync, globSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "vite";

const root = join(import.meta.dirname, "..");
const source = join(root, "src");
const output = join(root, "dist");
rmSync(output, { recursive: true, force: true });

// A file that looks for others beside itself keeps its place, and so do those that are started by name.
const started = ["cmd/main.ts", "store/sqlite-worker.ts", "store/sqlite-snapshot-worker.ts"];
const placed = globSync("**/*.ts", { cwd: source, exclude: ["**/*.test.ts", "**/testdata/**", "testing/**"] }).filter((file) => readFileSync(join(source, file), "utf8").includes("import.meta."));

await build({
  configFile: false,
  root,
  logLevel: "warn",
  build: {
    ssr: true,
    outDir: output,
    target: "node24",
    minify: false,
    rolldownOptions: {
      input: Object.fromEntries([...new Set([...started, ...placed])].map((file) => [file.replace(/\.ts$/, ""), join(source, file)])),
      // Their code stays in their own file instead of a shared one that they only point to.
      preserveEntrySignatures: "allow-extension",
      output: { entryFileNames: "[name].js", chunkFileNames: "chunks/[name].js" },
    },
  },
});
// Fact tables are data, read when a kind is first used.
for (const file of globSync("api/facts/*.json", { cwd: source })) cpSync(join(source, file), join(output, file));
